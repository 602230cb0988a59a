"""The CSV files of a bundle: columns in order, the kind of each, and a fast reader of counts."""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields

import numpy as np

from tessera.core.results.outcomes import STATUSES
from tessera.core.units import KB
from tessera.machine.environment.condition import LEVELS, Condition
from tessera.machine.environment.condition import STATUSES as ANSWERS
from tessera.measure.bundles import file_format
from tessera.measure.bundles.bundle import CountedEvent, EventCount, MeasuredRun
from tessera.measure.bundles.file_format import (
    HEX,
    LARGEST_NUMBER,
    NAME,
    TEXT,
    WHOLE,
    FieldFormat,
    maybe,
    one_of,
    shown,
    wrong,
)

# Counts in their plain form, parsed with numpy: a large bundle has millions of them.
#
# Rows in another form are not judged here: :func:`csv_columns` parses them one by one.

_COMMA, _END, _ZERO = b",\n0"
_LONGEST = len(str(LARGEST_NUMBER))  #: digits of a whole number
_NAME_AT = 1  #: the column of names; the others are whole numbers


def plain_counts(block: bytes, columns: int) -> list | None:
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
        values = _plain_names(block, *cells) if column == _NAME_AT else _plain_numbers(data, *cells)
        if values is None:
            return None
        found.append(values)
    return found


