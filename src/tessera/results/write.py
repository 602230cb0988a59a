"""Write tables of the results with the columns and order of the schema; a file is never left incomplete."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pandas as pd

from tessera.core.files import writing
from tessera.results.read import texts
from tessera.results.schema.table import COUNT, TEXT, Table


def write(table: Table, frame: pd.DataFrame, path: Path | str) -> pd.DataFrame:
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
    counts are int64, as `read` returns them, so tables computed from them hold plain numbers.
    """
    frame = with_whole_counts(table, pd.DataFrame(rows, columns=list(table.names)))
    for name in table.of_kind(COUNT):
        if frame[name].dtype == "Int64" and frame[name].notna().all():
            frame[name] = frame[name].astype("int64")
    for name in table.of_kind(TEXT):
        frame[name] = texts(frame[name])
    return frame
