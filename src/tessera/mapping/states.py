"""A mapping over time: rows by epoch, and the state that holds from an epoch on.

The rows of a later epoch replace what the ranges held before. A row must replace whole pages: if a part of
a 2MB page changes, the epoch has rows for the rest of it too (the operating system splits a page in the
same way).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tessera.mapping.rows import UNMAPPED, Rows


@dataclass(frozen=True)
class Mapping:
    """A named mapping: the rows of each epoch, epochs ascending from 0, rows sorted and disjoint.

    Attributes:
        epochs: number of the data access from which the rows hold -> rows.
    """

    name: str
    epochs: dict[int, Rows]

    @classmethod
    def fixed(cls, name: str, rows: Rows) -> Mapping:
        """A mapping that never changes."""
        return cls(name, {0: rows.in_order().merged()})

    def states(self) -> Iterator[tuple[int, Rows]]:
        """Each epoch with all rows that hold from it on."""
        state = Rows.empty()
        for epoch, change in self.epochs.items():
            state = replaced(state, change)
            yield epoch, state

    def at(self, access: int) -> Rows:
        """All rows that hold at a data access of the region of interest."""
        found = Rows.empty()
        for epoch, state in self.states():
            if epoch > access:
                break
            found = state
        return found


def covered(rows: Rows, ranges: Rows) -> np.ndarray:
    """Which rows begin inside one of the sorted disjoint ranges."""
    if not len(ranges):
        return np.zeros(len(rows), dtype=bool)
    at = np.searchsorted(ranges.start, rows.start, side="right") - 1
    return (at >= 0) & (rows.start < ranges.end[np.maximum(at, 0)])


def replaced(state: Rows, change: Rows) -> Rows:
    """``state`` after an epoch: the ranges of ``change`` hold its rows (nothing, where it has no frame)."""
    pieces = state.split(np.union1d(change.start, change.end))
    kept = pieces.where(~covered(pieces, change))
    return Rows.joined([kept, change.where(change.mapped)]).in_order().merged()


def cut_pages(state: Rows, change: Rows) -> np.ndarray:
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


def _inside_a_page(state: Rows, places: np.ndarray) -> np.ndarray:
    """Whether each place (a number as ``Rows.start``) is behind the begin of a page and before its end."""
    row = np.maximum(np.searchsorted(state.start, places, side="right") - 1, 0)
    offset = places - state.start[row]
    return (offset > 0) & (offset < state.pages[row]) & (offset % state.size[row] != 0)


def difference(old: Rows, new: Rows) -> Rows:
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
    removed = Rows(gone.pool, gone.page, UNMAPPED * one, gone.pages, one)
    return Rows.joined([after.where(~same), removed]).in_order().merged()
