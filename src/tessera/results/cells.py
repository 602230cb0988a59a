"""Files of cells: one row per workload x platform x layout x repeat (docs/results.md), as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.results.read import Unreadable, checked, read_file
from tessera.results.schema.cells import CELLS
from tessera.results.schema.table import NUMBER
from tessera.results.status import STATUSES
from tessera.results.write import frame_of, write

COLUMNS = CELLS.names
FORMATS = (".csv", ".parquet")


def read_cells(path: Path | str) -> pd.DataFrame:
    """Read a cells file, CSV or Parquet by its suffix, with the types of :mod:`tessera.results.read`.

    Raises:
        TesseraError: the file is missing, or has another suffix or other columns than :data:`COLUMNS`.
    """
    path, name = Path(path), f"cells file {path}"
    if check_format(path) == ".csv" or not path.exists():
        return read_file(CELLS, path, name)
    try:
        frame = pd.read_parquet(path, dtype_backend="numpy_nullable")
    except ValueError as error:  # pyarrow's own are ValueErrors
        raise Unreadable(name, f"cannot be read: {error}", "write it again with tessera simulate") from error
    return checked(CELLS, frame, name)


def check_format(path: Path) -> str:
    """The suffix of a cells file, one of :data:`FORMATS`.

    Raises:
        TesseraError: the file has another suffix.
    """
    if path.suffix not in FORMATS:
        raise TesseraError(
            f"cells file {path}", f"its suffix is '{path.suffix}'", f"use one of: {', '.join(FORMATS)}"
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
    if check_format(Path(path)) == ".csv":
        return write(CELLS, table, path)
    table = table.astype(dict.fromkeys(CELLS.of_kind(NUMBER), "Float64"))
    with writing(path, "wb") as stream:
        table.to_parquet(stream, index=False)
    return table
