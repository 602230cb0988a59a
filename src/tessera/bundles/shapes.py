"""The CSV files of a bundle: columns in order, and the kind of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields

from tessera.bundles import limits, names, plain
from tessera.bundles.model import Count, CountedEvent, Run
from tessera.bundles.values import HEX, NAME, TEXT, WHOLE, Kind, maybe, one_of
from tessera.bundles.wrong import shown, wrong
from tessera.core.units import KB
from tessera.machine.environment.condition import LEVELS, Condition
from tessera.machine.environment.condition import STATUSES as ANSWERS
from tessera.results.status import STATUSES

_BLOCK = 256 * KB  #: bytes that are parsed at a time; no line is longer


@dataclass(frozen=True)
class Shape:
    """``kinds`` belong to the fields of ``make``, in order; ``columns`` are the names in the file.

    ``most``: rows of the largest bundle. ``plain``: a faster way to parse a block of lines, or None.
    """

    file: str
    make: type
    most: int
    kinds: tuple[Kind, ...]
    plain: Callable[[bytes, int], list | None] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple("pass" if f.name == "pass_name" else f.name for f in fields(self.make))


ENVIRONMENT = Shape(
    names.ENVIRONMENT, Condition, limits.CONDITIONS,
    (NAME, one_of(*LEVELS), TEXT, TEXT, one_of(*ANSWERS), TEXT),
)  # fmt: skip
EVENTS = Shape(
    names.EVENTS, CountedEvent, limits.EVENTS,
    (NAME, TEXT, NAME, WHOLE, HEX, HEX, HEX, one_of("u", "k", "uk")),
)  # fmt: skip
RUNS = Shape(
    names.RUNS, Run, limits.RUNS,
    (WHOLE, NAME, NAME, NAME, WHOLE, NAME, one_of(*STATUSES), TEXT, *[maybe(WHOLE)] * 4),
)  # fmt: skip
COUNTS = Shape(names.COUNTS, Count, limits.COUNTS, (WHOLE, NAME, WHOLE, WHOLE, WHOLE), plain.counts)


def parse(shape: Shape, data: bytes) -> list:
    """Rows of a file, as ``shape.make``; raises as :func:`columns`."""
    return [row for block in columns(shape, [data]) for row in map(shape.make, *block)]


def columns(shape: Shape, pieces: Iterable[bytes]) -> Iterator[list[list]]:
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
            raise limits.too_large(shape.file, f"more than {shape.most} rows")
        yield values
        line += block.count(b"\n")
    if line == 1:
        raise wrong(shape.file, "the file is empty", "header")


def _check_header(shape: Shape, line: bytes) -> None:
    rows = _rows(shape, line)
    if tuple(rows[0]) != shape.columns:
        found = f"header {shown(','.join(rows[0]))}; it must be {','.join(shape.columns)}"
        raise wrong(f"{shape.file} line 1", found, "header")


def _rows(shape: Shape, block: bytes) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(block.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise wrong(shape.file, f"not a CSV file in UTF-8: {error}", "csv") from None


def _by_cell(shape: Shape, block: bytes, line: int) -> list[list]:
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


def _values(kind: Kind, cells: Iterable[str]) -> list:
    made = {cell: kind.read(cell) for cell in set(cells)}
    return [made[cell] for cell in cells]


def _blocks(shape: Shape, pieces: Iterable[bytes]) -> Iterator[bytes]:
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
                raise limits.too_large(shape.file, f"a line of more than {_BLOCK} bytes")
    if rest:
        raise wrong(shape.file, "its last line has no end: the file is cut off", "cut-off")


def _row(shape: Shape, line: int, cells: list[str]):
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


def text(shape: Shape, rows: Iterable, *, header: bool = True) -> str:
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
