"""The CSV file of a mapping: reasons to reject one, the parser, reading and writing.

See docs/reference/mappings.md.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.core.layouts.layout_format import FormatRule
from tessera.core.mapping.page_mapping import (
    POOLS,
    SIZE_NAMES,
    SIZES,
    UNMAPPED,
    MappingRows,
    PageMapping,
    cut_pages,
    replaced_rows,
)
from tessera.core.table_columns import SEPARATORS, TableRefused, ascii_shown
from tessera.core.table_file import decoded, regular

# Reads and writes mapping files (docs/reference/mappings.md); a mapping's name is the stem of its file.

_LINES_AT_ONCE = 1 << 16


def read_mapping(path: Path | str) -> PageMapping:
    """Read a mapping file and check every rule.

    Raises:
        MappingRefused: the file breaks a rule (:data:`RULES`).
        TesseraError: the file can't be read; ``code`` is ``mapping-file``.
    """
    path = Path(path)
    if not path.is_file():  # reading a pipe without a writer would never end
        found = "this is not a regular file" if path.exists() else "the file does not exist"
        remedy = "make a mapping: tessera mapping generate --help"
        raise TesseraError(f"mapping {path}", found, remedy, code="mapping-file")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TesseraError(
            f"mapping {path}", error.strerror or str(error), "check the path", code="mapping-file"
        ) from None
    return checked_mapping(path.stem, path, *parse_mapping(path, data))


def write_mapping(mapping: PageMapping, path: Path | str) -> None:
    """Write the rows of all epochs in the canonical form, after the checks that a reader makes.

    Raises:
        MappingRefused: the mapping breaks a rule, for example a frame is too large; nothing is written.
        TesseraError: ``path`` can't be written.
    """
    epochs = list(mapping.epochs.items())
    numbers = [np.full(len(rows), epoch, dtype=np.int64) for epoch, rows in epochs]
    if epochs:
        parts = [rows for _, rows in epochs]
        checked_mapping(mapping.name, path, np.concatenate(numbers), parts[0].joined(parts))
    with writing(path) as stream:
        stream.write(",".join(HEADER) + "\n")
        for epoch, rows in epochs:
            for low in range(0, len(rows), _LINES_AT_ONCE):
                stream.write(_written_lines(epoch, rows.where(slice(low, low + _LINES_AT_ONCE))))


def _written_lines(epoch: int, rows) -> str:
    columns = zip(*(column.tolist() for column in rows.columns()), strict=True)
    return "".join(
        f"{epoch},{POOLS[pool]},{page},{'' if frame < 0 else frame},{pages},{SIZE_NAMES[size]}\n"
        for pool, page, frame, pages, size in columns
    )


# The reasons to reject a mapping file: one row per rule (docs/reference/mappings.md). Codes are stable.

_AGAIN = "correct the row, or make the file again: tessera mapping generate --help"
_SAVE = (
    "save it in UTF-8 without a byte order mark, with commas between cells "
    "(docs/reference/table-files.md, Mappings)"
)

RULES = {
    "mapping/header": FormatRule(
        "the first line must be epoch,pool,page,frame,pages,page_size", "make this the first line of the file"
    ),
    "mapping/columns": FormatRule("a row must have 6 cells", "write epoch,pool,page,frame,pages,page_size"),
    "mapping/pool": FormatRule("the pool must be brk or mmap", "write one of the two pools"),
    "mapping/number": FormatRule(
        "must be a whole number in decimal digits, without a sign",
        "write digits only; only a frame may be empty",
    ),
    "mapping/page-size": FormatRule("the page size must be 4KB, 2MB or 1GB", "write one of the three sizes"),
    "mapping/range": FormatRule(
        "out of range: epoch < 2^63, page and pages < 2^36, frame < 2^40, pages at least 1", _AGAIN
    ),
    "mapping/unmapped-size": FormatRule(
        "a range without a frame (unmapped) must have the page size 4KB", "write 4KB in this row"
    ),
    "mapping/alignment": FormatRule(
        "page, frame and pages must be multiples of the page size (in pages of 4KB)", _AGAIN
    ),
    "mapping/unsorted": FormatRule(
        "rows must be sorted by epoch, pool (brk first) and page", "sort the rows by these three columns"
    ),
    "mapping/overlap": FormatRule(
        "begins inside the range of the row above, of the same epoch and pool", "end the row above earlier"
    ),
    "mapping/no-rows": FormatRule("the file has no rows, so no page is mapped", _AGAIN),
    "mapping/first-epoch": FormatRule(
        "the first epoch must be 0, with every page that is mapped then", "give the first rows the epoch 0"
    ),
    "mapping/first-unmapped": FormatRule(
        "the first epoch must not have a row without a frame: nothing is mapped before it", "remove the row"
    ),
    "mapping/cut-page": FormatRule(
        "the range replaces a part of a larger page", "add rows for the rest of that page in this epoch"
    ),
    "mapping/frames": FormatRule("two pages have the same frame at the same time", _AGAIN),
}


class MappingRefused(TesseraError):
    """The error for a file that breaks a rule; ``rule`` (also ``code``) names it, ``line`` counts from 1.

    ``why`` says how the file was saved, if that is what is wrong.
    """

    def __init__(self, name: Path | str, line: int, column: str, value: object, rule: str, why: str = ""):
        words = RULES[rule]
        super().__init__(
            f"mapping {name} line {line}, column {column}",
            f"'{ascii_shown(str(value))}': {words.found} [{rule}]{why}",
            f"{words.remedy}; {_SAVE}" if why else words.remedy,
            code=rule,
        )
        self.rule = rule
        self.line = line


# Numbers of a plain CSV text as one numpy array; names of pools and page sizes become numbers first.

POOL_NUMBERS = {pool: number for number, pool in enumerate(POOLS)}


def parsed_columns(body: bytes, width: int, numbers: Mapping[str, int]) -> np.ndarray:
    """The columns of rows that a regular expression has accepted; shape ``(width, rows)``, int64.

    Args:
        body: the rows without the header; an empty cell is -1 (``UNMAPPED``).
        width: cells of a row.
        numbers: word -> number.
    """
    for word, number in numbers.items():
        body = body.replace(word.encode(), str(number).encode())
    body = body.replace(b",,", f",{UNMAPPED},".encode())
    if not body:
        return np.zeros((width, 0), dtype=np.int64)
    return np.loadtxt(io.BytesIO(body), dtype=np.int64, delimiter=",", ndmin=2).T


# The rules over the rows of a mapping whose file was parsed; each is a row of :data:`RULES`.

PAGE_LIMIT, FRAME_LIMIT = 1 << 36, 1 << 40
_FIRST_LINE = 2  #: line 1 is the header, and each further line is a row


def checked_mapping(name: str, path: Path | str, epoch: np.ndarray, rows: MappingRows) -> PageMapping:
    """The mapping, if its rows obey every rule.

    Args:
        epoch: of each row, shape ``(rows,)``, int64.
        rows: in the order of the file.

    Raises:
        MappingRefused: the first row, from the top, that breaks a rule; then rules over the epochs.
    """
    if not len(rows):
        raise MappingRefused(path, 1, "epoch", "", "mapping/no-rows")
    _check_rows(path, epoch, rows)
    if epoch[0] != 0:
        raise MappingRefused(path, _FIRST_LINE, "epoch", epoch[0], "mapping/first-epoch")
    first = np.concatenate(([0], np.flatnonzero(np.diff(epoch)) + 1, [len(rows)]))
    found: dict[int, MappingRows] = {}
    state = MappingRows.empty()
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        part = rows.where(slice(low, high))
        state = _state_after_epoch(path, state, part, low)
        found[int(epoch[low])] = part.merged()
    return PageMapping(name, found)


def _check_rows(path: Path | str, epoch: np.ndarray, rows: MappingRows) -> None:
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


def _state_after_epoch(path: Path | str, state: MappingRows, change: MappingRows, low: int) -> MappingRows:
    """The state after an epoch whose first row is row ``low`` of the file."""
    if low == 0 and not change.mapped.all():
        row = int((~change.mapped).argmax())
        raise MappingRefused(path, row + _FIRST_LINE, "frame", "", "mapping/first-unmapped")
    bad = cut_pages(state, change)
    if bad.any():
        row = int(bad.argmax())
        raise MappingRefused(path, low + row + _FIRST_LINE, "page", change.page[row], "mapping/cut-page")
    state = replaced_rows(state, change)
    frame = shared_frame(state)
    if frame is not None:
        new = change.mapped & (change.frame <= frame) & (frame < change.frame + change.pages)
        raise MappingRefused(
            path, low + int(np.flatnonzero(new)[-1]) + _FIRST_LINE, "frame", frame, "mapping/frames"
        )
    return state


def shared_frame(state: MappingRows) -> int | None:
    """The lowest frame that two pages of a state have; None if there is none."""
    by_frame = state.where(np.argsort(state.frame, kind="stable"))
    behind = np.maximum.accumulate(by_frame.frame + by_frame.pages)
    twice = by_frame.frame[1:] < behind[:-1]
    assert UNMAPPED not in by_frame.frame
    return int(by_frame.frame[1:][twice][0]) if twice.any() else None


# Parses the text of a mapping file into numpy arrays, or reports the first line that breaks a rule.
#
# A file is read in one of two ways with one result. The form that :func:`write_mapping` writes is read at
# once. Else each line is read by itself, which names the first broken rule; line ends CR LF and leading zeros
# are read there.

HEADER = ("epoch", "pool", "page", "frame", "pages", "page_size")
EPOCH_LIMIT = 1 << 63
_NUMBERS = (0, 2, 3, 4)
#: The form that :func:`write_mapping` writes; numbers of at most 18 digits fit into int64.
_PLAIN = re.compile(
    rb"epoch,pool,page,frame,pages,page_size\n"
    rb"(?:[0-9]{1,18},(?:brk|mmap),[0-9]{1,18},[0-9]{0,18},[0-9]{1,18},(?:4KB|2MB|1GB)\n)*+"
)


def parse_mapping(path: Path | str, data: bytes) -> tuple[np.ndarray, MappingRows]:
    """Epoch of each row (shape ``(rows,)``) and the rows, in the order of the file.

    Raises:
        MappingRefused: with the line, the column, the value and the rule.
    """
    # a cut last row has no line end: CPython 3.11.2 accepts it here, as it loses count behind a failed row
    return _plain(data) if data.endswith(b"\n") and _PLAIN.fullmatch(data) else _by_line(path, data)


def _plain(data: bytes) -> tuple[np.ndarray, MappingRows]:
    body = data[data.index(b"\n") + 1 :]
    epoch, *rest = parsed_columns(body, len(HEADER), {**POOL_NUMBERS, **SIZES})
    return epoch, MappingRows(*rest)


def _by_line(path: Path | str, data: bytes) -> tuple[np.ndarray, MappingRows]:
    lines = data.decode("latin-1").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines or lines[0].removesuffix("\r") != ",".join(HEADER):
        first = lines[0] if lines else ""
        raise MappingRefused(path, 1, "header", first, "mapping/header", _how_saved(data[:4096]))
    table = [_parsed_row(path, at, line.removesuffix("\r")) for at, line in enumerate(lines[1:], start=2)]
    epoch, *rest = np.array(table, dtype=np.int64).reshape(-1, len(HEADER)).T
    return epoch, MappingRows(*rest)


def _how_saved(data: bytes) -> str:
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


def _parsed_row(path: Path | str, at: int, line: str) -> tuple[int, ...]:
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
