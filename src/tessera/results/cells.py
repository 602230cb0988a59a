"""The cells table: one row per workload x platform x layout x repeat (docs/contracts.md)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError

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


def read_cells(path: Path | str) -> pd.DataFrame:
    """A cells file, CSV or Parquet by its suffix; text columns hold empty strings, never NaN.

    Raises:
        TesseraError: the file is missing or its columns are not :data:`COLUMNS`.
    """
    path = Path(path)
    if not path.exists():
        raise TesseraError(f"cells file {path}", "no such file", "run: ./run reproduce")
    if check_format(path) == ".parquet":
        table = pd.read_parquet(path)
        table = table.astype(
            {name: "float64" for name in table.columns[table.isna().any()] if name in NUMBERS}
        )
    else:
        table = pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, "object"), keep_default_na=True)
    missing = [name for name in COLUMNS if name not in table.columns and name not in ADDED_COLUMNS]
    if missing:
        raise TesseraError(
            f"cells file {path}", f"columns missing: {', '.join(missing)}", "see docs/contracts.md"
        )
    for name in TEXT_COLUMNS:
        table[name] = table[name].fillna("").astype(str)
    return table.reindex(columns=list(COLUMNS))


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
    """Write rows in contract order, CSV or Parquet by suffix; columns that a row lacks stay empty."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    unknown = set(table["status"]) - set(STATUSES)
    if unknown:
        raise ValueError(f"unknown cell status {unknown}; valid: {STATUSES}")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    if check_format(path) == ".parquet":
        types = {name: "Int64" for name in NUMBERS} | dict.fromkeys(FRACTIONS, "Float64")
        table.astype(types).fillna(dict.fromkeys(TEXT_COLUMNS, "")).to_parquet(temporary, index=False)
    else:
        table.to_csv(temporary, index=False)
    temporary.replace(path)
    return table
