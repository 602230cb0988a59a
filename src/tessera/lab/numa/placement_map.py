"""The node of each page and page table of a program: the map, its file, comparisons.

See docs/explain/numa.md, Maps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.mapping.page_mapping import POOLS

# The map, by offsets in the program's pools.
#
# A *data* row is memory that entries of a table of ``level`` map: level 1 has 4KB pages, level 2 has 2MB
# pages. A *table* row is the range that tables of ``level`` translate: 2MB for each table of level 1, 1GB of
# level 2. Neighbours on one node share a row, except tables of levels 3 and 4: their borders depend on the
# address of the pool, so their ranges are cut to the pool and belong to one table each.

KINDS = ("data", "table")
DATA, TABLE = range(2)
PAGE_BYTES = 4096
TABLE_PAGES = 512  #: entries of a table
LEVELS = (1, 2, 3, 4)  #: of page tables; 4 is the root
ALIGNED_LEVELS = (1, 2)  #: pools begin at multiples of 1GB, so these tables have fixed offsets
POOL_SHIFT = 40  #: a pool and a page in one number; pages are below 2^36 (tessera.core.mapping.mapping_file)
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
        pool: index in ``tessera.core.mapping.page_mapping.POOLS``.
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


def pages_by_leaf_node(found: PlacementMap, nodes: int) -> np.ndarray:
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
            "give a map with data and tables of level 1: tessera lab numa map capture",
            code="numa-map-leaves",
        )
    return np.bincount(where[at], minlength=nodes)


# The file of a placement map: CSV ``kind,level,pool,start_offset,end_offset,node``.
#
# Offsets are bytes in the pool, the end is exclusive, both multiples of 4KB.

MAP_HEADER = "kind,level,pool,start_offset,end_offset,node"
MOST_NODES = 64
_LARGEST_PAGE = 3  #: level whose entries can be pages (1GB)
_MAP_ROW = re.compile(r"(data|table),([1-4]),(brk|mmap),([0-9]{1,15}),([0-9]{1,15}),([0-9]{1,2})")


def write_map(found: PlacementMap, path: Path) -> None:
    """Write the map; the same map gives the same bytes."""
    lines = [MAP_HEADER]
    for kind, level, pool, start, end, node in found.tuples():
        lines.append(f"{KINDS[kind]},{level},{POOLS[pool]},{start * PAGE_BYTES},{end * PAGE_BYTES},{node}")
    write_text(path, "\n".join(lines) + "\n")


def read_map(path: Path) -> PlacementMap:
    """Read a map.

    Raises:
        TesseraError: the file is missing (``numa-map-file``), a line has another form (``numa-map-form``), or
            rows overlap (``numa-map-overlap``).
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or "it is not text"
        raise _refused(path, found, "numa-map-file") from None
    if not lines or lines[0] != MAP_HEADER:
        raise _refused(path, f"line 1 is '{lines[0][:60] if lines else ''}', and must be {MAP_HEADER}")
    rows = [_map_row(path, number, line) for number, line in enumerate(lines[1:], start=2)]
    if not rows:
        raise _refused(path, "it has no row")
    return PlacementMap.of(rows)


def _map_row(path: Path, number: int, line: str) -> tuple:
    match = _MAP_ROW.fullmatch(line)
    if not match:
        raise _refused(path, f"line {number} is '{line[:60]}', and must be a row of {MAP_HEADER}")
    kind, level, pool = KINDS.index(match[1]), int(match[2]), POOLS.index(match[3])
    start, end, node = (int(match[field]) for field in (4, 5, 6))
    if start % PAGE_BYTES or end % PAGE_BYTES or not start < end:
        raise _refused(
            path, f"line {number}: offsets must be multiples of {PAGE_BYTES}, the end above the start"
        )
    if node >= MOST_NODES:
        raise _refused(path, f"line {number}: node {node}, and there are at most {MOST_NODES}")
    if kind == DATA and level > _LARGEST_PAGE:
        raise _refused(path, f"line {number}: entries of level {LEVELS[-1]} are tables, no pages")
    if kind == DATA and (start % (page := unit_pages(kind, level) * PAGE_BYTES) or end % page):
        raise _refused(path, f"line {number}: data of level {level} have pages of {page} bytes")
    return kind, level, pool, start // PAGE_BYTES, end // PAGE_BYTES, node


def _refused(path: Path, found: str, code: str = "numa-map-form") -> TesseraError:
    return TesseraError(
        f"placement map {path}", found, "make one with: tessera lab numa map capture", code=code
    )


# Two maps, page by page and table by table.

COMPARISON_COLUMNS = (
    "kind",
    "level",
    "first_units",
    "second_units",
    "same_node",
    "other_node",
    "only_first",
    "only_second",
)

DIFFERENT_COLUMNS = ("other_node", "only_first", "only_second")
_COMPARED = [(kind, level) for kind, levels in ((DATA, LEVELS), (TABLE, ALIGNED_LEVELS)) for level in levels]


def compare_maps(first: PlacementMap, second: PlacementMap) -> pd.DataFrame:
    """:data:`COMPARISON_COLUMNS`: a row for data and tables of each level that one of the maps has.

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
    return pd.DataFrame(rows, columns=list(COMPARISON_COLUMNS))


def count_differences(table: pd.DataFrame) -> int:
    """Pages and tables that lie on another node, or are in one map only."""
    return int(table[list(DIFFERENT_COLUMNS)].to_numpy().sum())


def named_differences(first: PlacementMap, second: PlacementMap) -> Iterator[tuple[str, int, str]]:
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
