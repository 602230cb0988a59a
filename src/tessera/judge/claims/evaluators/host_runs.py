"""Real runs on this machine: variation of repeats (``host/cells.csv``), cost of the allocator.

``host/allocator.csv`` is written by ``tessera mosalloc overhead``, a rule of the main job.
"""

from __future__ import annotations

from tessera.allocator_proof.overhead import overheads
from tessera.core.units import MB
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate
from tessera.results.schema.cells import HOST_CELLS
from tessera.results.schema.machine import ALLOCATOR
from tessera.results.status import ok_rows

RESERVE = "./run --reserve reproduce"
COMPARE = "./run tessera mosalloc overhead --out results/default/host/allocator.csv"
COLUMNS = {"memory": "memory_bytes", "runtime": "cpu_ns"}
THIS_MACHINE = "host"


def host_variation(claim, evidence) -> Outcome:
    """Largest standard deviation over mean of the runtimes of a layout's repeats, percent."""
    rows = ok_rows(evidence.table(HOST_CELLS, RESERVE))
    rows = rows[rows["runtime_provenance"] == "measured"]
    groups = rows.dropna(subset=["runtime_ns"]).groupby(["workload", "layout"])["runtime_ns"]
    varied = [100 * float(g.std() / g.mean()) for _, g in groups if len(g) > 1]
    if not varied:
        raise Missing("no layout has two good real runs", RESERVE)
    return Outcome(max(varied), "measured", THIS_MACHINE)


def allocator_overhead(claim, evidence, quantity: str, how: str) -> Outcome:
    """Overhead of the allocator against glibc, percent; per workload the median of its pairs."""
    return _measured(100 * _costs(evidence, quantity)["overhead"], how)


def allocator_extra_memory(claim, evidence, how: str) -> Outcome:
    """Memory that the allocator needs beyond glibc's, MB; per workload the difference of the medians."""
    rows = _costs(evidence, "memory")
    return _measured((rows["mosalloc"] - rows["glibc"]) / MB, how)


def _costs(evidence, quantity: str):
    table = overheads(evidence.table(ALLOCATOR, COMPARE))
    table = table[table["quantity"] == COLUMNS[quantity]]
    if table.empty:
        raise Missing("host/allocator.csv has no complete pair of runs with glibc and with mosalloc", COMPARE)
    return table


def _measured(values, how: str) -> Outcome:
    return Outcome(aggregate(values, how), "measured", THIS_MACHINE)


EVALUATORS = {
    "host_variation": host_variation,
    "allocator_overhead": allocator_overhead,
    "allocator_extra_memory": allocator_extra_memory,
}
