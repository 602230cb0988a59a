"""Parses the text of a mapping file into numpy arrays, or reports the first line that breaks a rule.

A file is read in one of two ways with one result. The form that :mod:`file` writes is read at once. Else each
line is read by itself, which names the first broken rule; line ends CR LF and leading zeros are read there.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tessera.core.table_columns import SEPARATORS, TableRefused
from tessera.core.table_file import decoded, regular
from tessera.mapping.columns import POOL_NUMBERS, columns
from tessera.mapping.rows import POOLS, SIZES, UNMAPPED, Rows
from tessera.mapping.rules import MappingRefused

HEADER = ("epoch", "pool", "page", "frame", "pages", "page_size")
EPOCH_LIMIT = 1 << 63
_NUMBERS = (0, 2, 3, 4)
#: The form that :mod:`file` writes; numbers of at most 18 digits fit into int64.
_PLAIN = re.compile(
    rb"epoch,pool,page,frame,pages,page_size\n"
    rb"(?:[0-9]{1,18},(?:brk|mmap),[0-9]{1,18},[0-9]{0,18},[0-9]{1,18},(?:4KB|2MB|1GB)\n)*+"
)


def parse(path: Path | str, data: bytes) -> tuple[np.ndarray, Rows]:
    """Epoch of each row (shape ``(rows,)``) and the rows, in the order of the file.

    Raises:
        MappingRefused: with the line, the column, the value and the rule.
    """
    # a cut last row has no line end: CPython 3.11.2 accepts it here, as it loses count behind a failed row
    return _plain(data) if data.endswith(b"\n") and _PLAIN.fullmatch(data) else _by_line(path, data)


def _plain(data: bytes) -> tuple[np.ndarray, Rows]:
    body = data[data.index(b"\n") + 1 :]
    epoch, *rest = columns(body, len(HEADER), {**POOL_NUMBERS, **SIZES})
    return epoch, Rows(*rest)


def _by_line(path: Path | str, data: bytes) -> tuple[np.ndarray, Rows]:
    lines = data.decode("latin-1").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines or lines[0].removesuffix("\r") != ",".join(HEADER):
        first = lines[0] if lines else ""
        raise MappingRefused(path, 1, "header", first, "mapping/header", _why(data[:4096]))
    table = [_row(path, at, line.removesuffix("\r")) for at, line in enumerate(lines[1:], start=2)]
    epoch, *rest = np.array(table, dtype=np.int64).reshape(-1, len(HEADER)).T
    return epoch, Rows(*rest)


def _why(data: bytes) -> str:
    """How a file was saved, if that explains its header; the simulator does not read these forms, either."""
    if data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        encoding = "UTF-8" if data[0] == 0xEF else "UTF-16"
        return f"; the file begins with a byte order mark ({encoding})"
    try:
        found = regular(decoded(data, ""), "")
    except TableRefused as error:
        return f"; {error.found}" if data else ""
    if found.separator != ",":
        return f"; there are {SEPARATORS[found.separator]} between cells, not commas"
    if b"\n" not in data and b"\r" in data:
        return "; lines end with a carriage return (CR), not with a line feed"
    return ""


def _row(path: Path | str, at: int, line: str) -> tuple[int, ...]:
    cells = line.split(",")
    if len(cells) != len(HEADER):
        raise MappingRefused(path, at, "row", line, "mapping/columns")
    if cells[1] not in POOLS:
        raise MappingRefused(path, at, "pool", cells[1], "mapping/pool")
    numbers = {}
    for place in _NUMBERS:
        cell, column = cells[place], HEADER[place]
        if column == "frame" and cell == "":
            numbers[place] = UNMAPPED
            continue
        if not re.fullmatch("[0-9]+", cell):
            raise MappingRefused(path, at, column, cell, "mapping/number")
        digits = cell.lstrip("0") or "0"
        if len(digits) > 19 or int(digits) >= EPOCH_LIMIT:
            raise MappingRefused(path, at, column, cell, "mapping/range")
        numbers[place] = int(digits)
    if cells[5] not in SIZES:
        raise MappingRefused(path, at, "page_size", cells[5], "mapping/page-size")
    return numbers[0], POOLS.index(cells[1]), numbers[2], numbers[3], numbers[4], SIZES[cells[5]]
