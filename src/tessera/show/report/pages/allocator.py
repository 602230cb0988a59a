"""The allocator: pages that real runs asked for and got; the overhead of intercepting calls."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.cells import HOST_MANIFEST
from tessera.results.schema.machine import ALLOCATOR, RUNS
from tessera.results.status import is_ok, ok_rows
from tessera.show.report.pages import claims
from tessera.show.report.placing import others

HREF = "allocator.html"
OVERHEAD = "tessera mosalloc overhead"
QUANTITIES = {"memory_bytes": "memory, peak", "cpu_ns": "processor time"}


def page(facts) -> dict:
    return {
        "title": "Allocator",
        "runs": _runs(facts),
        "overhead": overhead(facts.results.read(ALLOCATOR, expected=False)),
        "overhead_command": f"./run {OVERHEAD} --out {facts.where}/host/allocator.csv",
        "published": _published(facts),
        "figures": others(facts, HREF),
    }


def _runs(facts) -> list[dict]:
    """Per layout of a real run: huge pages asked for, and whether the kernel gave them."""
    manifest = facts.results.read(HOST_MANIFEST, expected=False)
    good = ok_rows(facts.results.read(RUNS, expected=False))["layout"].value_counts()
    real = facts.results.cells[facts.results.cells["engine"] == "host"]
    cells = real.drop_duplicates("layout").set_index("layout")
    rows = []
    for row in manifest.to_dict("records"):
        name, asked = row["layout"], (row["pages_2mb"], row["pages_1gb"])
        status = cells["status"].get(name, "not run")
        rows.append(
            {
                "layout": name,
                "workload": cells["workload"].get(name, ""),
                "asked_2mb": asked[0],
                "asked_1gb": asked[1],
                "runs": int(good.get(name, 0)),
                "status": status,
                "got": "all pages, in every run" if is_ok(status) else "",
                "message": "" if is_ok(status) else cells["message"].get(name, ""),
            }
        )
    return rows


def overhead(table: pd.DataFrame) -> list[dict]:
    """Per workload the medians with mosalloc over those with glibc, for memory and processor time."""
    numbers = list(QUANTITIES)
    rows = []
    for workload, part in table.groupby("workload", sort=False):
        medians = part.groupby("allocator")[numbers].median()
        if not {"glibc", "mosalloc"} <= set(medians.index):
            continue
        for name in numbers:
            glibc, ours = medians.loc["glibc", name], medians.loc["mosalloc", name]
            scale, unit = (2**20, "MB") if name.endswith("_bytes") else (1e9, "s")
            rows.append(
                {
                    "workload": workload,
                    "quantity": QUANTITIES[name],
                    "glibc": f"{glibc / scale:.4g} {unit}",
                    "mosalloc": f"{ours / scale:.4g} {unit}",
                    "change": ours / glibc - 1 if glibc else None,
                    "runs": int((part["allocator"] == "mosalloc").sum()),
                }
            )
    return rows


def _published(facts) -> list[dict]:
    """Claims about the allocator, as the page of claims shows them."""
    return [row for row in claims.rows(facts) if "allocator" in row["statement"].lower()]
