"""The cells table: one row per workload x platform x layout x repeat (docs/contracts.md)."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.errors import TesseraError

#: Names and order of the columns; units are in the names.
COLUMNS: tuple[str, ...] = (
    "workload", "platform", "layout", "repeat", "status", "message",
    "runtime_cycles", "runtime_cycles_ci95", "runtime_ns", "runtime_ns_ci95",
    "stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95",
    "instructions", "accesses", "timed_instructions",
    "program_l1d_loads", "program_l2_loads", "program_l3_loads", "program_dram_loads",
    "walker_l1d_loads", "walker_l2_loads", "walker_l3_loads", "walker_dram_loads",
    "runtime_provenance", "tlb_provenance", "engine",
)  # fmt: skip

STATUSES = ("ok", "failed", "skipped")
PROVENANCES = ("measured", "simulated", "published")
TEXT_COLUMNS = (
    "workload", "platform", "layout", "status", "message",
    "runtime_provenance", "tlb_provenance", "engine",
)  # fmt: skip


def read_cells(path: Path | str) -> pd.DataFrame:
    """A cells file; text columns hold empty strings, never NaN.

    Raises:
        TesseraError: the file is missing or its columns are not :data:`COLUMNS`.
    """
    path = Path(path)
    if not path.exists():
        raise TesseraError(f"cells file {path}", "no such file", "run: ./run reproduce")
    table = pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, "object"), keep_default_na=True)
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise TesseraError(
            f"cells file {path}", f"columns missing: {', '.join(missing)}", "see docs/contracts.md"
        )
    for name in TEXT_COLUMNS:
        table[name] = table[name].fillna("").astype(str)
    return table[list(COLUMNS)]


def write_cells(rows: pd.DataFrame | list[dict], path: Path | str) -> pd.DataFrame:
    """Write rows in contract order; columns that a row lacks stay empty."""
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    unknown = set(table["status"]) - set(STATUSES)
    if unknown:
        raise ValueError(f"unknown cell status {unknown}; valid: {STATUSES}")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    table.to_csv(temporary, index=False)
    temporary.replace(path)
    return table
