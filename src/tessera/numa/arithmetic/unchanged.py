"""The placement of data leaves walk cycles as they are (Figure 6).

C(LP-RD) = C(LP-LD) and C(RP-RD) = C(RP-LD), and the same with interference. The value is the ratio minus 1.
The closed form of :mod:`tessera.numa.costs` needs this: it has no term for data. It fails where walks wait
behind the program's own loads.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.arithmetic.tolerances import HOGGED, QUIET
from tessera.numa.placement import LOCAL

_PAIRS = (
    ("LP-RD", LOCAL, QUIET),
    ("RP-RD", "RP-LD", QUIET),
    ("LP-RDI", LOCAL, HOGGED),
    ("RPI-RDI", "RPI-LD", HOGGED),
)


def unchanged(archive: Archive) -> Iterator[Check]:
    """Walk cycles do not depend on where data lie."""
    for size in QUIET:
        walk = cycles_of(archive.good, "Figure 6", "walk", size)
        for remote, local, tolerance in _PAIRS:
            for workload, value in (column(walk, remote) / column(walk, local) - 1).items():
                yield Check(
                    f"walks of {remote}", str(workload), size, float(value), -tolerance[size],
                    tolerance[size], "1", f"over {local}",
                )  # fmt: skip
