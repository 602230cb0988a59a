"""The study of page faults of a synthetic tree: two programs, two scenarios, and one scenario that failed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.results.os_tables import FAULT_SHARES, FAULT_TIME_COMBS, FAULT_TIMES, SIMULATOR_COSTS
from tessera.lab.faults.kinds import BATCH
from tessera.lab.faults.virtuoso import quantile_rows

from .tables import put

FAILED = "pressure-swap"
#: scenario -> faults of 4KB and of 2MB; they take 3,000 and 400,000 cycles
FAULTS = {"thp-never": (1024, 0), "thp-no-zero-page": (10, 2)}
SMALL, LARGE = 3000, 400_000
RUNTIME = 10_000_000
HERTZ = 2e9
COMB = {
    "kind": "write-4kb", "reason": BATCH.reason, "period": BATCH.period, "runs": 1, "faults": 1024,
    "asked": 40, "hits": 30, "chance": 0.01, "extra_cycles": 7777,
}  # fmt: skip


#: What the simulator took; every ratio is another number.
COST = {
    "repeats": 5, "instructions": 10, "accesses": 10, "kernel_instructions": 9, "kernel_accesses": 40,
    "plain_seconds": 8.25, "plain_seconds_low": 8, "plain_seconds_high": 9, "woven_seconds": 20.5,
    "woven_seconds_low": 20, "woven_seconds_high": 21, "plain_memory_bytes": 100, "woven_memory_bytes": 120,
    "slowdown": 2.48, "memory_ratio": 1.21, "instruction_ratio": 1.92, "access_ratio": 5.03,
    "time_per_instruction_ratio": 1.31, "time_per_access_ratio": 0.49, "provenance": "measured",
}  # fmt: skip


def write(root: Path, workloads: tuple[str, ...] = ("gups", "graph500")) -> None:
    """Write ``studies/virtuoso/<workload>/*.csv``."""
    for workload in workloads:
        head = {"workload": workload, "platform": "haswell-sim", "provenance": "simulated"}
        shares = [
            head | {"scenario": scenario} | _share(small, large, SMALL * small + LARGE * large)
            for scenario, (small, large) in FAULTS.items()
        ]
        shares.append(head | {"scenario": FAILED, "status": "failed", "message": "NO-TEMPLATE-7"})
        times, combs = [], []
        for scenario, (small, large) in FAULTS.items():
            faults = [("write-4kb", SMALL)] * small + [("write-2mb", LARGE)] * large
            found = quantile_rows(pd.DataFrame(faults, columns=["kind", "cycles"]), HERTZ)
            times += [head | {"scenario": scenario} | row for row in found]
            combs.append(head | {"scenario": scenario} | COMB)
        cost = head | {"scenario": "thp-never"} | COST
        put(root, FAULT_SHARES, shares, workload)
        put(root, FAULT_TIMES, times, workload)
        put(root, FAULT_TIME_COMBS, combs, workload)
        put(root, SIMULATOR_COSTS, [cost], workload)


def _share(small: int, large: int, cycles: int) -> dict:
    return {
        "status": "ok", "message": "", "runtime_cycles": RUNTIME, "runtime_cycles_ci95": 0,
        "faultless_cycles": RUNTIME - cycles - 100 * (small + large), "instructions": 5_000_000,
        "accesses": 2_000_000, "faults": small + large, "faults_2mb": large, "stlb_misses": 4000,
        "walk_cycles": 100_000, "kernel_instructions": 1875 * small + 24_585 * large, "kernel_cycles": cycles,
        "kernel_walk_cycles": 10, "fault_share": cycles / RUNTIME, "translation_share": 0.01,
        "cycles_per_walk": 25,
    }  # fmt: skip
