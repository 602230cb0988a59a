"""The share of memory with 2MB pages after fragmentation, as Figure 11 implies it.

Let a share p of a program's memory be in 2MB pages. If its accesses are uniform, C = p x C(2MB) +
(1 - p) x C(4KB), so p = (C(4KB) - C) / (C(4KB) - C(2MB)). C(4KB) and C(2MB) are those of Figure 10, without
fragmentation: Figure 11 of the archive has 4KB pages with local tables only.
The node of the page tables does not change the pages, so p must be the same with local tables and with remote
ones and a hog.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.arithmetic.tolerances import COVERAGE
from tessera.numa.placement import LOCAL

REMOTE = "RPI-LD"
FRAGMENTED, WHOLE = "Figure 11", "Figure 10a"


def implied_shares(rows: pd.DataFrame) -> dict[str, pd.Series]:
    """Configuration (local tables, remote ones with a hog) -> share of 2MB pages of each workload.

    Args:
        rows: rows of the archive in use.
    """
    pieces = cycles_of(rows, FRAGMENTED, "walk", "2MB")
    small, large = (cycles_of(rows, WHOLE, "walk", size).reindex(pieces.index) for size in ("4KB", "2MB"))
    return {
        name: (column(small, name) - column(pieces, name)) / (column(small, name) - column(large, name))
        for name in (LOCAL, REMOTE)
    }


def coverage(archive: Archive) -> Iterator[Check]:
    """The share of 2MB pages with remote tables, in the bounds that local tables give."""
    shares = implied_shares(archive.good)
    for workload in shares[LOCAL].index:
        local, remote = (float(shares[name][workload]) for name in (LOCAL, REMOTE))
        yield Check(
            f"2MB pages of {FRAGMENTED}", str(workload), "2MB", remote,
            local - COVERAGE, local + COVERAGE, "share", f"{LOCAL}: {local:.2f}",
        )  # fmt: skip
