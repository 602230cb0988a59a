"""Synthetic mappings of Park (KAIST 2019): chunks of random (Table 3.4) or equal length (Figure 3.17).

From page v = 0 of a region, chunks of s = U{low..high} pages follow each other; the last is cut at the end.
A chunk gets the next free frame f = v mod ``alignment``, with at least one frame left free behind the chunk
before it, so that two chunks never join. Aligned pieces of 512 pages inside a chunk are 2MB pages.

Assumed: the paper does not say where chunks lie in physical memory. With an alignment of 512 (the default),
virtual and physical pages agree within 2MB, as in a kernel that aligns large blocks. An alignment of 1 is
the ablation: cluster TLBs and 2MB pages depend on it.

With f_0 the first frame of a region, chunk i lies at f_0 + v + i * alignment: all chunks before it end at a
frame equal to v (mod alignment), and each leaves one free step of ``alignment`` frames, of which one is
needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.units import round_up
from tessera.mapping.regions import Region
from tessera.mapping.rows import PAGES_OF_2MB, Rows
from tessera.mapping.splitmix import stream, uniform

#: kind -> smallest and largest chunk in pages; None: one chunk a region
LENGTHS: dict[str, tuple[int, int] | None] = {
    "low": (1, 16),
    "medium": (1, 512),
    "high": (512, 65536),
    "max": None,
}
#: chunks of one length: 1, 2, 4, ..., 65536 pages, the distances of Algorithm 1 and 1
EQUAL = {f"pages-{1 << power}": (1 << power, 1 << power) for power in range(17)}


def synthetic(kind: str, regions: Sequence[Region], seed: int, alignment: int = PAGES_OF_2MB) -> Rows:
    """Rows of every page of the regions, sorted.

    Args:
        kind: a key of :data:`LENGTHS` or :data:`EQUAL`.
        alignment: pages; 1, 2, 4, ..., 512.

    Raises:
        TesseraError: the alignment is no such number.
    """
    if alignment not in {1 << k for k in range(10)}:
        raise TesseraError(
            f"alignment {alignment}", "it must be a power of two from 1 to 512 pages", "give 512 or 1"
        )
    parts, free = [], 0
    for region in regions:
        first = lengths(kind, region, seed)
        page = np.concatenate(([0], np.cumsum(first)[:-1]))
        frame = round_up(free, alignment) + page + alignment * np.arange(len(page))
        free = int(frame[-1] + first[-1]) + 1
        parts.append(with_large_pages(region.number, page, frame, first))
    return Rows.joined(parts)


def lengths(kind: str, region: Region, seed: int) -> np.ndarray:
    """Pages of each chunk of a region, shape ``(chunks,)``; their sum is the region's."""
    bounds = EQUAL[kind] if kind in EQUAL else LENGTHS[kind]
    if bounds is None:
        return np.array([region.pages])
    low, high = bounds
    found = np.zeros(0, dtype=np.int64)
    count = 2 * region.pages // (low + high) + 64
    while found.sum() < region.pages:  # a longer beginning of the same stream
        found = uniform(stream(seed, region.number, count), low, high)
        count *= 2
    ends = np.minimum(np.cumsum(found), region.pages)
    ends = ends[: int(np.searchsorted(ends, region.pages)) + 1]
    return np.diff(ends, prepend=0)


def with_large_pages(pool: int, page: np.ndarray, frame: np.ndarray, pages: np.ndarray) -> Rows:
    """Chunks as rows: 4KB pages up to the first aligned piece, 2MB pages, the rest in 4KB pages."""
    end = page + pages
    low = np.minimum(-(-page // PAGES_OF_2MB) * PAGES_OF_2MB, end)
    high = np.maximum(end // PAGES_OF_2MB * PAGES_OF_2MB, low)
    large = ((frame - page) % PAGES_OF_2MB == 0) & (high > low)
    low, high = np.where(large, low, end), np.where(large, high, end)
    begins = np.stack([page, low, high], axis=1)
    lengths_ = np.stack([low - page, high - low, end - high], axis=1)
    frames = np.broadcast_to((frame - page)[:, None], begins.shape) + begins
    sizes = np.broadcast_to(np.array([1, PAGES_OF_2MB, 1]), begins.shape)
    some = lengths_ > 0
    return Rows(np.full(int(some.sum()), pool), begins[some], frames[some], lengths_[some], sizes[some])
