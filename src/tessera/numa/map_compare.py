"""Compare two placement maps, page by page and table by table."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from tessera.mapping.rows import POOLS
from tessera.numa.maps import (
    ALIGNED_LEVELS,
    DATA,
    KINDS,
    LEVELS,
    PAGE_BYTES,
    POOL_SHIFT,
    TABLE,
    PlacementMap,
    unit_pages,
)

COLUMNS = (
    "kind",
    "level",
    "first_units",
    "second_units",
    "same_node",
    "other_node",
    "only_first",
    "only_second",
)

DIFFERENT = ("other_node", "only_first", "only_second")
_COMPARED = [(kind, level) for kind, levels in ((DATA, LEVELS), (TABLE, ALIGNED_LEVELS)) for level in levels]


def compare(first: PlacementMap, second: PlacementMap) -> pd.DataFrame:
    """:data:`COLUMNS`: a row for data and tables of each level that one of the maps has.

    ``*_units`` are pages (data) or tables. Tables of levels 3 and 4 are left out: their borders depend on the
    address of a pool, and they also hold memory outside it.
    """
    rows = []
    for kind, level in _COMPARED:
        (mine, my_nodes), (theirs, their_nodes) = first.units(kind, level), second.units(kind, level)
        if not len(mine) and not len(theirs):
            continue
        _, at, there = np.intersect1d(mine, theirs, assume_unique=True, return_indices=True)
        same = int((my_nodes[at] == their_nodes[there]).sum())
        rows.append(
            (KINDS[kind], level, len(mine), len(theirs), same, len(at) - same,
             len(mine) - len(at), len(theirs) - len(at))
        )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def differences(table: pd.DataFrame) -> int:
    """Pages and tables that lie on another node, or are in one map only."""
    return int(table[list(DIFFERENT)].to_numpy().sum())


def named(first: PlacementMap, second: PlacementMap) -> Iterator[tuple[str, int, str]]:
    """Kind, level and description of each page and table that differs, by offset."""
    for kind, level in _COMPARED:
        one, other = (
            dict(zip(*(part.tolist() for part in found.units(kind, level)), strict=True))
            for found in (first, second)
        )
        for number in sorted({unit for unit, _ in one.items() ^ other.items()}):
            offset = (number & (1 << POOL_SHIFT) - 1) * unit_pages(kind, level) * PAGE_BYTES
            where = f"{KINDS[kind]} of level {level}, pool {POOLS[number >> POOL_SHIFT]}, offset {offset}"
            nodes = " and ".join(
                f"node {found[number]} in the {which}" if number in found else f"absent in the {which}"
                for found, which in ((one, "first"), (other, "second"))
            )
            yield KINDS[kind], level, f"{where}: {nodes}"
