"""The address space S of a traced program: its pools' used spans laid end to end (MICRO'20 VI-B)."""

from __future__ import annotations

from dataclasses import dataclass

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
                f"address space of '{info.get('program', 'trace')}'",
                "the program allocated nothing from the heap or the anonymous pool",
                "record a program that allocates memory, or import with --mmap-pool START:END",
            )
        return cls(used, sizes)

    @property
    def size(self) -> int:
        """Bytes of S (a multiple of 2MB)."""
        return sum(self.used_bytes.get(pool, 0) for pool in ORDER)

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
