"""The rules over the rows of a mapping whose file was parsed; each is one line of :data:`rules.RULES`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tessera.mapping.rows import SIZES, UNMAPPED, Rows
from tessera.mapping.rules import MappingRefused
from tessera.mapping.states import Mapping, cut_pages, replaced

PAGE_LIMIT, FRAME_LIMIT = 1 << 36, 1 << 40
_FIRST_LINE = 2  #: line 1 is the header, and each further line is a row


def checked(name: str, path: Path | str, epoch: np.ndarray, rows: Rows) -> Mapping:
    """The mapping, if its rows obey every rule.

    Args:
        epoch: of each row, shape ``(rows,)``, int64.
        rows: in the order of the file.

    Raises:
        MappingRefused: the first row, from the top, that breaks a rule; then rules over the epochs.
    """
    if not len(rows):
        raise MappingRefused(path, 1, "epoch", "", "mapping/no-rows")
    _each_row(path, epoch, rows)
    if epoch[0] != 0:
        raise MappingRefused(path, _FIRST_LINE, "epoch", epoch[0], "mapping/first-epoch")
    first = np.concatenate(([0], np.flatnonzero(np.diff(epoch)) + 1, [len(rows)]))
    found: dict[int, Rows] = {}
    state = Rows.empty()
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        part = rows.where(slice(low, high))
        state = _epoch(path, state, part, low)
        found[int(epoch[low])] = part.merged()
    return Mapping(name, found)


def _each_row(path: Path | str, epoch: np.ndarray, rows: Rows) -> None:
    """Rules over a row and the one above it."""
    start, end, bare = rows.start, rows.end, ~rows.mapped
    same = np.concatenate(([False], epoch[1:] == epoch[:-1]))
    above_start, above_end = np.concatenate(([0], start[:-1])), np.concatenate(([0], end[:-1]))
    one_pool = same & np.concatenate(([False], rows.pool[1:] == rows.pool[:-1]))
    wide = (
        (rows.page >= PAGE_LIMIT)
        | (rows.pages >= PAGE_LIMIT)
        | (rows.pages < 1)
        | (rows.frame >= FRAME_LIMIT)
    )
    frame = np.where(bare, 0, rows.frame)
    crooked = (rows.page % rows.size != 0) | (frame % rows.size != 0) | (rows.pages % rows.size != 0)
    earlier = np.concatenate(([False], epoch[1:] < epoch[:-1])) | (same & (start <= above_start))
    broken = [
        ("mapping/range", "pages", wide, rows.pages),
        ("mapping/unmapped-size", "page_size", bare & (rows.size != SIZES["4KB"]), rows.size),
        ("mapping/alignment", "page", crooked, rows.page),
        ("mapping/unsorted", "page", earlier, rows.page),
        ("mapping/overlap", "page", one_pool & (start < above_end), rows.page),
    ]
    faults = [(int(bad.argmax()), at) for at, (_, _, bad, _) in enumerate(broken) if bad.any()]
    if faults:
        row, at = min(faults)
        rule, column, _, values = broken[at]
        raise MappingRefused(path, row + _FIRST_LINE, column, values[row], rule)


def _epoch(path: Path | str, state: Rows, change: Rows, low: int) -> Rows:
    """The state after an epoch whose first row is row ``low`` of the file."""
    if low == 0 and not change.mapped.all():
        row = int((~change.mapped).argmax())
        raise MappingRefused(path, row + _FIRST_LINE, "frame", "", "mapping/first-unmapped")
    bad = cut_pages(state, change)
    if bad.any():
        row = int(bad.argmax())
        raise MappingRefused(path, low + row + _FIRST_LINE, "page", change.page[row], "mapping/cut-page")
    state = replaced(state, change)
    frame = shared_frame(state)
    if frame is not None:
        new = change.mapped & (change.frame <= frame) & (frame < change.frame + change.pages)
        raise MappingRefused(
            path, low + int(np.flatnonzero(new)[-1]) + _FIRST_LINE, "frame", frame, "mapping/frames"
        )
    return state


def shared_frame(state: Rows) -> int | None:
    """The lowest frame that two pages of a state have; None if there is none."""
    by_frame = state.where(np.argsort(state.frame, kind="stable"))
    behind = np.maximum.accumulate(by_frame.frame + by_frame.pages)
    twice = by_frame.frame[1:] < behind[:-1]
    assert UNMAPPED not in by_frame.frame
    return int(by_frame.frame[1:][twice][0]) if twice.any() else None
