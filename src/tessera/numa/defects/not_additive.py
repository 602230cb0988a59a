"""Rule: remote tables and remote data together cost what they cost apart, within 25% (HashJoin's TRP-RD).

Runs of one placement with 2MB pages can have different shares of huge pages, so a row far from the sum is a
run under other conditions. With 4KB pages the archive stays within 11%.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.defects.finding import Finding
from tessera.numa.placement import LOCAL

_LIMIT = 0.25


def not_additive(archive: Archive) -> Iterator[Finding]:
    """Runtime with remote tables and data that is over 25% from the sum of both effects."""
    for size, prefix in (("4KB", ""), ("2MB", "T")):
        runtime = cycles_of(archive.every, "Figure 6", "runtime", size)
        for both, data, tables in (("RP-RD", "LP-RD", "RP-LD"), ("RPI-RDI", "LP-RDI", "RPI-LD")):
            apart = column(runtime, data) + column(runtime, tables) - column(runtime, LOCAL)
            for workload, value in (column(runtime, both) / apart - 1).dropna().items():
                if abs(value) > _LIMIT:
                    yield Finding(
                        "Figure 6", str(workload), prefix + both, float(value), _LIMIT, "1",
                        f"runtime is {value:+.0%} from the sum of its parts",
                    )  # fmt: skip
