"""A mapping: ranges of pages as arrays, states by epoch, frames of pages, a guest over its host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB

# Ranges of pages in run-length form: five numpy arrays, never an object per page.
#
# A row maps ``pages`` consecutive 4KB pages of one pool, from ``page`` on, to consecutive 4KB frames from
# ``frame`` on. All five columns count in pages of 4KB. ``size`` is the number of 4KB pages in one page of
# the row: 1 (4KB), 512 (2MB) or 262144 (1GB). ``frame`` is :data:`UNMAPPED` in a row that removes a range.

POOLS = ("brk", "mmap")  #: as in layout files; column ``pool`` holds the index
UNMAPPED = -1
PAGES_OF_2MB, PAGES_OF_1GB = PAGE_2MB // PAGE_4KB, PAGE_1GB // PAGE_4KB
SIZES = {"4KB": 1, "2MB": PAGES_OF_2MB, "1GB": PAGES_OF_1GB}  #: name in the file -> column ``size``
SIZE_NAMES = {pages: name for name, pages in SIZES.items()}
_POOL_SHIFT = 40  #: pages are below 2^36, and ends of ranges below 2^37


@dataclass(frozen=True, eq=False)
class MappingRows:
    """Rows of one moment; each array has the shape ``(rows,)`` and the type int64."""

    pool: np.ndarray
    page: np.ndarray
    frame: np.ndarray
    pages: np.ndarray
    size: np.ndarray

    @classmethod
    def of(cls, rows: Iterable[Sequence]) -> MappingRows:
        """From tuples ``(pool name, page, frame, pages, size name)``; a frame of None is unmapped."""
        table = [
            (POOLS.index(pool), page, UNMAPPED if frame is None else frame, pages, SIZES[size])
            for pool, page, frame, pages, size in rows
        ]
        columns = np.array(table, dtype=np.int64).reshape(-1, 5).T
        return cls(*columns)

    @classmethod
    def empty(cls) -> MappingRows:
        """No rows."""
        return cls.of([])

    @classmethod
    def joined(cls, parts: Sequence[MappingRows]) -> MappingRows:
        """The rows of all parts, in order of the parts."""
        parts = parts or [cls.empty()]
        return cls(
            *(np.concatenate(columns) for columns in zip(*map(MappingRows.columns, parts), strict=True))
        )

    def __len__(self) -> int:
        return len(self.page)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MappingRows):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.columns(), other.columns(), strict=True))

    def columns(self) -> tuple[np.ndarray, ...]:
        """The five arrays: pool, page, frame, pages, size."""
        return self.pool, self.page, self.frame, self.pages, self.size

    def where(self, chosen: np.ndarray | slice) -> MappingRows:
        """The rows of a mask, of indices or of a slice."""
        return MappingRows(*(column[chosen] for column in self.columns()))

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

    def in_order(self) -> MappingRows:
        """The rows sorted by pool and page."""
        return self.where(np.argsort(self.start, kind="stable"))

    def merged(self) -> MappingRows:
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
        return MappingRows(
            found.pool, found.page, found.frame, np.add.reduceat(self.pages, first), found.size
        )

    def split(self, cuts: np.ndarray) -> MappingRows:
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
        return MappingRows(self.pool[row], self.page[row] + shift, frame, stop - begin, self.size[row])


# A mapping over time: rows by epoch, and the state that holds from an epoch on.
#
# The rows of a later epoch replace what the ranges held before. A row must replace whole pages: if a part of
# a 2MB page changes, the epoch has rows for the rest of it too (the operating system splits a page in the
# same way).


@dataclass(frozen=True)
class PageMapping:
    """A named mapping: the rows of each epoch, epochs ascending from 0, rows sorted and disjoint.

    Attributes:
        epochs: number of the data access from which the rows hold -> rows.
    """

    name: str
    epochs: dict[int, MappingRows]

    @classmethod
    def fixed(cls, name: str, rows: MappingRows) -> PageMapping:
        """A mapping that never changes."""
        return cls(name, {0: rows.in_order().merged()})

    def states(self) -> Iterator[tuple[int, MappingRows]]:
        """Each epoch with all rows that hold from it on."""
        state = MappingRows.empty()
        for epoch, change in self.epochs.items():
            state = replaced_rows(state, change)
            yield epoch, state

    def at(self, access: int) -> MappingRows:
        """All rows that hold at a data access of the region of interest."""
        found = MappingRows.empty()
        for epoch, state in self.states():
            if epoch > access:
                break
            found = state
        return found


def covered_rows(rows: MappingRows, ranges: MappingRows) -> np.ndarray:
    """Which rows begin inside one of the sorted disjoint ranges."""
    if not len(ranges):
        return np.zeros(len(rows), dtype=bool)
    at = np.searchsorted(ranges.start, rows.start, side="right") - 1
    return (at >= 0) & (rows.start < ranges.end[np.maximum(at, 0)])


def replaced_rows(state: MappingRows, change: MappingRows) -> MappingRows:
    """``state`` after an epoch: the ranges of ``change`` hold its rows (nothing, where it has no frame)."""
    pieces = state.split(np.union1d(change.start, change.end))
    kept = pieces.where(~covered_rows(pieces, change))
    return MappingRows.joined([kept, change.where(change.mapped)]).in_order().merged()


def cut_pages(state: MappingRows, change: MappingRows) -> np.ndarray:
    """Which rows of ``change`` begin or end a replaced range inside a page of ``state`` larger than 4KB."""
    bad = np.zeros(len(change), dtype=bool)
    if not len(state) or not len(change):
        return bad
    apart = change.start[1:] != change.end[:-1]
    first = np.flatnonzero(np.concatenate(([True], apart)))
    last = np.flatnonzero(np.concatenate((apart, [True])))
    bad[first] |= _inside_a_page(state, change.start[first])
    bad[last] |= _inside_a_page(state, change.end[last])
    return bad


def _inside_a_page(state: MappingRows, places: np.ndarray) -> np.ndarray:
    """Whether each place (a number as ``Rows.start``) is behind the begin of a page and before its end."""
    row = np.maximum(np.searchsorted(state.start, places, side="right") - 1, 0)
    offset = places - state.start[row]
    return (offset > 0) & (offset < state.pages[row]) & (offset % state.size[row] != 0)


def rows_of_change(old: MappingRows, new: MappingRows) -> MappingRows:
    """The rows of an epoch that turns the state ``old`` into ``new``; both sorted and disjoint."""
    cuts = np.unique(np.concatenate([old.start, old.end, new.start, new.end]))
    before, after = old.split(cuts), new.split(cuts)
    at = np.searchsorted(before.start, after.start)
    there = at < len(before)
    row = np.where(there, at, 0)
    same = np.zeros(len(after), dtype=bool)
    if len(before):
        equal = zip(*((r.start, r.frame, r.size) for r in (before.where(row), after)), strict=True)
        same = there & np.logical_and.reduce([a == b for a, b in equal])
    gone = before.where(~np.isin(before.start, after.start))
    one = np.ones(len(gone), dtype=np.int64)
    removed = MappingRows(gone.pool, gone.page, UNMAPPED * one, gone.pages, one)
    return MappingRows.joined([after.where(~same), removed]).in_order().merged()


# A guest's mapping over its host's: what nested paging translates a page to (Park, KAIST 2019, 2.5 and 3.6).
#
# The host's mapping is a mapping file, too. Page g of its pool ``mmap`` is the guest's frame g. The composed
# page has the host's frame, and the smaller of both page sizes, which is what a TLB can hold. Chunks of both
# intersect: a guest's chunk of 4 pages over two host chunks of 2 gives two chunks of 2.

HOST_POOL = "mmap"


def compose_mappings(guest: PageMapping, host: PageMapping) -> PageMapping:
    """The composed mapping, with an epoch at each epoch of the two that changes it.

    Raises:
        TesseraError: the host maps no frame to a page that the guest uses; ``code`` is ``mapping/host``.
    """
    numbers = sorted({*guest.epochs, *host.epochs})
    before, found = MappingRows.empty(), {}
    for number in numbers:
        names = (guest.name, host.name)
        after = compose_states(guest.at(number), host.at(number), *names)
        change = rows_of_change(before, after)
        if len(change):
            found[number] = change
        before = after
    return PageMapping(f"{guest.name}-over-{host.name}", found)


def compose_states(
    guest: MappingRows, host: MappingRows, guest_name: str = "guest", host_name: str = "host"
) -> MappingRows:
    """The same for one state of each."""
    host = host.where(host.pool == POOLS.index(HOST_POOL))
    # where the guest's rows lie in its physical memory, as rows whose `page` is the guest's frame
    physical = MappingRows(
        np.full(len(guest), POOLS.index(HOST_POOL)), guest.frame, guest.page, guest.pages, guest.size
    )
    order = np.argsort(physical.page, kind="stable")
    pieces = physical.where(order).split(np.union1d(host.start, host.end))
    row = np.searchsorted(host.start, pieces.start, side="right") - 1
    known = row >= 0
    row = np.maximum(row, 0)
    if len(host):
        known &= pieces.start < host.end[row]
    if not known.all():
        at = int((~known).argmax())
        raise TesseraError(
            f"host mapping {host_name}",
            f"page {pieces.page[at]} of pool mmap has no row, and guest mapping {guest_name} uses this frame",
            "make a host mapping that is larger: tessera mapping generate --pool mmap=SIZE",
            code="mapping/host",
        )
    # `pieces.frame` is the guest's virtual page; its pool is that of the row it was cut from
    source = np.searchsorted(guest.frame[order], pieces.page, side="right") - 1
    return (
        MappingRows(
            guest.pool[order][source],
            pieces.frame,
            host.frame[row] + pieces.page - host.page[row],
            pieces.pages,
            np.minimum(pieces.size, host.size[row]),
        )
        .in_order()
        .merged()
    )
