"""Real machines: events that they count, platforms named after them, real runs, and what is absent."""

from __future__ import annotations

from tessera.core import platforms
from tessera.core.results.cell_tables import HOST_CELLS
from tessera.core.results.loader import Pair
from tessera.core.results.outcomes import ok_rows
from tessera.machine.counters.event_table import CounterClass, counter_classes
from tessera.report.claims import selection
from tessera.report.claims.claim import Missing, Outcome, class_matches
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator

# Whether processors of AMD count walk cycles: by the published lists of events, and by measured machines.
#
# Lists and machines give different verdicts. A list is a printed text, so it decides proof-reading only. A
# finding needs a machine whose counters opened the events of its class: a bundle has their counts.

LISTS = "published"  #: provenance of the table of events: lists of the vendor and of Linux
MEASURE = "./run measure --out bundle; ./run reproduce --bundle bundle"


def amd_classes() -> list[CounterClass]:
    """The classes of AMD's processors in the table of events, at least one."""
    found = [one for one in counter_classes().values() if not one.intel]
    if not found:
        raise Missing("the table of events has no class of AMD's processors", "tessera measure counters show")
    return found


@evaluator
def listed_walk_events(claim, evidence: Evidence) -> Outcome:
    """The most events of walk cycles that a class of AMD has in the published lists."""
    return Outcome(max(len(one.sides("C")) for one in amd_classes()), LISTS)


@evaluator
def counted_walk_events(claim, evidence: Evidence) -> Outcome:
    """The most events of walk cycles with which a measured machine of AMD counted.

    A machine counts only if it has M in each good cell: then the events of its class opened. A class without
    an event of C must have cells without C; a value there was counted by an event that the table lacks.
    """
    of_amd = {one.name: len(one.sides("C")) for one in amd_classes()}
    measured = [pair for pair, kind in _provenances(evidence).items() if kind == "measured"]
    mine = [
        pair
        for pair in measured
        if pair.generation in of_amd and class_matches(claim.hardware_class, pair.generation)
    ]
    if not mine:
        names = ", ".join(f"{name} {number}" for name, number in of_amd.items())
        raise Missing(f"needs a machine of AMD; events of walk cycles in published lists: {names}", MEASURE)
    value = max(_events(pair, evidence, of_amd[pair.generation]) for pair in mine)
    return Outcome(value, "measured", mine[0].generation)


def _provenances(evidence: Evidence) -> dict[Pair, str]:
    """None where no cell is good: a run without cells asks for a machine, too."""
    try:
        return evidence.provenances
    except Missing:
        return {}


def _events(pair: Pair, evidence: Evidence, listed: int) -> int:
    cells = evidence.samples(pair)
    if cells["stlb_misses"].isna().any():
        raise Missing(f"{pair}: a cell has no M, so nothing shows that its counters opened", MEASURE)
    return max(listed, int(cells["walk_cycles"].notna().any()))


# Simulated platforms against the machines that they are named after (MICRO'20 Table 4).

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


@evaluator
def platform_mismatches(claim, evidence, table: str) -> Outcome:
    """Entries of a published table of TLBs that the platform file of the same generation doesn't have."""
    wrong = 0
    for generation, rows in evidence.rows(table).groupby("generation"):
        values = {
            name: leaf.value for name, leaf in platforms.load_platform(f"{generation}-sim").values.items()
        }
        for row in rows.fillna({"page_size": ""}).itertuples():
            wrong += float(_ENTRIES[row.structure, row.page_size](values)) != float(row.value)
    return Outcome(wrong, "published")


# Real runs on this machine: variation of repeats (``host/cells.csv``).

RESERVE = "./run --reserve reproduce"
THIS_MACHINE = "host"


@evaluator
def host_variation(claim, evidence) -> Outcome:
    """Largest standard deviation over mean of the runtimes of a layout's repeats, percent."""
    rows = ok_rows(evidence.table(HOST_CELLS, RESERVE))
    rows = rows[rows["runtime_provenance"] == "measured"]
    groups = rows.dropna(subset=["runtime_ns"]).groupby(["workload", "layout"])["runtime_ns"]
    varied = [100 * float(g.std() / g.mean()) for _, g in groups if len(g) > 1]
    if not varied:
        raise Missing("no layout has two good real runs", RESERVE)
    spread = selection.describe_distribution(varied, "max", "layouts")
    return Outcome(max(varied), "measured", THIS_MACHINE, distribution=spread)


# Claims whose machine, program or tool is not here: the reason and the command, nothing else.


@evaluator
def unavailable(claim, evidence, missing: str, command: str) -> Outcome:
    """Never a value."""
    raise Missing(f"needs {missing}", command)
