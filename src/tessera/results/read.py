"""Read tables of the results with typed columns; errors name the file and the wrong column.

Types (:mod:`tessera.results.schema`): *text* is a string, empty if missing; *number* a double, NaN if
missing; *truth* True or False, None if missing. *count* is an int64 if every row has a value, else a double
with NaN (exact for whole numbers below 2^53; fractions from files of other programs stay). Layouts get their
canonical names.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from tessera.core import table_file
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.table_columns import SEPARATORS, TableRefused, floats, known_names, warn_of_spelling
from tessera.layouts.model import canonical_name, name_notes
from tessera.results.schema.table import COUNT, NUMBER, STATUS, TEXT, TRUTH, Table
from tessera.results.status import ok_rows
from tessera.results.tree import Tree

_TRUTH = {"True": True, "False": False, "1": True, "0": False, "1.0": True, "0.0": False}
_LAYOUTS = ("layout", "duplicate_of")
ABSENT, COLUMNS = "table-absent", "table-columns"  #: codes of :class:`Unreadable`
_NOT_FINITE = ("nan", "inf", "-inf")  #: as pandas writes them
_COUNT_END = 2.0**63  #: int64 ends below
_MOST_BYTES = 1 << 30  #: of a table of the results
_AGAIN = "write it again with this version of Tessera"


class Unreadable(TesseraError):
    """A table that is missing (``absent``) or does not match docs/results.md.

    ``code`` is ``table-absent``, ``table-columns`` or ``table-content``.
    """

    def __init__(
        self, file: str, found: str, remedy: str = "run ./run reproduce", code: str = "table-content"
    ):
        super().__init__(file, found, remedy, exit_code=EXIT_FAILED, code=code)
        self.absent = code == ABSENT


def empty(table: Table) -> pd.DataFrame:
    """The table with all columns and no rows."""
    return _typed(table, pd.DataFrame(columns=list(table.names)))


def read_file(table: Table, path: Path, name: str = "") -> pd.DataFrame:
    """Read one file; messages show ``name`` instead of its path.

    Raises:
        Unreadable: no such file, missing columns, or a value of the wrong type.
    """
    name = name or str(path)
    text = _text(path, name, f"run ./run reproduce, which writes it ({table.writer})")
    try:
        frame = pd.read_csv(
            text, keep_default_na=False, dtype=dict.fromkeys(table.of_kind(TEXT), "object"),
            na_values={column: [""] for column in table.of_kind(COUNT, NUMBER, TRUTH)}, index_col=False,
        )  # fmt: skip
        unnamed = frame[[column for column in frame if re.fullmatch("Unnamed: [1-9][0-9]*", column)]]
        if (unnamed.notna() & (unnamed != "")).any(axis=None):
            raise ValueError("a column without a name has values")
    except ValueError as error:  # ParserError and EmptyDataError are ValueErrors
        raise Unreadable(name, f"cannot be read: {error}") from None
    return checked(table, frame, name)


def checked(table: Table, frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """``frame`` with the table's columns and types; raises like :func:`read_file`."""
    missing = [column for column in table.names if column not in frame and column not in table.added]
    if missing:
        raise Unreadable(name, f"lacks {', '.join(missing)}", _AGAIN, COLUMNS)
    try:
        return _typed(table, frame.reindex(columns=list(table.names)))
    except (ValueError, TypeError, OverflowError) as error:
        raise Unreadable(name, f"cannot be read: {error}", _AGAIN) from None


def read_undeclared(path: Path, name: str = "", **options) -> pd.DataFrame:
    """Read a table without a schema. ``options`` go to pandas' ``read_csv``.

    Raises:
        Unreadable: no such file, or not CSV.
    """
    name = name or str(path)
    text = _text(path, name)
    try:
        return pd.read_csv(text, **options)
    except ValueError as error:
        raise Unreadable(name, f"cannot be read: {error}") from None


