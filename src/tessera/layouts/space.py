"""The address space S of a traced program: its pools' used spans laid end to end (MICRO'20 VI-B).

Windows are chosen by *places*, pages of 2MB that are numbered from 0. In the paper's S every page of the used
spans is a place. With `on_touched`, only pages that the recorded part touches are places: a window starts and
ends on one, so a step never moves it over memory that no access reaches, which would repeat a sample.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB, round_up
from tessera.layouts.model import Layout, Window
from tessera.layouts.names import ALL_1GB

ORDER = ("brk", "mmap")  #: heap first, then the anonymous pool


@dataclass(frozen=True)
class Space:
    """Used and reserved bytes of each pool; a position in S is a byte offset in [0, size)."""

    used_bytes: dict[str, int]
    pool_bytes: dict[str, int]
    touched: tuple[int, ...] = ()  #: pages of S that are places, in order; empty: all of them

    @classmethod
    def from_trace_info(cls, info: dict) -> Space:
        """Spans of ``tessera.record.traces.info``'s pools, rounded up to 2MB.

        Raises:
            TesseraError: the program used no pool at all, so no layout can act on it.
        """
        used, sizes = {}, {}
        for pool in info["pools"]:
            used[pool["kind"]] = round_up(pool["used_bytes"], PAGE_2MB)
            sizes[pool["kind"]] = pool["size_bytes"]
        if not sum(used.values()):
            raise TesseraError(
                f"address space of {info.get('program', 'trace')!r}",
                "the program allocated nothing from the heap or the anonymous pool",
                "record a program that allocates memory, or import with --mmap-pool START:END",
            )
        return cls(used, sizes)

    @property
    def size(self) -> int:
        """Bytes of S (a multiple of 2MB)."""
        return sum(self.used_bytes.get(pool, 0) for pool in ORDER)

    @property
    def places(self) -> int:
        """Number of pages of 2MB that windows start and end on."""
        return len(self.touched) or self.size // PAGE_2MB

    def on_touched(self, pages: Iterable[int]) -> Space:
        """The same S with these pages as places; with no page at all it stays as it is."""
        return replace(self, touched=tuple(sorted(set(pages))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Bytes [low, high) of S from the first to the last of the places in [start, end).

        All places together are all of S, so all-2MB is the same layout with every choice of places.
        """
        if start >= end:
            return 0, 0
        if not self.touched:
            return start * PAGE_2MB, end * PAGE_2MB
        if (start, end) == (0, self.places):
            return 0, self.size
        return self.touched[start] * PAGE_2MB, (self.touched[end - 1] + 1) * PAGE_2MB

    def position(self, pool: str, offset: int) -> int:
        """Position in S of an offset in a pool."""
        before = ORDER[: ORDER.index(pool)]
        return sum(self.used_bytes.get(name, 0) for name in before) + offset

    def windows(self, start: int, end: int) -> tuple[Window, ...]:
        """2MB windows that back positions [start, end) of S, clipped to S (both multiples of 2MB)."""
        found, base = [], 0
        for pool in ORDER:
            span = self.used_bytes.get(pool, 0)
            low, high = max(start - base, 0), min(end - base, span)
            if low < high:
                found.append(Window(pool, low, high, PAGE_2MB))
            base += span
        return tuple(found)

    def layout(self, name: str, start: int, end: int) -> Layout:
        """The layout with one 2MB window over positions [start, end) of S."""
        return Layout(name, dict(self.pool_bytes), self.windows(start, end))

    def layout_1gb(self) -> Layout:
        """The test point: every used pool in 1GB pages (VII-D); pools grow to whole pages."""
        pools = {
            pool: round_up(size, PAGE_1GB) if self.used_bytes.get(pool) else size
            for pool, size in self.pool_bytes.items()
        }
        windows = tuple(
            Window(pool, 0, round_up(span, PAGE_1GB), PAGE_1GB)
            for pool, span in self.used_bytes.items()
            if span
        )
        return Layout(ALL_1GB, pools, windows)
