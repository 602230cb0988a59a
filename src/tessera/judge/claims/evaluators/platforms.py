"""Simulated platforms against the machines that they are named after (MICRO'20 Table 4)."""

from __future__ import annotations

from tessera import platforms
from tessera.judge.claims.outcome import Outcome

#: (structure, page size) of Table 4 -> number of entries of a platform file
_ENTRIES = {
    ("l1_tlb", "4KB"): lambda p: p["tlb.l1d.4kb.entries"],
    ("l1_tlb", "2MB"): lambda p: p["tlb.l1d.2mb.entries"],
    ("l1_tlb", "1GB"): lambda p: p["tlb.l1d.1gb.entries"],
    ("l2_tlb", "4KB"): lambda p: p["tlb.stlb.entries"],
    ("l2_tlb", "2MB"): lambda p: (
        p["tlb.stlb.entries"] if p["tlb.stlb.holds_2mb"] else p["tlb.stlb_2mb.entries"]
    ),
    ("l2_tlb", "1GB"): lambda p: (
        p["tlb.stlb.entries"] if p["tlb.stlb.holds_1gb"] else p["tlb.stlb_1gb.entries"]
    ),
    ("page_walkers", ""): lambda p: p["walker.count"],
}


def platform_mismatches(claim, evidence, table: str) -> Outcome:
    """Entries of a published table of TLBs that the platform file of the same generation doesn't have."""
    wrong = 0
    for generation, rows in evidence.rows(table).groupby("generation"):
        values = {name: leaf.value for name, leaf in platforms.load(f"{generation}-sim").values.items()}
        for row in rows.fillna({"page_size": ""}).itertuples():
            wrong += float(_ENTRIES[row.structure, row.page_size](values)) != float(row.value)
    return Outcome(wrong, "published")


EVALUATORS = {"platform_mismatches": platform_mismatches}
