"""Write tables of the results: the schema's columns in its order, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.files import writing
from tessera.results.schema.table import COUNT, Table


def write(table: Table, frame: pd.DataFrame, path: Path | str) -> pd.DataFrame:
    """Write ``frame`` as CSV and return it. Counts are written as whole numbers, beside empty cells too.

    Raises:
        ValueError: its columns are not the table's, or a count is no whole number (an error of the caller).
        TesseraError: ``path`` cannot be written.
    """
    if tuple(frame.columns) != table.names:
        raise ValueError(f"{table.name}: columns {list(frame.columns)}; declared are {list(table.names)}")
    whole = frame.astype({name: "Int64" for name in table.of_kind(COUNT) if frame[name].dtype != "int64"})
    with writing(path) as stream:
        whole.to_csv(stream, index=False, lineterminator="\n", float_format=table.float_format)
    return frame


def table_of(table: Table, rows: list) -> pd.DataFrame:
    """Rows (mappings or tuples) as a data frame with the table's columns; what a mapping lacks is empty."""
    return pd.DataFrame(rows, columns=list(table.names))
