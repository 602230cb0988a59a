"""The map that a placement rule gives for the first touches of a trace.

A rule is a configuration of Mitosis Table 2 without a hog (:mod:`tessera.numa.placement`), with all data on
one node and all tables on one, or a policy of :mod:`tessera.numa.policies`. There the first toucher of a page
decides its node, and the policy decides the nodes of tables.

Only under ``interleave`` the address of a page decides: page number modulo nodes (Linux 6.12,
``mm/mempolicy.c``, ``interleave_nid``). Pools begin at multiples of 1GB, so for a power of two the offset
gives the same. Tables go round the nodes there. Which node is the first depends on what the kernel allocated
before, so the rule is right up to a shift.

Only tables of levels 1 and 2 are expected. Those above also hold memory outside the pools.
"""

from __future__ import annotations

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.mapping.touches import Touches
from tessera.numa.maps import (
    ALIGNED_LEVELS,
    DATA,
    LEAVES,
    POOL_SHIFT,
    TABLE,
    TABLE_PAGES,
    PlacementMap,
    unit_pages,
)
from tessera.numa.placement import Placement, placements
from tessera.numa.policies import POLICIES, Touched, split

_TABLE_SHIFT = POOL_SHIFT - 9  #: the same after a division by the 512 entries of a table
INTERLEAVE = "interleave"
LOCAL_NODE, REMOTE_NODE = 0, 1  #: the paper's sockets A and B


def placed(name: str) -> Placement | None:
    """The configuration of Table 2 of this name; None for the name of a policy.

    Raises:
        TesseraError: neither of them, or a configuration with a hog, which no guest can show.
    """
    known = {place.name: place for place in placements().values() if place.hog is None}
    if name in POLICIES:
        return None
    if name not in known:
        raise unknown_name("configuration without a hog, or policy", name, [*known, *POLICIES])
    return known[name]


def node_of(part: str, where: Placement) -> int:
    """Node of a socket name of Table 2; the program runs on node 0."""
    return LOCAL_NODE if part == where.program else REMOTE_NODE


def expected(touches: Touches, rule: str, nodes: int, how: str = "one") -> PlacementMap:
    """The map of a program of 4KB pages whose pages are touched in this order.

    Args:
        rule: name of a configuration or of a policy.
        nodes: sockets of a policy.
        how: who touches, for a policy (:func:`tessera.numa.policies.split`).

    Raises:
        TesseraError: an unknown rule, or no touch at all.
    """
    if not len(touches.page):
        raise TesseraError(
            "first touches",
            "there is none in the pools",
            "record a program that uses memory",
            code="numa-pages",
        )
    where = placed(rule)
    pages = (touches.pool.astype(np.int64) << POOL_SHIFT) + touches.page
    touched = split(pages, nodes, how)
    data_node = touched.sockets if where is None else np.full(len(pages), node_of(where.data, where))
    if rule == INTERLEAVE:
        data_node = touches.page % nodes
    rows = _rows(DATA, LEAVES, pages, data_node, POOL_SHIFT)
    for level in ALIGNED_LEVELS:
        # tables of level 2 are to 2MB ranges what those of level 1 are to pages
        units = Touched(_divided(pages, TABLE_PAGES ** (level - 1)), touched.sockets, nodes)
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
    there = np.flatnonzero(np.isin((touches.pool.astype(np.int64) << POOL_SHIFT) + touches.page, pages))
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


def _divided(pages: np.ndarray, by: int) -> np.ndarray:
    """Page numbers with their pools, in larger units; 2^40 is a multiple of every unit times 512."""
    return (pages >> POOL_SHIFT << POOL_SHIFT) + (pages & (1 << POOL_SHIFT) - 1) // by


def _rows(kind: int, level: int, numbers: np.ndarray, nodes: np.ndarray, shift: int) -> list[tuple]:
    """Tuples of :meth:`PlacementMap.of`, one for each number, whose bits from ``shift`` on are the pool."""
    pool, number = numbers >> shift, numbers & (1 << shift) - 1
    size = unit_pages(kind, level)
    columns = (pool.tolist(), (number * size).tolist(), ((number + 1) * size).tolist(), nodes.tolist())
    return [(kind, level, *row) for row in zip(*columns, strict=True)]
