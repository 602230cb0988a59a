"""Read tables of the results: typed columns, and an error that says which file lacks what.

Types (:mod:`tessera.results.schema`): *text* is a string, empty where there is none; *number* a double, NaN
where there is none; *truth* True or False, None where neither; *count* an int64 if every row has one, else a
double with NaN (whole numbers below 2^53 are exact in it; fractions come from elsewhere and stay). Layouts
get their canonical names.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.layouts.model import canonical_name
from tessera.results.schema.table import COUNT, NUMBER, STATUS, TEXT, TRUTH, Table
from tessera.results.status import ok_rows
from tessera.results.tree import Tree

_TRUTH = {"True": True, "False": False, "1": True, "0": False, "1.0": True, "0.0": False}
_LAYOUTS = ("layout", "duplicate_of")


class Unreadable(TesseraError):
    """A table that is missing (``absent``), or is not what docs/results.md says."""

    def __init__(self, file: str, found: str, remedy: str = "./run reproduce", absent: bool = False):
        super().__init__(file, found, remedy, exit_code=EXIT_FAILED)
        self.absent = absent


def empty(table: Table) -> pd.DataFrame:
    """No rows, all columns."""
    return _typed(table, pd.DataFrame(columns=list(table.names)))


def read_file(table: Table, path: Path, name: str = "") -> pd.DataFrame:
    """One file; ``name`` stands in messages for its path.

    Raises:
        Unreadable: no such file, columns missing, or a column that does not hold what it should.
    """
    name = name or str(path)
    try:
        frame = pd.read_csv(
            path, keep_default_na=False, dtype=dict.fromkeys(table.of_kind(TEXT), "object"),
            na_values={column: [""] for column in table.of_kind(COUNT, NUMBER, TRUTH)},
        )  # fmt: skip
    except FileNotFoundError:
        remedy = f"./run reproduce makes it ({table.writer})"
        raise Unreadable(name, "no such file", remedy, absent=True) from None
    except (OSError, ValueError) as error:  # ParserError and EmptyDataError are ValueErrors
        raise Unreadable(name, f"cannot be read: {error}") from None
    return checked(table, frame, name)


def checked(table: Table, frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """``frame`` with the table's columns and types; as :func:`read_file`."""
    missing = [column for column in table.names if column not in frame and column not in table.added]
    if missing:
        raise Unreadable(name, f"lacks {', '.join(missing)}", "make it again with this version")
    try:
        return _typed(table, frame.reindex(columns=list(table.names)))
    except (ValueError, TypeError) as error:
        raise Unreadable(name, f"cannot be read: {error}", "make it again with this version") from None


def read_undeclared(path: Path, name: str = "", **options) -> pd.DataFrame:
    """A table that no schema knows, with pandas' own types or those of ``options`` (of its ``read_csv``).

    Raises:
        Unreadable: no such file, or no CSV.
    """
    try:
        return pd.read_csv(path, **options)
    except (FileNotFoundError, IsADirectoryError):
        raise Unreadable(name or str(path), "no such file", absent=True) from None
    except (OSError, ValueError) as error:
        raise Unreadable(name or str(path), f"cannot be read: {error}") from None


def read_texts(path: Path, name: str = "", table: Table | None = None) -> pd.DataFrame:
    """A table whose cells stay text, so that numbers keep their digits and errors can show what was given.

    Raises:
        Unreadable: no such file, no CSV, or not exactly the columns of ``table``.
    """
    frame = read_undeclared(path, name, dtype=str, keep_default_na=False)
    if table and tuple(frame.columns) != table.names:
        found, wanted = (",".join(map(str, names)) for names in (frame.columns, table.names))
        raise Unreadable(name or str(path), f"columns {found}; expected {wanted}", "make it again")
    return frame


def read(table: Table, tree: Tree, *names: str) -> pd.DataFrame:
    """A table of a tree. One that is many files: that of ``names`` (workload, platform), or all together.

    Raises:
        Unreadable: as :func:`read_file`; of all together none need be there.
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
            frame[name] = frame[name].map(canonical_name).astype("str")
    return frame


def texts(values: pd.Series) -> pd.Series:
    """Strings; empty where there is none."""
    return values.astype("object").where(values.notna(), "").astype("str")


def _number(values: pd.Series, kind: str) -> pd.Series:
    try:
        doubles = values.astype("float64")
    except (ValueError, TypeError):
        wrong = values[pd.to_numeric(values, errors="coerce").isna() & values.notna()]
        raise ValueError(f"column {values.name} holds '{wrong.iloc[0]}', which is no number") from None
    return doubles.astype("int64") if kind == COUNT and (doubles % 1 == 0).all() else doubles


def _truth(values: pd.Series) -> pd.Series:
    found = values.map(lambda value: None if pd.isna(value) else _TRUTH.get(str(value), value))
    wrong = [value for value in found if value not in (True, False, None)]
    if wrong:
        raise ValueError(f"column {values.name} holds '{wrong[0]}', which is neither True nor False")
    return found.astype("bool" if found.notna().all() else "object")
