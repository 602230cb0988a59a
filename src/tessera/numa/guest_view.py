"""A placement map from page tables in the memory of a guest (:mod:`tessera.kernel.walker`).

Leaf entries that share one frame show the kernel's page of zeros: memory that was only read has no page of
its own, and so no row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.kernel.walker import FRAME, LARGE, PRESENT, GuestMemory, Tree
from tessera.mapping.rows import POOLS
from tessera.mosalloc.pool_map import PoolPlace
from tessera.numa.maps import DATA, LEAVES, LEVELS, PAGE_BYTES, TABLE, PlacementMap, unit_pages


@dataclass(frozen=True, eq=False)
class Seen:
    """Pages and tables of one tree: level -> virtual address and node (of pages also frame), as arrays."""

    tables: dict[int, tuple[np.ndarray, np.ndarray]]
    pages: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]


def seen(tree: Tree, memory: GuestMemory) -> Seen:
    """What the tree shows; afterwards the memory may go."""
    tables, pages = {}, {}
    for level, found in tree.levels.items():
        tables[level] = found.virtual, memory.node(found.physical)
        leaf = found.entries & PRESENT != 0
        if level != LEAVES:
            leaf &= found.entries & LARGE != 0
        table, index = np.nonzero(leaf)
        size = np.uint64(unit_pages(DATA, level) * PAGE_BYTES)
        frames = found.entries[table, index] & FRAME & ~(size - np.uint64(1))
        pages[level] = found.virtual[table] + index.astype(np.uint64) * size, memory.node(frames), frames
    return Seen(tables, pages)


def map_of(what: Seen, pools: list[PoolPlace]) -> tuple[PlacementMap, int]:
    """The part of a tree that lies in the pools, and the number of pages that were only read.

    Tables at the borders of a pool are cut to it.
    """
    rows, zeros = [], 0
    for place in pools:
        pool, end = POOLS.index(place.pool), place.size_bytes // PAGE_BYTES
        for level in LEVELS:
            virtual, nodes, frames = what.pages[level]
            inside = (virtual >= place.base) & (virtual < place.base + place.size_bytes)
            _, which, times = np.unique(frames, return_inverse=True, return_counts=True)
            zero = inside & (times[which] > 1) if len(frames) else inside
            zeros += int(zero.sum())
            rows += _rows(DATA, level, pool, virtual[inside & ~zero], nodes[inside & ~zero], place.base, end)
            virtual, nodes = what.tables[level]
            span = unit_pages(TABLE, level) * PAGE_BYTES
            inside = (virtual.astype(np.int64) + span > place.base) & (
                virtual.astype(np.int64) < place.base + place.size_bytes
            )
            rows += _rows(TABLE, level, pool, virtual[inside], nodes[inside], place.base, end)
    return PlacementMap.of(rows), zeros


def _rows(
    kind: int, level: int, pool: int, virtual: np.ndarray, nodes: np.ndarray, base: int, pool_end: int
) -> list[tuple]:
    """Tuples of :meth:`PlacementMap.of`, cut to the pool."""
    first = (virtual.astype(np.int64) - base) // PAGE_BYTES
    starts = np.maximum(first, 0).tolist()
    ends = np.minimum(first + unit_pages(kind, level), pool_end).tolist()
    return [
        (kind, level, pool, start, end, node)
        for start, end, node in zip(starts, ends, nodes.tolist(), strict=True)
    ]
