"""Regions that get frames, random numbers that repeat on every machine, and synthetic mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.mapping.mapping_file import PAGE_LIMIT
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, POOLS, MappingRows
from tessera.core.units import PAGE_4KB, parse_bytes, round_up

# Regions that get frames: the used spans of the pools, of a trace or given by the user.


@dataclass(frozen=True)
class UsedPages:
    """The first ``pages`` pages of 4KB of a pool."""

    pool: str
    pages: int

    @property
    def number(self) -> int:
        """Index of the pool; streams of random numbers have it too."""
        return POOLS.index(self.pool)


def regions_of_bytes(sizes: Mapping[str, int], owner: str) -> list[UsedPages]:
    """Regions of pools -> bytes, rounded up to 4KB, in the order of ``POOLS``; empty pools are left out.

    Raises:
        TesseraError: an unknown pool, no used pool, or one of 2^48 bytes or more.
    """
    for pool, size in sizes.items():
        if pool not in POOLS:
            raise unknown_name("pool", pool, POOLS)
        if size >= PAGE_LIMIT * PAGE_4KB:
            raise TesseraError(
                f"pool {pool} of {size} bytes", "the limit is 2^48 bytes", "give a smaller size"
            )
    found = [
        UsedPages(pool, round_up(sizes[pool], PAGE_4KB) // PAGE_4KB) for pool in POOLS if sizes.get(pool)
    ]
    if not found:
        raise TesseraError(
            owner,
            "no pool has used bytes, so there is nothing to map",
            "give a size, for example --pool mmap=8GB",
        )
    return found


def regions_of_trace(info: Mapping) -> list[UsedPages]:
    """The used spans of ``tessera.record.traces.info``'s pools."""
    sizes = {pool["kind"]: pool["used_bytes"] for pool in info["pools"]}
    return regions_of_bytes(sizes, f"trace of '{info.get('program', '')}'")


def regions_of_texts(texts: Sequence[str]) -> list[UsedPages]:
    """Regions of words such as ``mmap=8GB``.

    Raises:
        TesseraError: a word has another form, or names a pool for the second time.
    """
    sizes: dict[str, int] = {}
    for text in texts:
        pool, equals, size = text.partition("=")
        if not equals:
            raise TesseraError(f"--pool {text}", "this is not POOL=SIZE", "write for example --pool mmap=8GB")
        if pool in sizes:
            raise TesseraError(f"--pool {text}", f"{pool} is given twice", "give each pool once")
        sizes[pool] = parse_bytes(size, owner=f"--pool {pool}=")
    return regions_of_bytes(sizes, "--pool")


# Random numbers that repeat on every machine: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
#
# The numbers of a seed and a stream are the outputs of a generator whose state begins with output ``stream``
# of a generator whose state begins with the seed. A stream is the place of a region, or a purpose named by
# its user.

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def splitmix_outputs(state: int, count: int) -> np.ndarray:
    """The first outputs of the generator from ``state``; shape ``(count,)``, uint64."""
    with np.errstate(over="ignore"):
        z = np.uint64(state & _MASK) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(_GOLDEN)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def random_numbers(seed: int, number: int, count: int) -> np.ndarray:
    """``count`` outputs of one stream of a seed; shape ``(count,)``, uint64."""
    return splitmix_outputs(int(splitmix_outputs(seed, number + 1)[number]), count)


def uniform_numbers(numbers: np.ndarray, low: int, high: int) -> np.ndarray:
    """Whole numbers low..high (both included, fewer than 2^32 values) from the upper halves; int64."""
    span = np.uint64(high - low + 1)
    return low + (((numbers >> np.uint64(32)) * span) >> np.uint64(32)).astype(np.int64)


# Synthetic mappings of Park (KAIST 2019): chunks of random (Table 3.4) or equal length (Figure 3.17).
#
# From page v = 0 of a region, chunks of s = U{low..high} pages follow each other; the last is cut at the
# end. A chunk gets the next free frame f = v mod ``alignment``, with at least one frame left free behind the
# chunk before it, so that two chunks never join. Aligned pieces of 512 pages inside a chunk are 2MB pages.
#
# Assumed: the paper does not say where chunks lie in physical memory. With an alignment of 512 (the
# default), virtual and physical pages agree within 2MB, as in a kernel that aligns large blocks. An
# alignment of 1 is the ablation: cluster TLBs and 2MB pages depend on it.
#
# With f_0 the first frame of a region, chunk i lies at f_0 + v + i * alignment: all chunks before it end at
# a frame equal to v (mod alignment), and each leaves one free step of ``alignment`` frames, of which one is
# needed.

