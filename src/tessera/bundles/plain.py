"""Counts in their plain form, parsed with numpy: a large bundle has millions of them.

Rows in another form are not judged here: :mod:`tessera.bundles.shapes` parses them one by one.
"""

from __future__ import annotations

from array import array

import numpy as np

from tessera.bundles.values import LARGEST, NAME

_COMMA, _END, _ZERO = b",\n0"
_LONGEST = len(str(LARGEST))  #: digits of a whole number
_NAME_AT = 1  #: the column of names; the others are whole numbers


def counts(block: bytes, columns: int) -> list | None:
    """The columns of whole lines without a header; None if a cell is not plain or not of its kind."""
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero((data == _COMMA) | (data == _END))
    if not len(ends) or len(ends) % columns:
        return None
    starts = np.concatenate(([0], ends[:-1] + 1)).reshape(-1, columns)
    ends = ends.reshape(-1, columns)
    last = data[ends] == _END
    if last[:, :-1].any() or not last[:, -1].all():
        return None
    found: list = []
    for column in range(columns):
        cells = starts[:, column], ends[:, column]
        values = _names(block, *cells) if column == _NAME_AT else _numbers(data, *cells)
        if values is None:
            return None
        found.append(values)
    return found


def _numbers(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> array | None:
    """Whole numbers as :data:`tessera.bundles.values.WHOLE` reads them."""
    widths = ends - starts
    if widths.min() < 1 or widths.max() > _LONGEST or ((data[starts] == _ZERO) & (widths > 1)).any():
        return None
    values = np.zeros(len(starts), np.int64)
    for at in range(widths.max()):
        inside = at < widths
        digits = data[np.where(inside, starts + at, starts)] - np.uint8(_ZERO)  # others become large
        if (digits > 9).any():
            return None
        values = np.where(inside, values * 10 + digits, values)
    return array("q", values.tobytes()) if values.max() <= LARGEST else None


def _names(block: bytes, starts: np.ndarray, ends: np.ndarray) -> list[str] | None:
    cells = [block[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    try:
        known = {cell: NAME.read(cell.decode("ascii")) for cell in set(cells)}
    except ValueError:
        return None
    return [known[cell] for cell in cells]
