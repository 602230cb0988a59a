"""Read and write tables of the results with the columns, types and order of the schema.

Errors name the file and the wrong column; a file is never left incomplete.
"""

from __future__ import annotations

import io
import re
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from tessera.core import table_file
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import writing
from tessera.core.layouts.layout import canonical_name, name_notes
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.outcomes import STATUSES, ok_rows
from tessera.core.results.schema import COUNT, NUMBER, STATUS, TEXT, TRUTH, Table
from tessera.core.results.tree import ResultsTree
from tessera.core.table_columns import SEPARATORS, TableRefused, floats, known_names, warn_of_spelling

# Reading, with typed columns.
#
# Types (:mod:`tessera.core.results.schema`): *text* is a string, empty if missing; *number* a double, NaN if
# missing; *truth* True or False, None if missing. *count* is an int64 if every row has a value, else a
# double with NaN (exact for whole numbers below 2^53; fractions from files of other programs stay). Layouts
# get their canonical names.

_TRUTH = {"True": True, "False": False, "1": True, "0": False, "1.0": True, "0.0": False}
_LAYOUTS = ("layout", "duplicate_of")
ABSENT_CODE, COLUMNS_CODE = "table-absent", "table-columns"  #: codes of :class:`UnreadableTable`
_NOT_FINITE = ("nan", "inf", "-inf")  #: as pandas writes them
_COUNT_END = 2.0**63  #: int64 ends below
_MOST_BYTES = 1 << 30  #: of a table of the results
_AGAIN = "write it again with this version of Tessera"


class UnreadableTable(TesseraError):
    """A table that is missing (``absent``) or does not match docs/reference/tables.md.

    ``code`` is ``table-absent``, ``table-columns`` or ``table-content``.
    """

    def __init__(
        self, file: str, found: str, remedy: str = "run ./run reproduce", code: str = "table-content"
    ):
        super().__init__(file, found, remedy, exit_code=EXIT_FAILED, code=code)
        self.absent = code == ABSENT_CODE


def empty_table(table: Table) -> pd.DataFrame:
    """The table with all columns and no rows."""
    return _typed(table, pd.DataFrame(columns=list(table.names)))


def read_file(table: Table, path: Path, name: str = "") -> pd.DataFrame:
    """Read one file; messages show ``name`` instead of its path.

    Raises:
        Unreadable: no such file, missing columns, or a value of the wrong type.
    """
    name = name or str(path)
    text = _text_of_file(path, name, f"run ./run reproduce, which writes it ({table.writer})")
    try:
        frame = pd.read_csv(
            text, keep_default_na=False, dtype=dict.fromkeys(table.of_kind(TEXT), "object"),
            na_values={column: [""] for column in table.of_kind(COUNT, NUMBER, TRUTH)}, index_col=False,
        )  # fmt: skip
        unnamed = frame[[column for column in frame if re.fullmatch("Unnamed: [1-9][0-9]*", column)]]
        if (unnamed.notna() & (unnamed != "")).any(axis=None):
            raise ValueError("a column without a name has values")
    except ValueError as error:  # ParserError and EmptyDataError are ValueErrors
        raise UnreadableTable(name, f"cannot be read: {error}") from None
    return checked_table(table, frame, name)


