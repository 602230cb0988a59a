"""The CSV files of a bundle: columns in order, and the kind of each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields

from tessera.bundles import names
from tessera.bundles.model import Count, CountedEvent, Run
from tessera.bundles.values import HEX, NAME, TEXT, WHOLE, Kind, maybe, one_of
from tessera.bundles.wrong import shown, wrong
from tessera.machine.environment.condition import LEVELS, Condition
from tessera.machine.environment.condition import STATUSES as ANSWERS
from tessera.results.status import STATUSES


@dataclass(frozen=True)
class Shape:
    """``kinds`` belong to the fields of ``make``, in order; ``columns`` are the names in the file."""

    file: str
    make: type
    kinds: tuple[Kind, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple("pass" if f.name == "pass_name" else f.name for f in fields(self.make))


ENVIRONMENT = Shape(
    names.ENVIRONMENT, Condition, (NAME, one_of(*LEVELS), TEXT, TEXT, one_of(*ANSWERS), TEXT)
)  # fmt: skip
EVENTS = Shape(
    names.EVENTS, CountedEvent, (NAME, TEXT, NAME, WHOLE, HEX, HEX, HEX, one_of("u", "k", "uk"))
)  # fmt: skip
RUNS = Shape(
    names.RUNS, Run,
    (WHOLE, NAME, NAME, NAME, WHOLE, NAME, one_of(*STATUSES), TEXT, *[maybe(WHOLE)] * 4),
)  # fmt: skip
COUNTS = Shape(names.COUNTS, Count, (WHOLE, NAME, WHOLE, WHOLE, WHOLE))


def parse(shape: Shape, data: bytes) -> list:
    """Rows of a file.

    Raises:
        TesseraError: not UTF-8, another header, a row with another number of cells, or a value that is not of
            its kind. The message has the line.
    """
    try:
        rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
        found = []
        for cells in rows:
            if rows.line_num == 1:
                if tuple(cells) != shape.columns:
                    raise wrong(
                        f"{shape.file} line 1",
                        f"header {shown(','.join(cells))}; it must be {','.join(shape.columns)}",
                        "header",
                    )
                continue
            found.append(_row(shape, rows.line_num, cells))
    except (UnicodeDecodeError, csv.Error) as error:
        raise wrong(shape.file, f"not a CSV file in UTF-8: {error}", "csv") from None
    if not data:
        raise wrong(shape.file, "the file is empty", "header")
    if not data.endswith(b"\n"):
        raise wrong(shape.file, "its last line has no end: the file is cut off", "cut-off")
    return found


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
