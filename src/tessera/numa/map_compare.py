"""Compare two placement maps, page by page and table by table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.numa.maps import ALIGNED_LEVELS, DATA, KINDS, LEVELS, TABLE, PlacementMap

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


def compare(first: PlacementMap, second: PlacementMap) -> pd.DataFrame:
    """:data:`COLUMNS`: a row for data and tables of each level that one of the maps has.

    ``*_units`` are pages (data) or tables. Tables of levels 3 and 4 are left out: their borders depend on the
    address of a pool, and they also hold memory outside it.
    """
    rows = []
    for kind, levels in ((DATA, LEVELS), (TABLE, ALIGNED_LEVELS)):
        for level in levels:
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
    return int(table[["other_node", "only_first", "only_second"]].to_numpy().sum())