#: kind -> smallest and largest chunk in pages; None: one chunk a region
CHUNK_LENGTHS: dict[str, tuple[int, int] | None] = {
    "low": (1, 16),
    "medium": (1, 512),
    "high": (512, 65536),
    "max": None,
}
#: chunks of one length: 1, 2, 4, ..., 65536 pages; all but the first are distances of Algorithm 1
EQUAL_LENGTHS = {f"pages-{1 << power}": (1 << power, 1 << power) for power in range(17)}
#: ends the name of a kind of one length whose pages all have 4KB, as without transparent huge pages
ONLY_4KB = "-4kb"


def synthetic_rows(
    kind: str, regions: Sequence[UsedPages], seed: int, alignment: int = PAGES_OF_2MB
) -> MappingRows:
    """Rows of every page of the regions, sorted.

    Args:
        kind: a key of :data:`CHUNK_LENGTHS` or :data:`EQUAL_LENGTHS`, with :data:`ONLY_4KB` or without.
        alignment: pages; 1, 2, 4, ..., 512.

    Raises:
        TesseraError: the alignment is no such number.
    """
    if alignment not in {1 << k for k in range(10)}:
        raise TesseraError(
            f"alignment {alignment}", "it must be a power of two from 1 to 512 pages", "give 512 or 1"
        )
    parts, free = [], 0
    lengths = kind.removesuffix(ONLY_4KB)
    for region in regions:
        first = chunk_lengths(lengths, region, seed)
        page = np.concatenate(([0], np.cumsum(first)[:-1]))
        frame = round_up(free, alignment) + page + alignment * np.arange(len(page))
        free = int(frame[-1] + first[-1]) + 1
        if lengths == kind:
            parts.append(with_large_pages(region.number, page, frame, first))
        else:
            parts.append(
                MappingRows(np.full_like(page, region.number), page, frame, first, np.ones_like(page))
            )
    return MappingRows.joined(parts)


def chunk_lengths(kind: str, region: UsedPages, seed: int) -> np.ndarray:
    """Pages of each chunk of a region, shape ``(chunks,)``; their sum is the region's."""
    bounds = EQUAL_LENGTHS[kind] if kind in EQUAL_LENGTHS else CHUNK_LENGTHS[kind]
    if bounds is None:
        return np.array([region.pages])
    low, high = bounds
    found = np.zeros(0, dtype=np.int64)
    count = 2 * region.pages // (low + high) + 64
    while found.sum() < region.pages:  # a longer beginning of the same stream
        found = uniform_numbers(random_numbers(seed, region.number, count), low, high)
        count *= 2
    ends = np.minimum(np.cumsum(found), region.pages)
    ends = ends[: int(np.searchsorted(ends, region.pages)) + 1]
    return np.diff(ends, prepend=0)


def with_large_pages(pool: int, page: np.ndarray, frame: np.ndarray, pages: np.ndarray) -> MappingRows:
    """Chunks as rows: 4KB pages up to the first aligned piece, 2MB pages, the rest in 4KB pages."""
    end = page + pages
    low = np.minimum(-(-page // PAGES_OF_2MB) * PAGES_OF_2MB, end)
    high = np.maximum(end // PAGES_OF_2MB * PAGES_OF_2MB, low)
    large = ((frame - page) % PAGES_OF_2MB == 0) & (high > low)
    low, high = np.where(large, low, end), np.where(large, high, end)
    begins = np.stack([page, low, high], axis=1)
    lengths = np.stack([low - page, high - low, end - high], axis=1)
    frames = np.broadcast_to((frame - page)[:, None], begins.shape) + begins
    sizes = np.broadcast_to(np.array([1, PAGES_OF_2MB, 1]), begins.shape)
    some = lengths > 0
    return MappingRows(np.full(int(some.sum()), pool), begins[some], frames[some], lengths[some], sizes[some])
