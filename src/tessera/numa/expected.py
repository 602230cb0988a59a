"""The map that a placement rule gives for the first touches of a trace.

A rule (:mod:`tessera.numa.map_rules`) is a configuration of Mitosis Table 2, with all data on one node and
all tables on one, or a policy of :mod:`tessera.numa.policies`. Under a policy the first toucher of a page
decides its node, and the policy decides the nodes of tables.

Only under ``interleave`` the address of a page decides: page number modulo nodes (Linux 6.12,
``mm/mempolicy.c``, ``interleave_nid``). Pools begin at multiples of 1GB, so for a power of two the offset
gives the same. Tables go round the nodes there. Which node is the first depends on what the kernel allocated
before, so the rule is right up to a shift.

With transparent huge pages, a range of 2MB that is touched gets one page, unless it has pages already or
reaches over the end of the memory that the program allocated. Such a range needs no leaf table.

Only tables of levels 1 and 2 are expected. Those above also hold memory outside the pools.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError
from tessera.mapping.rows import POOLS
from tessera.mapping.touches import Touches
from tessera.numa.map_rules import map_rule, node_of
from tessera.numa.maps import (
    ALIGNED_LEVELS,
    DATA,
    LEAVES,
    PAGE_BYTES,
    POOL_SHIFT,
    TABLE,
    TABLE_PAGES,
    PlacementMap,
    unit_pages,
)
from tessera.numa.policies import POLICIES, Touched, split

_TABLE_SHIFT = POOL_SHIFT - 9  #: the same after a division by the 512 entries of a table
INTERLEAVE = "interleave"


@dataclass(frozen=True)
class Reach:
    """What decides about 2MB pages.

    Attributes:
        small: pages that were there before huge pages were allowed, as pool and page in one number.
        ends: pool -> bytes that the program allocated there, from offset 0.
    """

    small: np.ndarray
    ends: dict[str, int]

    @classmethod
    def of(cls, begin: PlacementMap, trace_info: dict) -> Reach:
        """From the map of the begin and the header of the trace (``tessera trace info``)."""
        ends = {pool["kind"]: int(pool["used_bytes"]) for pool in trace_info["pools"]}
        return cls(begin.units(DATA, LEAVES)[0], ends)


def expected(
    touches: Touches, rule: str, nodes: int, how: str = "one", reach: Reach | None = None
) -> PlacementMap:
    """The map of a program whose pages are touched in this order.

    Args:
        rule: name of a configuration or of a policy.
        nodes: sockets of a policy.
        how: who touches, for a policy (:func:`tessera.numa.policies.split`).
        reach: needed with transparent huge pages; without them all pages are 4KB.

    Raises:
        TesseraError: an unknown rule, no touch at all, or no ``reach``.
    """
    asked = map_rule(rule)
    if asked.huge and reach is None:
        raise TesseraError(
            f"the map of {rule}",
            "2MB pages depend on the allocated memory and on pages that were there before",
            "give the map of the begin and the trace: --begin, --trace",
            code="numa-map-reach",
        )
    if not len(touches.page):
        raise TesseraError(
            "first touches",
            "there is none in the pools",
            "record a program that uses memory",
            code="numa-pages",
        )
    where = asked.where
    pages = (touches.pool.astype(np.int64) << POOL_SHIFT) + touches.page
    touched = split(pages, nodes, how)
    data_node = touched.sockets if where is None else np.full(len(pages), node_of(where.data, where))
    if rule == INTERLEAVE:
        data_node = touches.page % nodes
    large = _large(pages, reach) if asked.huge else np.zeros(len(pages), bool)
    rows = _rows(DATA, LEAVES, pages[~large], data_node[~large], POOL_SHIFT)
    ranges, first = np.unique(_divided(pages[large], TABLE_PAGES), return_index=True)
    rows += _rows(DATA, LEAVES + 1, ranges, data_node[large][first], POOL_SHIFT)
    for level in ALIGNED_LEVELS:
        # tables of level 2 are to 2MB ranges what those of level 1 are to pages
        held = ~large if level == LEAVES else np.ones(len(pages), bool)
        if not held.any():
            continue
        units = Touched(_divided(pages[held], TABLE_PAGES ** (level - 1)), touched.sockets[held], nodes)
        if where is None:
            tables, table_node = POLICIES[rule](units)
        else:
            tables = np.unique(units.pages // TABLE_PAGES)
            table_node = np.full(len(tables), node_of(where.tables, where))
        rows += _rows(TABLE, level, tables, table_node, _TABLE_SHIFT)
    return PlacementMap.of(rows)


def as_far_as(touches: Touches, found: PlacementMap) -> Touches:
    """The touches up to the last one whose page is in the map.

    A map shows one moment of a run, and a trace goes on behind it. The map must equal that of these touches,
    so a page that is missing before the last one is a difference.
    """
    pages, _ = found.units(DATA, LEAVES)
    ranges, _ = found.units(DATA, LEAVES + 1)
    touched = (touches.pool.astype(np.int64) << POOL_SHIFT) + touches.page
    there = np.flatnonzero(np.isin(touched, pages) | np.isin(_divided(touched, TABLE_PAGES), ranges))
    count = int(there[-1]) + 1 if len(there) else 0
    return Touches(touches.pool[:count], touches.page[:count], touches.access[:count])


def behind(begin: PlacementMap, touches: Touches) -> Touches:
    """The pages of a map, by offset, and behind them the touches of other pages.

    A trace begins with the program's own code. Libraries have touched pages by then.
    """
    pages, _ = begin.units(DATA, LEAVES)
    touched = (touches.pool.astype(np.int64) << POOL_SHIFT) + touches.page
    order = np.concatenate((pages, touched[~np.isin(touched, pages)]))
    return Touches(order >> POOL_SHIFT, order & (1 << POOL_SHIFT) - 1, np.arange(len(order)))


def _large(pages: np.ndarray, reach: Reach) -> np.ndarray:
    """Which of these pages lie in a range of 2MB that gets one page."""
    ranges = _divided(pages, TABLE_PAGES)
    ends = np.array([reach.ends.get(pool, 0) for pool in POOLS])
    range_end = ((ranges & (1 << POOL_SHIFT) - 1) + 1) * TABLE_PAGES * PAGE_BYTES
    inside = range_end <= ends[ranges >> POOL_SHIFT]
    return inside & ~np.isin(ranges, _divided(reach.small, TABLE_PAGES))


def _divided(pages: np.ndarray, by: int) -> np.ndarray:
    """Page numbers with their pools, in larger units; 2^40 is a multiple of every unit times 512."""
    return (pages >> POOL_SHIFT << POOL_SHIFT) + (pages & (1 << POOL_SHIFT) - 1) // by


def _rows(kind: int, level: int, numbers: np.ndarray, nodes: np.ndarray, shift: int) -> list[tuple]:
    """Tuples of :meth:`PlacementMap.of`, one for each number, whose bits from ``shift`` on are the pool."""
    pool, number = numbers >> shift, numbers & (1 << shift) - 1
    size = unit_pages(kind, level)
    columns = (pool.tolist(), (number * size).tolist(), ((number + 1) * size).tolist(), nodes.tolist())
    return [(kind, level, *row) for row in zip(*columns, strict=True)]
