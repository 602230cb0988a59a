"""The study of page faults of a synthetic tree: two programs, two scenarios, and one scenario that failed."""

from __future__ import annotations

from pathlib import Path

from tessera.results.schema.virtuoso import FAULT_SHARES
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write

FAILED = "pressure-swap"
#: scenario -> faults of 4KB and of 2MB; they take 3,000 and 400,000 cycles
FAULTS = {"thp-never": (1024, 0), "thp-no-zero-page": (10, 2)}
SMALL, LARGE = 3000, 400_000
RUNTIME = 10_000_000


def write_faults(root: Path, workloads: tuple[str, ...] = ("gups", "graph500")) -> None:
    """Write ``studies/virtuoso/<workload>/*.csv``."""
    tree = Tree(root)
    for workload in workloads:
        head = {"workload": workload, "platform": "haswell-sim", "provenance": "simulated"}
        shares = [
            head | {"scenario": scenario} | _share(small, large, SMALL * small + LARGE * large)
            for scenario, (small, large) in FAULTS.items()
        ]
        shares.append(head | {"scenario": FAILED, "status": "failed", "message": "NO-TEMPLATE-7"})
        write(FAULT_SHARES, frame_of(FAULT_SHARES, shares), FAULT_SHARES.place(tree, workload))


def _share(small: int, large: int, cycles: int) -> dict:
    return {
        "status": "ok", "message": "", "runtime_cycles": RUNTIME, "runtime_cycles_ci95": 0,
        "faultless_cycles": RUNTIME - cycles - 100 * (small + large), "instructions": 5_000_000,
        "accesses": 2_000_000, "faults": small + large, "faults_2mb": large, "stlb_misses": 4000,
        "walk_cycles": 100_000, "kernel_instructions": 1875 * small + 24_585 * large, "kernel_cycles": cycles,
        "kernel_walk_cycles": 10, "fault_share": cycles / RUNTIME, "translation_share": 0.01,
        "cycles_per_walk": 25,
    }  # fmt: skip
