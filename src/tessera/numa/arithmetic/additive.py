"""Remote tables and remote data cost the same together as apart (Figure 6).

R(RP-RD) = R(LP-RD) + R(RP-LD) - R(LP-LD), and the same with interference (RPI-RDI, LP-RDI, RPI-LD). The value
is the relative deviation of the left side from the right side. This is what a fixed latency for each load
predicts if placement changes no count of loads.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.arithmetic.tolerances import HOGGED, QUIET
from tessera.numa.placement import LOCAL

_SUMS = (("RP-RD", "LP-RD", "RP-LD", QUIET), ("RPI-RDI", "LP-RDI", "RPI-LD", HOGGED))


def additive(archive: Archive) -> Iterator[Check]:
    """Runtime with remote tables and data is the sum of both effects."""
    for size in QUIET:
        runtime = cycles_of(archive.good, "Figure 6", "runtime", size)
        for both, data, tables, tolerance in _SUMS:
            apart = column(runtime, data) + column(runtime, tables) - column(runtime, LOCAL)
            for workload, value in (column(runtime, both) / apart - 1).items():
                yield Check(
                    f"additive {both}",
                    str(workload),
                    size,
                    float(value),
                    -tolerance[size],
                    tolerance[size],
                    "1",
                )
