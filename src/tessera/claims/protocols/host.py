"""Real runs on this machine: variation of repeats (``host/cells.csv``), cost of the allocator.

``host/allocator.csv`` has ``workload,allocator,memory_bytes,runtime_ns`` with allocators ``glibc``
and ``mosalloc``; no rule of the main job writes it.
"""

from __future__ import annotations

from tessera.claims.outcome import Missing, Outcome
from tessera.claims.selection import aggregate

RESERVE = "./run --reserve reproduce"
COMPARE = "run each program with and without mosalloc-run and write host/allocator.csv"
COLUMNS = {"memory": "memory_bytes", "runtime": "runtime_ns"}
THIS_MACHINE = "host"


def host_variation(claim, evidence) -> Outcome:
    """Largest standard deviation over mean of the runtimes of a layout's repeats, percent."""
    rows = evidence.csv("host/cells.csv", RESERVE)
    rows = rows[(rows["status"] == "ok") & (rows["runtime_provenance"] == "measured")]
    groups = rows.dropna(subset=["runtime_ns"]).groupby(["workload", "layout"])["runtime_ns"]
    varied = [100 * float(g.std() / g.mean()) for _, g in groups if len(g) > 1]
    if not varied:
        raise Missing("no layout has two good real runs", RESERVE)
    return Outcome(max(varied), "measured", THIS_MACHINE)


def allocator_overhead(claim, evidence, quantity: str, how: str) -> Outcome:
    """What the allocator costs against glibc, percent."""
    column = COLUMNS[quantity]
    rows = evidence.csv("host/allocator.csv", COMPARE)
    table = rows.pivot_table(index="workload", columns="allocator", values=column)
    if not {"glibc", "mosalloc"} <= set(table.columns):
        raise Missing("host/allocator.csv lacks one of glibc, mosalloc", COMPARE)
    overhead = 100 * (table["mosalloc"] / table["glibc"] - 1).dropna()
    return Outcome(aggregate(overhead, how), "measured", THIS_MACHINE)


PROTOCOLS = {"host_variation": host_variation, "allocator_overhead": allocator_overhead}
