"""Contiguity of a mapping: its chunks, the anchor distance that a system chooses, and a summary."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.mapping.page_mapping import PAGES_OF_2MB, SIZES, MappingRows
from tessera.core.units import PAGE_4KB, format_bytes

# Contiguity: the chunks of a state and their histogram.
#
# A chunk is a maximal run of virtual pages of one pool with constant frame - page, whatever its page sizes
# (Park, KAIST 2019, 3.2). Pages outside the pools are not in a mapping; each is a chunk of one 4KB page.


@dataclass(frozen=True, eq=False)
class ChunkHistogram:
    """``frequency[i]`` chunks have ``contiguity[i]`` pages of 4KB; both int64, contiguity ascending."""

    contiguity: np.ndarray
    frequency: np.ndarray

    @classmethod
    def of(cls, pairs) -> ChunkHistogram:
        """From (contiguity, frequency) pairs."""
        table = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return cls(table[:, 0], table[:, 1])

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return int(self.frequency.sum())

    @property
    def pages(self) -> int:
        """Pages of 4KB in all chunks."""
        return int((self.contiguity * self.frequency).sum())

    def by_powers_of_two(self) -> list[tuple[int, int, int, int]]:
        """(low, high, chunks, pages) for each range low..high = 2^k .. 2^(k+1) - 1 that has chunks."""
        power = np.frexp(self.contiguity.astype(np.float64))[1] - 1
        found = []
        for k in np.unique(power).tolist():
            here = power == k
            pages = int((self.contiguity[here] * self.frequency[here]).sum())
            found.append((1 << k, (2 << k) - 1, int(self.frequency[here].sum()), pages))
        return found


def chunk_pages(state: MappingRows) -> np.ndarray:
    """Pages of 4KB of each chunk, in order of pool and page; ``state`` is sorted and disjoint."""
    one = np.ones_like(state.size)
    return MappingRows(state.pool, state.page, state.frame, state.pages, one).merged().pages


def chunk_histogram(state: MappingRows) -> ChunkHistogram:
    """The histogram of a state's chunks."""
    return ChunkHistogram(*np.unique(chunk_pages(state), return_counts=True))


# Algorithm 1 of Park (KAIST 2019, 3.4): the anchor distance that the system chooses from a histogram.
#
# For a distance d, a chunk of c pages needs a = floor(c/d) anchors; of the rest r = c mod d, l =
# floor(r/512) entries of 2MB pages and p = r mod 512 entries of 4KB pages. The alignment of chunks is
# ignored. The text of 3.4.1 gives this remainder; the printed listing does not define it. The cost of d has
# two readings, summed over all chunks:
#
# - ``count``: a + l + p, "the number of TLB entries";
# - ``printed``: a/d + l/512 + p, as the listing and the text weigh the entries.
#
# The distances of Table 3.6 agree with ``count``, which is therefore the default. Ties go to the smaller
# distance.

DISTANCES = tuple(1 << k for k in range(1, 17))
READINGS = ("count", "printed")


def distance_cost(histogram: ChunkHistogram, distance: int, reading: str = "count") -> Fraction:
    """The exact cost of one distance.

    Raises:
        TesseraError: the distance is no power of two in 2..2^16, or the reading is unknown.
    """
    if distance not in DISTANCES:
        raise TesseraError(
            f"anchor distance {distance}", "it must be a power of two from 2 to 65536", "give such a distance"
        )
    if reading not in READINGS:
        raise unknown_name("reading of Algorithm 1", reading, READINGS)
    contiguity, frequency = histogram.contiguity, histogram.frequency
    rest = contiguity % distance
    parts = (contiguity // distance, rest // PAGES_OF_2MB, rest % PAGES_OF_2MB)
    anchors, large, pages = (int((part * frequency).sum()) for part in parts)
    if reading == "count":
        return Fraction(anchors + large + pages)
    return Fraction(anchors, distance) + Fraction(large, PAGES_OF_2MB) + pages


def anchor_distance(histogram: ChunkHistogram, reading: str = "count") -> int:
    """The distance with the smallest cost, in pages of 4KB.

    Raises:
        TesseraError: there is no chunk, or the reading is unknown.
    """
    if not histogram.chunks:
        raise TesseraError("anchor distance", "the mapping has no chunk", "give a mapping with mapped pages")
    return min(DISTANCES, key=lambda distance: (distance_cost(histogram, distance, reading), distance))


# What ``tessera mapping show`` prints of one state of a mapping.


@dataclass(frozen=True)
class MappingSummary:
    """Counts of one state.

    Attributes:
        pages: name of a page size -> number of pages of this size.
        distances: reading of Algorithm 1 -> (anchor distance in pages, its cost).
    """

    pages: dict[str, int]
    histogram: ChunkHistogram
    distances: dict[str, tuple[int, float]]

    @classmethod
    def of(cls, state: MappingRows) -> MappingSummary:
        """Of sorted disjoint rows; a state without rows has no distances."""
        pages = {name: int(state.pages[state.size == size].sum()) // size for name, size in SIZES.items()}
        found = chunk_histogram(state)
        distances = {}
        if found.chunks:
            for reading in READINGS:
                distance = anchor_distance(found, reading)
                distances[reading] = distance, float(distance_cost(found, distance, reading))
        return cls(pages, found, distances)

    @property
    def mapped_pages(self) -> int:
        """Mapped memory in pages of 4KB."""
        return self.histogram.pages

    def share(self, name: str) -> float:
        """The part of mapped memory in pages of one size, 0..1."""
        return self.pages[name] * SIZES[name] / self.mapped_pages if self.mapped_pages else 0.0

    def lines(self) -> list[tuple[str, str]]:
        """Names and values, for a table."""
        mapped = f"{format_bytes(self.mapped_pages * PAGE_4KB)} ({self.mapped_pages} pages of 4KB)"
        found = [("mapped", mapped)]
        found += [
            (f"pages of {name}", f"{count} ({100 * self.share(name):.1f}% of the memory)")
            for name, count in self.pages.items()
        ]
        found.append(("chunks", str(self.histogram.chunks)))
        found += [
            (f"anchor distance, {reading}", f"{distance} pages (cost {value:g})")
            for reading, (distance, value) in self.distances.items()
        ]
        return found

    def histogram_rows(self) -> list[tuple[str, str, str]]:
        """Pages in a chunk, chunks, share of the memory, for a table."""
        return [
            (
                str(low) if low == high else f"{low}-{high}",
                str(chunks),
                f"{100 * pages / self.mapped_pages:.1f}%",
            )
            for low, high, chunks, pages in self.histogram.by_powers_of_two()
        ]
