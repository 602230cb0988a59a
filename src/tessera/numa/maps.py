"""The node of each page and each page table of a program, by offsets in its pools (docs/numa.md, Maps).

A *data* row is memory that entries of a table of ``level`` map: level 1 has 4KB pages, level 2 has 2MB pages.
A *table* row is the range that tables of ``level`` translate: 2MB for each table of level 1, 1GB of level 2.
Neighbours on one node share a row, except tables of levels 3 and 4: their borders depend on the address of
the pool, so their ranges are cut to the pool and belong to one table each.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.rows import POOLS

KINDS = ("data", "table")
DATA, TABLE = range(2)
PAGE_BYTES = 4096
TABLE_PAGES = 512  #: entries of a table
LEVELS = (1, 2, 3, 4)  #: of page tables; 4 is the root
ALIGNED_LEVELS = (1, 2)  #: pools begin at multiples of 1GB, so these tables have fixed offsets
POOL_SHIFT = 40  #: a pool and a page in one number; pages are below 2^36 (tessera.mapping.check)
LEAVES = 1  #: level of the tables whose entries are 4KB pages
_FIELDS = ("kind", "level", "pool", "start", "end", "node")


def unit_pages(kind: int, level: int) -> int:
    """4KB pages that one page (data) or one table (table) of this level has or translates."""
    return TABLE_PAGES ** (level - 1 if kind == DATA else level)


@dataclass(frozen=True, eq=False)
class PlacementMap:
    """Rows sorted by kind, level, pool and start; arrays of shape ``(rows,)``, int64.

    Attributes:
        kind: index in :data:`KINDS`.
        level: of the table, or of the table whose entries map the data.
        pool: index in ``tessera.mapping.rows.POOLS``.
        start, end: first 4KB page of the pool, and the one behind the last.
        node: where all pages or tables of the row lie.
    """

    kind: np.ndarray
    level: np.ndarray
    pool: np.ndarray
    start: np.ndarray
    end: np.ndarray
    node: np.ndarray

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def of(cls, rows: list[tuple]) -> PlacementMap:
        """From tuples ``(kind, level, pool, start, end, node)`` with indices and page numbers, in any order.

        Neighbours of one node are joined.

        Raises:
            TesseraError: two rows of a kind and level overlap.
        """
        table = np.array(sorted(rows), dtype=np.int64).reshape(-1, len(_FIELDS))
        group = (table[1:, :3] == table[:-1, :3]).all(axis=1)
        if (overlap := group & (table[1:, 3] < table[:-1, 4])).any():
            kind, level, pool, start = table[1:][overlap][0][:4].tolist()
            raise TesseraError(
                f"{KINDS[kind]} of level {level} in pool {POOLS[pool]}",
                f"two rows have the offset {start * PAGE_BYTES}",
                "give each page and each table one node",
                code="numa-map-overlap",
            )
        apart = ~group | (table[1:, 3] != table[:-1, 4]) | (table[1:, 5] != table[:-1, 5])
        apart |= (table[1:, 0] == TABLE) & ~np.isin(table[1:, 1], ALIGNED_LEVELS)
        first = np.concatenate(([0], np.flatnonzero(apart) + 1))[: len(table)]
        last = np.concatenate((first[1:] - 1, [len(table) - 1]))[: len(table)]
        joined = table[first]
        joined[:, 4] = table[last, 4]
        return cls(*joined.T)

    def tuples(self) -> list[tuple[int, ...]]:
        """The rows as :meth:`of` takes them."""
        return list(zip(*(getattr(self, name).tolist() for name in _FIELDS), strict=True))

    def levels(self, kind: int) -> list[int]:
        """Levels that this kind has rows of, ascending."""
        return sorted(set(self.level[self.kind == kind].tolist()))

    def units(self, kind: int, level: int) -> tuple[np.ndarray, np.ndarray]:
        """Each page or table of a kind and level, and its node.

        Returns:
            Numbers ``(pool << 40) + number``, ascending, where page or table ``number`` begins at offset
            ``number * unit_pages * 4KB``; and nodes.
        """
        chosen = (self.kind == kind) & (self.level == level)
        size = unit_pages(kind, level)
        first, last = self.start[chosen] // size, -(-self.end[chosen] // size)
        count = last - first
        row = np.repeat(np.arange(len(count)), count)
        inside = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return (self.pool[chosen][row] << POOL_SHIFT) + first[row] + inside, self.node[chosen][row]

    @property
    def nodes(self) -> int:
        """Nodes that the map needs at least: the highest one plus 1."""
        return int(self.node.max()) + 1 if len(self) else 0


def leaf_entries(found: PlacementMap, nodes: int) -> np.ndarray:
    """4KB pages of the map by the node of the leaf table that maps them, shape ``(nodes,)``.

    Raises:
        TesseraError: a node of the map is not below ``nodes``, or the map has no 4KB page with a table.
    """
    if found.nodes > nodes:
        raise TesseraError(
            f"a map for {nodes} sockets",
            f"it has node {found.nodes - 1}",
            f"give --sockets {found.nodes} or more",
            code="numa-map-nodes",
        )
    pages, _ = found.units(DATA, LEAVES)
    tables, where = found.units(TABLE, LEAVES)
    # a pool has a multiple of 512 pages, so pool and page in one number can be divided
    of_page = (pages >> POOL_SHIFT << POOL_SHIFT) + (pages & (1 << POOL_SHIFT) - 1) // TABLE_PAGES
    at = np.searchsorted(tables, of_page)
    known = at < len(tables)
    known[known] = tables[at[known]] == of_page[known]
    if not len(pages) or not known.all():
        raise TesseraError(
            "4KB pages of a map",
            f"{len(pages)} pages, {int((~known).sum())} of them without a leaf table",
            "give a map with data and tables of level 1: tessera numa map capture",
            code="numa-map-leaves",
        )
    return np.bincount(where[at], minlength=nodes)