def _text(path: Path, name: str, make: str = "run ./run reproduce") -> io.StringIO | io.BytesIO:
    """A file's text if its header and rows have one meaning: as many cells in each, no column twice.

    Raises:
        Unreadable: no such file, or :class:`tessera.core.table_columns.TableRefused` with its reason.
    """
    try:
        data = table_file.read_bytes(path, name, _MOST_BYTES)
        if table_file.is_plain(data):
            header = data.split(b"\n", 1)[0].decode().split(",")
            known_names(list(filter(None, header)), (), name, 1)
            return io.BytesIO(data)
        found = table_file.regular(table_file.decoded(data, name), name)
        if found.separator != ",":  # numbers of such a table could have decimal commas
            words = SEPARATORS[found.separator]
            raise TableRefused(name, f"{words} between cells", table_file.SAVE, "separator", found.lines[0])
        known_names([column for column in found.names() if column], (), name, found.lines[0])
    except TableRefused as error:
        if error.code == "table-absent" and error.found == "no such file":
            raise Unreadable(name, error.found, make, ABSENT) from None
        found = error.found if error.found.startswith("cannot be read") else f"cannot be read: {error.found}"
        raise Unreadable(error.asked, found, error.remedy) from None
    return io.StringIO(found.text)


def read_texts(path: Path, name: str = "", table: Table | None = None) -> pd.DataFrame:
    """Read a table as text, so numbers keep their digits and errors can show the original value.

    Raises:
        Unreadable: no such file, not CSV, or columns other than those of ``table``.
    """
    frame = read_undeclared(path, name, dtype=str, keep_default_na=False)
    if table and tuple(frame.columns) != table.names:
        found, wanted = (",".join(map(str, names)) for names in (frame.columns, table.names))
        raise Unreadable(name or str(path), f"columns {found}; expected {wanted}", _AGAIN, COLUMNS)
    return frame


def read(table: Table, tree: Tree, *names: str) -> pd.DataFrame:
    """Read a table of a tree.

    If the table has one file per pair, ``names`` (workload, platform) select one; without them all files are
    concatenated.

    Raises:
        Unreadable: as :func:`read_file`; without ``names``, missing files are no error.
    """
    place = table.place(tree, *names)
    if names or "*" not in table.pattern:
        return read_file(table, place, tree.relative(place))
    parts = [read_file(table, path, tree.relative(path)) for path in tree.found(place)]
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else empty(table)


def counting(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that count (:attr:`Table.rule`)."""
    if STATUS in table.names:
        return ok_rows(frame)
    return frame[frame[table.needs].notna()] if table.needs else frame


def _typed(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    for column in table.columns:
        values = frame[column.name]
        if column.kind == TEXT:
            frame[column.name] = texts(values)
        elif column.kind == TRUTH:
            frame[column.name] = _truth(values)
        else:
            frame[column.name] = _number(values, column.kind)
    for name in _LAYOUTS:
        if name in frame:
            given = frame[name]
            frame[name] = given.map(canonical_name).astype("str")
            warn_of_spelling(name_notes(given[given != frame[name]]))
    return frame


def texts(values: pd.Series) -> pd.Series:
    """Strings; empty if missing."""
    return values.astype("object").where(values.notna(), "").astype("str")


def _number(values: pd.Series, kind: str) -> pd.Series:
    if is_bool_dtype(values):
        raise ValueError(f"column {values.name} holds '{values.iloc[0]}', which is not a number")
    if not is_numeric_dtype(values):  # astype alone reads 1_000, which no table means as a number
        text = values[[isinstance(value, str) for value in values]]
        wrong = text[np.isnan(floats(text)) & ~text.isin(_NOT_FINITE)]
        if len(wrong):
            raise ValueError(f"column {values.name} holds '{wrong.iloc[0]}', which is not a number")
    doubles = values.astype("float64")
    if kind == COUNT and np.isinf(doubles).any():
        raise ValueError(f"column {values.name} holds an infinite count")
    if kind == COUNT and (large := doubles[doubles.abs() >= _COUNT_END]).size:
        raise ValueError(f"column {values.name} holds {large.iloc[0]:g}; a count is below 2^63")
    return doubles.astype("int64") if kind == COUNT and (doubles % 1 == 0).all() else doubles


def _truth(values: pd.Series) -> pd.Series:
    found = values.map(lambda value: None if pd.isna(value) else _TRUTH.get(str(value), value))
    wrong = [value for value in found if value not in (True, False, None)]
    if wrong:
        raise ValueError(f"column {values.name} holds '{wrong[0]}', which is neither True nor False")
    return found.astype("bool" if found.notna().all() else "object")
