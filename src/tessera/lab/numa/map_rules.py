"""Rules of placement (policies, and Mitosis Table 2), and the map that a rule gives for first touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.mapping.page_mapping import POOLS
from tessera.core.mapping.paging import Touches, read_touches
from tessera.lab.numa.placement_costs import MIGRATED, Placement, placements
from tessera.lab.numa.placement_map import (
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

# Policies: on which socket leaf page tables lie, and how many leaf entries each socket finds remote.
#
# A leaf table maps 512 successive 4KB pages, 2MB. A policy gives each table a socket, from the order in
# which pages are touched first and the socket that touches them (Mitosis, section 3.1). A new policy is a
# function and a line in :data:`POLICIES`.
#
# A socket that walks finds an entry remote if its table lies elsewhere. Every entry is remote for all
# sockets but one, so the shares of N sockets sum to N - 1, whatever the policy. Not modelled: the levels
# above, pages of the program and its libraries, and walks that prefer some pages.


@dataclass(frozen=True)
class Touched:
    """Pages by number in the order of their first touch, each once, and the socket that touches each."""

    pages: np.ndarray
    sockets: np.ndarray
    nodes: int

    def __post_init__(self) -> None:
        found = f"{len(self.pages)} pages, {len(self.sockets)} touches, {self.nodes} sockets"
        if not (len(self.pages) == len(self.sockets) > 0 and self.nodes >= 1):
            raise TesseraError("first touches", found, "give at least one page, and a socket for each")
        if self.sockets.min() < 0 or self.sockets.max() >= self.nodes:
            raise TesseraError(
                "first touches", f"a socket outside 0 to {self.nodes - 1}", "correct --sockets"
            )


def split_touches(pages: np.ndarray, nodes: int, how: str) -> Touched:
    """First touches by threads on ``nodes`` sockets.

    ``one``: a thread on socket 0 touches all; ``blocks``: each of successive blocks of equal size has its own
    socket; ``pages``: page by page in turn. The programs ``touched-by-*`` of docs/explain/kernel.md do the
    same.
    """
    span = int(pages.max()) - int(pages.min()) + 1
    from_first = pages - pages.min()
    owners = {
        "one": np.zeros(len(pages), np.int64),
        "blocks": from_first * nodes // span,
        "pages": from_first % nodes,
    }
    return Touched(pages, owners[how], nodes)


SPLITS = ("one", "blocks", "pages")


def touched_pages(file: Path | None, count: int | None) -> np.ndarray:
    """Pages in the order of their first touch: of a file of ``tessera trace touches``, or 0 to ``count`` - 1.

    Raises:
        TesseraError: neither or both are given, or the file cannot be read.
    """
    if (file is None) == (count is None):
        found = "neither is given" if file is None else "both are given"
        raise TesseraError("--touches, --pages", found, "give one of the two", code="numa-pages")
    if file is None:
        return np.arange(count)
    found = read_touches(file)
    return (found.pool.astype(np.int64) << POOL_SHIFT) + found.page


def first_touch(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """The first of a table's 512 pages to be touched decides the socket of the table."""
    tables, first = np.unique(touches.pages // TABLE_PAGES, return_index=True)
    return tables, touches.sockets[first]


def interleave(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """Tables go round the sockets in the order in which their first pages are touched."""
    tables, first = np.unique(touches.pages // TABLE_PAGES, return_index=True)
    order = np.empty(len(tables), np.int64)
    order[np.argsort(first)] = np.arange(len(tables))
    return tables, order % touches.nodes


def automatic_migration(touches: Touched) -> tuple[np.ndarray, np.ndarray]:
    """Automatic page migration moves data only: page tables stay where first touch put them (3.1)."""
    return first_touch(touches)


#: name -> tables by number, ascending, and the socket of each
POLICIES: dict[str, Callable[[Touched], tuple[np.ndarray, np.ndarray]]] = {
    "first-touch": first_touch,
    "interleave": interleave,
    "auto": automatic_migration,
}


def remote_leaf_shares(touches: Touched, policy: str) -> np.ndarray:
    """Share of the leaf entries that each socket finds on another socket."""
    tables, sockets = POLICIES[policy](touches)
    entries = np.bincount(np.searchsorted(tables, touches.pages // TABLE_PAGES), minlength=len(tables))
    local = np.bincount(sockets, weights=entries, minlength=touches.nodes)
    return 1 - local / len(touches.pages)


# The rules that a map can follow: configurations of Mitosis Table 2 without a hog, and policies.
#
# A configuration may have ``+M`` behind its name: the tables have moved to the program's socket while the
# program lived (Figures 10 and 11). ``T`` in front of it: transparent huge pages are on. Linux 6.12 then
# gives a 2MB page to a range of 2MB that is accessible as a whole and has no page yet (``mm/memory.c``,
# ``create_huge_pmd``), as long as its node has a free block.

HUGE = "T"
LOCAL_NODE, REMOTE_NODE = 0, 1  #: the paper's sockets A and B


@dataclass(frozen=True)
class MapRule:
    """One rule.

    Attributes:
        name: as asked for.
        policy: of :data:`POLICIES`; empty for a configuration.
        begins: the configuration under which the program runs; None for a policy.
        migrated: its tables have moved when the map is taken.
        huge: transparent huge pages are on.
    """

    name: str
    policy: str = ""
    begins: Placement | None = None
    migrated: bool = False
    huge: bool = False

    @property
    def where(self) -> Placement | None:
        """The configuration that the map shows; None for a policy."""
        return self.begins.migrated() if self.begins and self.migrated else self.begins


def map_rule(name: str) -> MapRule:
    """The rule of this name.

    Raises:
        TesseraError: an unknown name, or a configuration with a hog, which no guest can show.
    """
    known = {place.name: place for place in placements().values() if place.hog is None}
    if name in POLICIES:
        return MapRule(name, policy=name)
    base = name.removesuffix(MIGRATED).removeprefix(HUGE)
    if base not in known or name not in _spellings(base):
        forms = [*known, f"one of them with {HUGE} in front or {MIGRATED} behind it", *POLICIES]
        raise unknown_name("configuration without a hog, or policy", name, forms)
    return MapRule(name, "", known[base], name.endswith(MIGRATED), name.startswith(HUGE))


def guest_rule(name: str) -> MapRule:
    """The rule of this name, if a guest can show it.

    Raises:
        TesseraError: ``auto``, or an unknown name.
    """
    if name == "auto":
        raise TesseraError(
            "policy 'auto' in a guest",
            "the program stops at its end, and automatic migration acts on threads that go on",
            f"give one of {', '.join(sorted(POLICIES.keys() - {name}))}, or a configuration of Table 2",
            code="numa-map-rule",
        )
    return map_rule(name)


def node_of(part: str, where: Placement) -> int:
    """Node of a socket name of Table 2; the program runs on node 0."""
    return LOCAL_NODE if part == where.program else REMOTE_NODE


def _spellings(base: str) -> list[str]:
    return [front + base + end for front in ("", HUGE) for end in ("", MIGRATED)]


# The map that a placement rule gives for the first touches of a trace.
#
# A configuration has all data on one node and all tables on one. Under a policy the first toucher of a page
# decides its node, and the policy decides the nodes of tables.
#
# Only under ``interleave`` the address of a page decides: page number modulo nodes (Linux 6.12,
# ``mm/mempolicy.c``, ``interleave_nid``). Pools begin at multiples of 1GB, so for a power of two the offset
# gives the same. Tables go round the nodes there. Which node is the first depends on what the kernel
# allocated before, so the rule is right up to a shift.
#
# With transparent huge pages, a range of 2MB that is touched gets one page, unless it has pages already or
# reaches over the end of the memory that the program allocated. Such a range needs no leaf table.
#
# Only tables of levels 1 and 2 are expected. Those above also hold memory outside the pools.

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


def expected_map(
    touches: Touches, rule: str, nodes: int, how: str = "one", reach: Reach | None = None
) -> PlacementMap:
    """The map of a program whose pages are touched in this order.

    Args:
        rule: name of a configuration or of a policy.
        nodes: sockets of a policy.
        how: who touches, for a policy (:func:`split_touches`).
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
    touched = split_touches(pages, nodes, how)
    data_node = touched.sockets if where is None else np.full(len(pages), node_of(where.data, where))
    if rule == INTERLEAVE:
        data_node = touches.page % nodes
    large = _large(pages, reach) if asked.huge else np.zeros(len(pages), bool)
    rows = _unit_rows(DATA, LEAVES, pages[~large], data_node[~large], POOL_SHIFT)
    ranges, first = np.unique(_divided(pages[large], TABLE_PAGES), return_index=True)
    rows += _unit_rows(DATA, LEAVES + 1, ranges, data_node[large][first], POOL_SHIFT)
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
        rows += _unit_rows(TABLE, level, tables, table_node, _TABLE_SHIFT)
    return PlacementMap.of(rows)


def touches_as_far_as(touches: Touches, found: PlacementMap) -> Touches:
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


def touches_behind(begin: PlacementMap, touches: Touches) -> Touches:
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


def _unit_rows(kind: int, level: int, numbers: np.ndarray, nodes: np.ndarray, shift: int) -> list[tuple]:
    """Tuples of :meth:`PlacementMap.of`, one for each number, whose bits from ``shift`` on are the pool."""
    pool, number = numbers >> shift, numbers & (1 << shift) - 1
    size = unit_pages(kind, level)
    columns = (pool.tolist(), (number * size).tolist(), ((number + 1) * size).tolist(), nodes.tolist())
    return [(kind, level, *row) for row in zip(*columns, strict=True)]