def checked_table(table: Table, frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """``frame`` with the table's columns and types; raises like :func:`read_file`."""
    missing = [column for column in table.names if column not in frame and column not in table.added]
    if missing:
        raise UnreadableTable(name, f"lacks {', '.join(missing)}", _AGAIN, COLUMNS_CODE)
    try:
        return _typed(table, frame.reindex(columns=list(table.names)))
    except (ValueError, TypeError, OverflowError) as error:
        raise UnreadableTable(name, f"cannot be read: {error}", _AGAIN) from None


def read_undeclared(path: Path, name: str = "", **options) -> pd.DataFrame:
    """Read a table without a schema. ``options`` go to pandas' ``read_csv``.

    Raises:
        Unreadable: no such file, or not CSV.
    """
    name = name or str(path)
    text = _text_of_file(path, name)
    try:
        return pd.read_csv(text, **options)
    except ValueError as error:
        raise UnreadableTable(name, f"cannot be read: {error}") from None


def _text_of_file(path: Path, name: str, make: str = "run ./run reproduce") -> io.StringIO | io.BytesIO:
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
            raise UnreadableTable(name, error.found, make, ABSENT_CODE) from None
        why = error.found if error.found.startswith("cannot be read") else f"cannot be read: {error.found}"
        raise UnreadableTable(error.asked, why, error.remedy) from None
    return io.StringIO(found.text)


def read_texts(path: Path, name: str = "", table: Table | None = None) -> pd.DataFrame:
    """Read a table as text, so numbers keep their digits and errors can show the original value.

    Raises:
        Unreadable: no such file, not CSV, or columns other than those of ``table``.
    """
    frame = read_undeclared(path, name, dtype=str, keep_default_na=False)
    if table and tuple(frame.columns) != table.names:
        found, wanted = (",".join(map(str, names)) for names in (frame.columns, table.names))
        raise UnreadableTable(name or str(path), f"columns {found}; expected {wanted}", _AGAIN, COLUMNS_CODE)
    return frame


def read_tree_table(table: Table, tree: ResultsTree, *names: str) -> pd.DataFrame:
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
    return pd.concat(parts, ignore_index=True) if parts else empty_table(table)


def counting_rows(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that count (:attr:`Table.rule`)."""
    if STATUS in table.names:
        return ok_rows(frame)
    return frame[frame[table.needs].notna()] if table.needs else frame


def _typed(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    for column in table.columns:
        values = frame[column.name]
        if column.kind == TEXT:
            frame[column.name] = as_texts(values)
        elif column.kind == TRUTH:
            frame[column.name] = _as_truth(values)
        else:
            frame[column.name] = _as_number(values, column.kind)
    for name in _LAYOUTS:
        if name in frame:
            given = frame[name]
            frame[name] = given.map(canonical_name).astype("str")
            warn_of_spelling(name_notes(given[given != frame[name]]))
    return frame


def as_texts(values: pd.Series) -> pd.Series:
    """Strings; empty if missing."""
    return values.astype("object").where(values.notna(), "").astype("str")


def _as_number(values: pd.Series, kind: str) -> pd.Series:
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


def _as_truth(values: pd.Series) -> pd.Series:
    found = values.map(lambda value: None if pd.isna(value) else _TRUTH.get(str(value), value))
    wrong = [value for value in found if value not in (True, False, None)]
    if wrong:
        raise ValueError(f"column {values.name} holds '{wrong[0]}', which is neither True nor False")
    return found.astype("bool" if found.notna().all() else "object")


# Writing, with the columns and the order of the schema.


def write_table(table: Table, frame: pd.DataFrame, path: Path | str) -> pd.DataFrame:
    """Write ``frame`` as CSV and return it. Counts are whole numbers, also in columns with empty cells.

    Raises:
        ValueError: the columns of ``frame`` differ from those of the table (an error of the caller).
        TesseraError: ``path`` cannot be written.
    """
    if tuple(frame.columns) != table.names:
        found, wanted = (", ".join(map(str, names)) for names in (frame.columns, table.names))
        raise ValueError(f"{table.name}: columns {found}; declared are {wanted}")
    whole = with_whole_counts(table, frame)
    with writing(path) as stream:
        whole.to_csv(stream, index=False, lineterminator="\n", float_format=table.float_format)
    return frame


def with_whole_counts(table: Table, frame: pd.DataFrame) -> pd.DataFrame:
    """Counts as nullable integers; a column with fractions (from another program) stays as it is."""
    frame = frame.copy(deep=False)
    for name in table.of_kind(COUNT):
        with suppress(TypeError, ValueError):
            frame[name] = frame[name].astype("Int64")
    return frame


def frame_of(table: Table, rows: list | pd.DataFrame) -> pd.DataFrame:
    """Rows (mappings, tuples or a data frame) as a data frame with the table's columns.

    Keys that a mapping lacks become empty: text is "", counts stay whole next to missing ones. Complete
    counts are int64, as :func:`read_file` returns them, so tables computed from them hold plain numbers.
    """
    frame = with_whole_counts(table, pd.DataFrame(rows, columns=list(table.names)))
    for name in table.of_kind(COUNT):
        if frame[name].dtype == "Int64" and frame[name].notna().all():
            frame[name] = frame[name].astype("int64")
    for name in table.of_kind(TEXT):
        frame[name] = as_texts(frame[name])
    return frame


# Files of cells: one row per workload x platform x layout x repeat (docs/reference/tables.md), as CSV or
# Parquet.

CELL_COLUMNS = CELLS.names
CELL_FORMATS = (".csv", ".parquet")


def read_cells(path: Path | str) -> pd.DataFrame:
    """Read a cells file, CSV or Parquet by its suffix, with the types of :func:`read_file`.

    Raises:
        TesseraError: the file is missing, or has another suffix or other columns than :data:`CELL_COLUMNS`.
    """
    path, name = Path(path), f"cells file {path}"
    if check_cell_format(path) == ".csv" or not path.exists():
        return read_file(CELLS, path, name)
    try:
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    except ValueError as error:  # pyarrow's own are ValueErrors
        raise UnreadableTable(
            name, f"cannot be read: {error}", "write it again with tessera simulate"
        ) from error
    return checked_table(CELLS, frame, name)


def check_cell_format(path: Path) -> str:
    """The suffix of a cells file, one of :data:`CELL_FORMATS`.

    Raises:
        TesseraError: the file has another suffix.
    """
    if path.suffix not in CELL_FORMATS:
        raise TesseraError(
            f"cells file {path}", f"its suffix is '{path.suffix}'", f"use one of: {', '.join(CELL_FORMATS)}"
        )
    return path.suffix


def write_cells(rows: pd.DataFrame | list[dict], path: Path | str) -> pd.DataFrame:
    """Write rows, CSV or Parquet by suffix; columns that a row lacks stay empty.

    Returns:
        The written table: counts are Int64, so they are whole in both formats even if a row lacks some.

    Raises:
        TesseraError: the file can't be written (:func:`tessera.core.files.making`).
    """
    table = frame_of(CELLS, rows)
    unknown = set(table["status"]) - set(STATUSES)
    if unknown:
        raise ValueError(f"unknown cell status {unknown}; valid: {STATUSES}")
    if check_cell_format(Path(path)) == ".csv":
        return write_table(CELLS, table, path)
    table = table.astype(dict.fromkeys(CELLS.of_kind(NUMBER), "Float64"))
    with writing(path, "wb") as stream:
        table.to_parquet(stream, index=False)
    return table
