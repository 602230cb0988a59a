"""The cells table: one row per workload x platform x layout x repeat (docs/contracts.md)."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import writing

#: Names and order of the columns; units are in the names.
COLUMNS: tuple[str, ...] = (
    "workload", "platform", "layout", "repeat", "status", "message",
    "runtime_cycles", "runtime_cycles_ci95", "runtime_ns", "runtime_ns_ci95",
    "stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95",
    "instructions", "accesses", "timed_instructions",
    "program_l1d_loads", "program_l2_loads", "program_l3_loads", "program_dram_loads",
    "walker_l1d_loads", "walker_l2_loads", "walker_l3_loads", "walker_dram_loads",
    "runtime_provenance", "tlb_provenance", "engine",
    "instruction_stlb_hits", "instruction_stlb_misses", "instruction_walk_cycles",
)  # fmt: skip

#: Files that were written before these columns existed lack them; they count as empty (not simulated).
ADDED_COLUMNS = ("instruction_stlb_hits", "instruction_stlb_misses", "instruction_walk_cycles")
FORMATS = (".csv", ".parquet")
STATUSES = ("ok", "failed", "skipped")
PROVENANCES = ("measured", "simulated", "published")
TEXT_COLUMNS = (
    "workload", "platform", "layout", "status", "message",
    "runtime_provenance", "tlb_provenance", "engine",
)  # fmt: skip

FRACTIONS = ("runtime_ns", "runtime_ns_ci95")  #: clock time; every other number is a count
NUMBERS = tuple(name for name in COLUMNS if name not in TEXT_COLUMNS)
COUNTS = tuple(name for name in NUMBERS if name not in FRACTIONS)


def read_cells(path: Path | str) -> pd.DataFrame:
    """A cells file, CSV or Parquet by its suffix; text columns hold empty strings, never NaN.

    Columns of numbers are int64, or float64 with NaN where a row lacks one (exact: counts are below 2**53).

    Raises:
        TesseraError: the file is missing or its columns are not :data:`COLUMNS`.
    """
    path = Path(path)
    if not path.exists():
        raise TesseraError(f"cells file {path}", "no such file", "run: ./run reproduce")
    try:
        table = _read(path)
    except ValueError as error:  # pandas' and pyarrow's own, and UnicodeDecodeError, are ValueErrors
        found = f"it can't be read: {error}"
        raise TesseraError(f"cells file {path}", found, "write it again: tessera simulate") from error
    missing = [name for name in COLUMNS if name not in table.columns and name not in ADDED_COLUMNS]
    if missing:
        raise TesseraError(
            f"cells file {path}", f"columns missing: {', '.join(missing)}", "see docs/contracts.md"
        )
    for name in TEXT_COLUMNS:
        table[name] = table[name].fillna("").astype(str)
    return table.reindex(columns=list(COLUMNS))


def _read(path: Path) -> pd.DataFrame:
    if check_format(path) == ".csv":
        return pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, "object"), keep_default_na=True)
    table = pd.read_parquet(path, dtype_backend="numpy_nullable")
    return table.astype({name: _numpy_type(table[name]) for name in NUMBERS if name in table.columns})


def check_format(path: Path) -> str:
    """The suffix of a cells file, one of :data:`FORMATS`.

    Raises:
        TesseraError: it has another one.
    """
    if path.suffix not in FORMATS:
        raise TesseraError(
            f"cells file {path}", f"its suffix is '{path.suffix}'", f"use one of: {', '.join(FORMATS)}"
        )
    return path.suffix


def write_cells(rows: pd.DataFrame | list[dict], path: Path | str) -> pd.DataFrame:
    """Write rows in contract order, CSV or Parquet by suffix; columns that a row lacks stay empty.

    Returns:
        What was written: counts are Int64, so they are whole in both formats whatever a row lacks.

    Raises:
        TesseraError: the file can't be written (:func:`tessera.core.files.making`).
    """
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    unknown = set(table["status"]) - set(STATUSES)
    if unknown:
        raise ValueError(f"unknown cell status {unknown}; valid: {STATUSES}")
    table = _with_whole_counts(table)
    if check_format(Path(path)) == ".parquet":
        table = table.astype(dict.fromkeys(TEXT_COLUMNS, "str")).fillna(dict.fromkeys(TEXT_COLUMNS, ""))
        with writing(path, "wb") as stream:
            table.to_parquet(stream, index=False)
    else:
        with writing(path) as stream:
            table.to_csv(stream, index=False)
    return table


def _numpy_type(column: pd.Series) -> str:
    return "int64" if pd.api.types.is_integer_dtype(column) and column.notna().all() else "float64"


def _with_whole_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Counts as integers that may be missing, so that a failed row makes no fractions of the others."""
    table = table.astype(dict.fromkeys(FRACTIONS, "Float64"))
    for name in COUNTS:
        with suppress(TypeError):  # a count that is no integer comes from elsewhere and stays
            table[name] = table[name].astype("Int64")
    return table
