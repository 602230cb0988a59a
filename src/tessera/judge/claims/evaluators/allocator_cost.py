"""What Tessera's allocator costs against glibc (``host/allocator.csv``), in real runs on this machine.

``tessera mosalloc overhead``, a rule of the main job, writes the table. The papers measure another allocator.
"""

from __future__ import annotations

from tessera.allocator_proof.overhead import overheads
from tessera.core.units import MB
from tessera.judge.claims import distribution
from tessera.judge.claims.evaluators.host_runs import THIS_MACHINE
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate
from tessera.results.schema.machine import ALLOCATOR

COMPARE = "./run tessera mosalloc overhead --out results/default/host/allocator.csv"
COLUMNS = {"memory": "memory_bytes", "runtime": "cpu_ns"}


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
    spread = distribution.describe(list(values), how, "programs")
    return Outcome(aggregate(values, how), "measured", THIS_MACHINE, distribution=spread)


EVALUATORS = {
    "allocator_overhead": allocator_overhead,
    "allocator_extra_memory": allocator_extra_memory,
}
