"""Ranges of pages in run-length form: five numpy arrays, never an object per page.

A row maps ``pages`` consecutive 4KB pages of one pool, from ``page`` on, to consecutive 4KB frames from
``frame`` on. All five columns count in pages of 4KB. ``size`` is the number of 4KB pages in one page of the
row: 1 (4KB), 512 (2MB) or 262144 (1GB). ``frame`` is :data:`UNMAPPED` in a row that removes a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB

POOLS = ("brk", "mmap")  #: as in layout files; column ``pool`` holds the index
UNMAPPED = -1
PAGES_OF_2MB, PAGES_OF_1GB = PAGE_2MB // PAGE_4KB, PAGE_1GB // PAGE_4KB
SIZES = {"4KB": 1, "2MB": PAGES_OF_2MB, "1GB": PAGES_OF_1GB}  #: name in the file -> column ``size``
SIZE_NAMES = {pages: name for name, pages in SIZES.items()}
_POOL_SHIFT = 40  #: pages are below 2^36, and ends of ranges below 2^37


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one moment; each array has the shape ``(rows,)`` and the type int64."""

    pool: np.ndarray
    page: np.ndarray
    frame: np.ndarray
    pages: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Sequence]) -> Rows:
        """From tuples ``(pool name, page, frame, pages, size name)``; a frame of None is unmapped."""
        table = [
            (POOLS.index(pool), page, UNMAPPED if frame is None else frame, pages, SIZES[size])
            for pool, page, frame, pages, size in rows
        ]
        columns = np.array(table, dtype=np.int64).reshape(-1, 5).T
        return cls(*columns)

    @classmethod
    def empty(cls) -> Rows:
        """No rows."""
        return cls.of([])

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, in order of the parts."""
        parts = parts or [cls.empty()]
        return cls(*(np.concatenate(columns) for columns in zip(*map(Rows.columns, parts), strict=True)))

    def __len__(self) -> int:
        return len(self.page)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.columns(), other.columns(), strict=True))

    __hash__ = None

    def columns(self) -> tuple[np.ndarray, ...]:
        """The five arrays: pool, page, frame, pages, size."""
        return self.pool, self.page, self.frame, self.pages, self.size

    def where(self, chosen: np.ndarray) -> Rows:
        """The rows of a mask or of indices."""
        return Rows(*(column[chosen] for column in self.columns()))

    @property
    def start(self) -> np.ndarray:
        """Pool and page in one number, for sorting and searching."""
        return (self.pool << _POOL_SHIFT) + self.page

    @property
    def end(self) -> np.ndarray:
        """The number behind the last page, as :attr:`start`."""
        return self.start + self.pages

    @property
    def mapped(self) -> np.ndarray:
        """Which rows have a frame."""
        return self.frame != UNMAPPED

    def tuples(self) -> list[tuple]:
        """The rows as :meth:`of` takes them; for messages and tests."""
        return [
            (POOLS[pool], page, None if frame == UNMAPPED else frame, pages, SIZE_NAMES[size])
            for pool, page, frame, pages, size in zip(*(c.tolist() for c in self.columns()), strict=True)
        ]

    def in_order(self) -> Rows:
        """The rows sorted by pool and page."""
        return self.where(np.argsort(self.start, kind="stable"))

    def merged(self) -> Rows:
        """Sorted disjoint rows with neighbours of one page size and one offset joined: the shortest form."""
        if len(self) < 2:
            return self
        start, end, mapped = self.start, self.end, self.mapped
        apart = (
            (start[1:] != end[:-1])
            | (self.size[1:] != self.size[:-1])
            | (mapped[1:] != mapped[:-1])
            | (mapped[1:] & (self.frame[1:] - self.page[1:] != self.frame[:-1] - self.page[:-1]))
        )
        first = np.concatenate(([0], np.flatnonzero(apart) + 1))
        found = self.where(first)
        return Rows(found.pool, found.page, found.frame, np.add.reduceat(self.pages, first), found.size)

    def split(self, cuts: np.ndarray) -> Rows:
        """The same pages with a row boundary at each of ``cuts`` (sorted numbers as :attr:`start`)."""
        start, end = self.start, self.end
        low = np.searchsorted(cuts, start, side="right")
        inside = np.maximum(np.searchsorted(cuts, end, side="left") - low, 0)
        row = np.repeat(np.arange(len(self)), inside + 1)
        place = np.arange(len(row)) - np.repeat(np.cumsum(inside + 1) - (inside + 1), inside + 1)
        # piece 0 begins with the row, piece i at the i-th cut inside it
        padded = np.append(cuts, 0)
        begin = np.where(place == 0, start[row], padded[np.minimum(low[row] + place - 1, len(cuts))])
        stop = np.append(begin[1:], 0)
        last = place == inside[row]
        stop = np.where(last, end[row], stop)
        shift = begin - start[row]
        frame = np.where(self.mapped[row], self.frame[row] + shift, UNMAPPED)
        return Rows(self.pool[row], self.page[row] + shift, frame, stop - begin, self.size[row])