def _plain_numbers(data: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> array | None:
    """Whole numbers as :data:`tessera.measure.bundles.file_format.WHOLE` reads them."""
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
    return array("q", values.tobytes()) if values.max() <= LARGEST_NUMBER else None


def _plain_names(block: bytes, starts: np.ndarray, ends: np.ndarray) -> list[str] | None:
    cells = [block[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    try:
        known = {cell: NAME.read(cell.decode("ascii")) for cell in set(cells)}
    except ValueError:
        return None
    return [known[cell] for cell in cells]


# The form of each file, its parser, and its text.

_BLOCK = 256 * KB  #: bytes that are parsed at a time; no line is longer


@dataclass(frozen=True)
class CsvFormat:
    """``kinds`` belong to the fields of ``make``, in order; ``columns`` are the names in the file.

    ``most``: rows of the largest bundle. ``plain``: a faster way to parse a block of lines, or None.
    """

    file: str
    make: type
    most: int
    kinds: tuple[FieldFormat, ...]
    plain: Callable[[bytes, int], list | None] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple("pass" if f.name == "pass_name" else f.name for f in fields(self.make))


ENVIRONMENT_SHAPE = CsvFormat(
    file_format.ENVIRONMENT_FILE, Condition, file_format.MOST_CONDITIONS,
    (NAME, one_of(*LEVELS), TEXT, TEXT, one_of(*ANSWERS), TEXT),
)  # fmt: skip
EVENTS_SHAPE = CsvFormat(
    file_format.EVENTS_FILE, CountedEvent, file_format.MOST_EVENTS,
    (NAME, TEXT, NAME, WHOLE, HEX, HEX, HEX, one_of("u", "k", "uk")),
)  # fmt: skip
RUNS_SHAPE = CsvFormat(
    file_format.RUNS_FILE, MeasuredRun, file_format.MOST_RUNS,
    (WHOLE, NAME, NAME, NAME, WHOLE, NAME, one_of(*STATUSES), TEXT, *[maybe(WHOLE)] * 4),
)  # fmt: skip
COUNTS_SHAPE = CsvFormat(
    file_format.COUNTS_FILE,
    EventCount,
    file_format.MOST_COUNTS,
    (WHOLE, NAME, WHOLE, WHOLE, WHOLE),
    plain_counts,
)


def parse_csv(shape: CsvFormat, data: bytes) -> list:
    """Rows of a file, as ``shape.make``; raises as :func:`csv_columns`."""
    return [row for block in csv_columns(shape, [data]) for row in map(shape.make, *block)]


def csv_columns(shape: CsvFormat, pieces: Iterable[bytes]) -> Iterator[list[list]]:
    """The values of a file in blocks of rows: a list for each column. Equal values are one object.

    Args:
        pieces: the content; pieces end anywhere. No more than a block is in memory at once.

    Raises:
        TesseraError: not UTF-8, another header, too many rows, a row with another number of cells, or a value
            that is not of its kind. The message has the line.
    """
    line, count = 1, 0
    for block in _blocks(shape, pieces):
        if line == 1:
            head, end, block = block.partition(b"\n")
            _check_header(shape, head + end)
            line += 1
        values = shape.plain(block, len(shape.kinds)) if shape.plain else None
        values = values or _by_cell(shape, block, line)
        count += len(values[0])
        if count > shape.most:
            raise file_format.too_large(shape.file, f"more than {shape.most} rows")
        yield values
        line += block.count(b"\n")
    if line == 1:
        raise wrong(shape.file, "the file is empty", "header")


def _check_header(shape: CsvFormat, line: bytes) -> None:
    rows = _rows(shape, line)
    if tuple(rows[0]) != shape.columns:
        found = f"header {shown(','.join(rows[0]))}; it must be {','.join(shape.columns)}"
        raise wrong(f"{shape.file} line 1", found, "header")


def _rows(shape: CsvFormat, block: bytes) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(block.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise wrong(shape.file, f"not a CSV file in UTF-8: {error}", "csv") from None


def _by_cell(shape: CsvFormat, block: bytes, line: int) -> list[list]:
    """The columns of a block that begins with ``line``; the error is that of its first wrong row."""
    rows = _rows(shape, block)
    try:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(shape.kinds)
        return [_values(*one) for one in zip(shape.kinds, columns, strict=True)]
    except ValueError:
        reader = csv.reader(io.StringIO(block.decode("utf-8"), newline=""), strict=True)
        for cells in reader:
            _row(shape, line + reader.line_num - 1, cells)
        raise


def _values(kind: FieldFormat, cells: Iterable[str]) -> list:
    made = {cell: kind.read(cell) for cell in set(cells)}
    return [made[cell] for cell in cells]


def _blocks(shape: CsvFormat, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, some thousand at a time."""
    rest = b""
    for piece in pieces:
        for start in range(0, len(piece), _BLOCK):
            rest += piece[start : start + _BLOCK]
            end = rest.rfind(b"\n") + 1
            if end:
                yield rest[:end]
            rest = rest[end:]
            if len(rest) > _BLOCK:
                raise file_format.too_large(shape.file, f"a line of more than {_BLOCK} bytes")
    if rest:
        raise wrong(shape.file, "its last line has no end: the file is cut off", "cut-off")


def _row(shape: CsvFormat, line: int, cells: list[str]):
    if len(cells) != len(shape.kinds):
        raise wrong(f"{shape.file} line {line}", f"{len(cells)} cells; a row has {len(shape.kinds)}", "row")
    try:
        values = [kind.read(cell) for kind, cell in zip(shape.kinds, cells, strict=True)]
    except ValueError:
        for column, kind, cell in zip(shape.columns, shape.kinds, cells, strict=True):
            try:
                kind.read(cell)
            except ValueError:
                found = f"{column} {shown(cell)}; it must be {kind.rule}"
                raise wrong(f"{shape.file} line {line}", found, "value") from None
        raise
    return shape.make(*values)


def csv_text(shape: CsvFormat, rows: Iterable, *, header: bool = True) -> str:
    """The rows as the content of the file; each value is checked.

    Raises:
        TesseraError: a value is not of its kind, so that nobody could read the file.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    attributes = [f.name for f in fields(shape.make)]
    if header:
        writer.writerow(shape.columns)
    for row in rows:
        cells = [kind.write(getattr(row, at)) for kind, at in zip(shape.kinds, attributes, strict=True)]
        _row(shape, 0, cells)
        writer.writerow(cells)
    return stream.getvalue()
