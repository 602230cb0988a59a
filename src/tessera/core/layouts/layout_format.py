"""The format of a layout file: the reasons to reject one, and the parser.

See docs/reference/layout-format.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tessera.core.errors import TesseraError
from tessera.core.table_columns import ascii_shown
from tessera.core.units import PAGE_4KB, PAGE_SIZES, format_bytes

# The reasons to reject a layout file: one row per rule (docs/reference/layout-format.md).
#
# The allocator and the simulator use the same table, ``rules.h`` in ``artifacts/layout-format``. A test
# checks that both tables and the document agree. Codes are stable, texts are not.

#: Most windows in a file, over all pools and page sizes.
MAX_WINDOWS = 16384


@dataclass(frozen=True)
class FormatRule:
    """A rule of a file format: the text after the value (some append a number), and the next step."""

    found: str
    remedy: str


RULES = {
    "layout/byte": FormatRule(
        "must be printable ASCII, a tab or a line end", "save the file as plain ASCII text"
    ),
    "layout/quote": FormatRule("must not contain quotes", "write the cells without quotes"),
    "layout/header": FormatRule(
        "must be type,pageSize,startOffset,endOffset", "make this the first line of the file"
    ),
    "layout/columns": FormatRule(
        "must have 4 columns, has", "write exactly type,pageSize,startOffset,endOffset"
    ),
    "layout/type": FormatRule("must be one of brk, mmap, file", "write one of the three types"),
    "layout/page-size": FormatRule(
        "must be -1 or one of 4096, 2097152, 1073741824", "write one of these page sizes"
    ),
    "layout/file-pages": FormatRule("the file pool has 4KB pages only", "remove the row"),
    "layout/pool-twice": FormatRule("this pool already has a size row on line", "remove one of the two rows"),
    "layout/size": FormatRule(
        "must be bytes or a size like 64MB", "write digits with an optional unit: 4096, 64MB, 2GiB"
    ),
    "layout/too-large": FormatRule("must be below 2^63 bytes", "write a smaller size"),
    "layout/pool-start": FormatRule("must be 0 in a row that gives a pool's size", "write 0"),
    "layout/alignment": FormatRule(
        "must be a multiple of the page size", "round the offset to such a multiple"
    ),
    "layout/empty-window": FormatRule("must be above startOffset", "correct the row or remove it"),
    "layout/window-limit": FormatRule(
        "too many windows in one layout, the limit is", "merge adjacent windows"
    ),
    "layout/outside-pool": FormatRule(
        "the window ends outside its pool of", "enlarge the pool in its size row, or end the window inside it"
    ),
    "layout/overlap": FormatRule("overlaps the window", "move or shorten one of the two windows"),
}


class LayoutRefused(TesseraError):
    """The error for a file that breaks a rule; ``rule`` is the code, ``line`` counts from 1."""

    def __init__(self, path: Path, line: int, column: str, value: str, rule: str, detail: object = ""):
        words = RULES[rule]
        found = f"{words.found} {detail}" if detail != "" else words.found
        super().__init__(
            f"layout {path} line {line}, column {column}",
            f"'{ascii_shown(value)}': {found} [{rule}]",
            words.remedy,
        )
        self.rule = rule
        self.line = line


# Parses a layout file into pool sizes and windows, or reports the first rule that it breaks.
#
# docs/reference/layout-format.md defines the grammar. The allocator and the simulator use the C++ parser in
# ``artifacts/layout-format``; its examples test all three programs. All three check the rules in the same
# order, so they report the same one of several mistakes: rows from the top, cells from the left, and after
# the last row, windows against pools and against each other.

POOLS = ("brk", "mmap", "file")
HEADER = ("type", "pageSize", "startOffset", "endOffset")
MAX_BYTES = (1 << 63) - 1

_MARK = "\xef\xbb\xbf"  # the UTF-8 byte order mark, as bytes
_BLANK = " \t"
_WRONG = re.compile(r'[^\t !-~]|"')
_SIZE = re.compile(r"([0-9]+)[ \t]*(?:([kmgt])(?:i?b)?|b)?", re.IGNORECASE | re.ASCII)
_SHIFT = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


class WindowRow(NamedTuple):
    """A window and its line."""

    pool: str
    start: int
    end: int
    page_bytes: int
    line: int


class Parser:
    """Reads one file; ``pools`` and ``windows`` (sorted by pool and offset) are the result."""

    def __init__(self, path: Path, data: bytes):
        self.path = path
        self.pools: dict[str, int] = {}
        self.windows: list[WindowRow] = []
        self._pool_line: dict[str, int] = {}
        self._have_header = False
        for self._line, text in enumerate(data.decode("latin-1").removeprefix(_MARK).split("\n"), start=1):
            self._read(text)
        if not self._have_header:
            raise self._refused("layout/header", "header", "", line=1)
        self._inside_pools()
        self._disjoint()

    def _refused(self, rule: str, column: str, value: object, detail: object = "", line: int | None = None):
        line = self._line if line is None else line
        return LayoutRefused(self.path, line, column, str(value), rule, detail)

    def _read(self, text: str) -> None:
        text = text.removesuffix("\r")
        if wrong := _WRONG.search(text):
            if wrong.group() == '"':
                raise self._refused("layout/quote", "row", text.strip(_BLANK))
            raise self._refused("layout/byte", "row", wrong.group())
        text = text.strip(_BLANK)
        if not text:
            return
        cells = [cell.strip(_BLANK) for cell in text.split(",")]
        if self._have_header:
            self._row(cells, text)
        elif tuple(cells) != HEADER:
            raise self._refused("layout/header", "header", text)
        self._have_header = True

    def _row(self, cells: list[str], text: str) -> None:
        if len(cells) != len(HEADER):
            raise self._refused("layout/columns", "row", text, len(cells))
        if cells[0] not in POOLS:
            raise self._refused("layout/type", "type", cells[0])
        if cells[1] == "-1":
            self._size_row(cells)
        else:
            self._window_row(cells)

    def _size_row(self, cells: list[str]) -> None:
        pool = cells[0]
        if pool in self._pool_line:
            raise self._refused("layout/pool-twice", "type", pool, self._pool_line[pool])
        if self._offset(cells, 2) != 0:
            raise self._refused("layout/pool-start", HEADER[2], cells[2])
        self.pools[pool] = self._offset(cells, 3)
        self._pool_line[pool] = self._line

    def _window_row(self, cells: list[str]) -> None:
        pool, page = cells[0], parse_size(cells[1])
        if page not in PAGE_SIZES:
            raise self._refused("layout/page-size", HEADER[1], cells[1])
        if pool == "file" and page != PAGE_4KB:
            raise self._refused("layout/file-pages", HEADER[1], cells[1])
        offsets = []
        for column in (2, 3):
            offsets.append(self._offset(cells, column))
            if offsets[-1] % page:
                raise self._refused("layout/alignment", HEADER[column], cells[column], format_bytes(page))
        start, end = offsets
        if end <= start:
            raise self._refused("layout/empty-window", HEADER[3], cells[3], start)
        if len(self.windows) == MAX_WINDOWS:
            raise self._refused("layout/window-limit", "row", pool, MAX_WINDOWS)
        self.windows.append(WindowRow(pool, start, end, page, self._line))

    def _offset(self, cells: list[str], column: int) -> int:
        size = parse_size(cells[column])
        if size is None:
            raise self._refused("layout/size", HEADER[column], cells[column])
        if size > MAX_BYTES:
            raise self._refused("layout/too-large", HEADER[column], cells[column])
        return size

    def _inside_pools(self) -> None:
        for window in self.windows:
            size = self.pools.get(window.pool)
            # without a size row, the program that uses the layout sets the size
            if size is not None and window.end > size:
                raise self._refused(
                    "layout/outside-pool", HEADER[3], window.end, format_bytes(size), window.line
                )

    def _disjoint(self) -> None:
        """If two windows overlap, the error names the later line."""
        self.windows.sort(key=lambda w: (POOLS.index(w.pool), w.start, w.line))
        for low, high in zip(self.windows, self.windows[1:], strict=False):
            if low.pool == high.pool and high.start < low.end:
                first, second = sorted((low, high), key=lambda w: w.line)
                detail = f"{first.start}-{first.end} of line {first.line}"
                raise self._refused("layout/overlap", HEADER[2], second.start, detail, second.line)


def parse_size(text: str) -> int | None:
    """The size in a cell, in bytes and without a limit; ``None`` if the cell is not a size."""
    match = _SIZE.fullmatch(text)
    if match is None:
        return None
    digits = match.group(1).lstrip("0") or "0"
    if len(digits) > 20:  # int() rejects very long numbers; these are too large anyway
        return 1 << 70
    return int(digits) << _SHIFT[(match.group(2) or "").lower()]
