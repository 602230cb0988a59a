"""What ``tessera mapping show`` prints of one state of a mapping."""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.units import PAGE_4KB, format_bytes
from tessera.mapping.anchor_distance import READINGS, anchor_distance, cost
from tessera.mapping.chunks import Histogram, histogram
from tessera.mapping.rows import SIZES, Rows


@dataclass(frozen=True)
class Summary:
    """Counts of one state.

    Attributes:
        pages: name of a page size -> number of pages of this size.
        distances: reading of Algorithm 1 -> (anchor distance in pages, its cost).
    """

    pages: dict[str, int]
    histogram: Histogram
    distances: dict[str, tuple[int, float]]

    @classmethod
    def of(cls, state: Rows) -> Summary:
        """Of sorted disjoint rows; a state without rows has no distances."""
        pages = {name: int(state.pages[state.size == size].sum()) // size for name, size in SIZES.items()}
        found = histogram(state)
        distances = {}
        if found.chunks:
            for reading in READINGS:
                distance = anchor_distance(found, reading)
                distances[reading] = distance, float(cost(found, distance, reading))
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
