"""Rule: both page sizes of a workload imply the same wait behind the hog (Figure 6; BTree's TRPI-LD).

The wait belongs to the memory, not to the page size (:mod:`tessera.numa.arithmetic.waits`). The rule compares
workloads whose walk cycles rise enough with remote tables under both page sizes. It finds the copied row of
BTree without knowing that it is a copy: 1661 cycles with 2MB pages, 710 with 4KB pages.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive
from tessera.numa.arithmetic.tolerances import LEAST_EXTRA
from tessera.numa.arithmetic.waits import implied_waits
from tessera.numa.defects.finding import Finding
from tessera.numa.machine import published

_FACTOR = 2.0


def unequal_waits(archive: Archive) -> Iterator[Finding]:
    """Waits behind the hog that differ between page sizes by more than a factor of 2."""
    machine = published()
    small, large = (implied_waits(archive.every, size, machine) for size in ("4KB", "2MB"))
    for workload in small.index.intersection(large.index, sort=False):
        one, other = small.loc[workload], large.loc[workload]
        noise = one["extra"] < LEAST_EXTRA["4KB"] or other["extra"] < LEAST_EXTRA["2MB"]
        base, value = one["wait_cycles"], other["wait_cycles"]
        if noise or not base > 0 or base / _FACTOR <= value <= base * _FACTOR:
            continue
        limit = base * _FACTOR if value > base else base / _FACTOR
        yield Finding(
            "Figure 6", str(workload), "TRPI-LD", float(value), float(limit), "cycles",
            f"2MB pages imply a wait of {value:.0f} cycles, 4KB pages {base:.0f}",
        )  # fmt: skip
