"""The points to predict: a table with `stlb_hits`, `stlb_misses`, `walk_cycles`, one row per design.

A name may be in a column `design` or `layout`; otherwise rows are called `row 1`, `row 2`. Optional
`walk_cycles_ci95` (half-width, cycles) goes into the error budget. Rows whose `status` is present and not
`ok` are left out with a note; any other error stops the command, because a prediction from half a table would
mislead.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.results.read import Unreadable, read_texts
from tessera.results.status import ok_rows, other_rows

COLUMNS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}
INTERVAL = "walk_cycles_ci95"
NAMES = ("design", "layout")


@dataclass(frozen=True)
class DesignCounts:
    """n points: ``names``, ``H``, ``M`` (counts), ``C``, ``C_ci95`` (cycles, NaN if unknown), each (n,)."""

    names: tuple[str, ...]
    H: np.ndarray
    M: np.ndarray
    C: np.ndarray
    C_ci95: np.ndarray
    provenance: tuple[str, ...]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.names)


def read_design(source: str | Path | pd.DataFrame, only: str | None = None) -> DesignCounts:
    """Points of a CSV or a data frame; ``only`` keeps the rows of one name.

    Raises:
        TesseraError: no such file, a missing column, no rows, or a number that is missing, malformed,
            infinite or negative.
    """
    frame, owner = (source, "design") if isinstance(source, pd.DataFrame) else _read(Path(source))
    missing = [column for column in COLUMNS.values() if column not in frame.columns]
    if missing:
        raise TesseraError(
            f"{owner}: columns {', '.join(missing)}",
            f"found only {', '.join(map(str, frame.columns))}",
            f"give a CSV with the header design,{','.join(COLUMNS.values())}",
        )
    label = next((name for name in NAMES if name in frame.columns), None)
    names = [f"row {i}" for i in range(1, len(frame) + 1)] if label is None else list(map(str, frame[label]))
    frame = frame.assign(_name=names)
    notes = [f"left out {name}: status is not ok" for name in other_rows(frame)["_name"]]
    frame = ok_rows(frame)
    if only is not None:
        kept = frame[frame["_name"] == only]
        if kept.empty:
            raise TesseraError(
                f"{owner}: '{only}'", f"it has {', '.join(frame['_name'][:6])}", "name one of them"
            )
        frame = kept
    if frame.empty:
        raise TesseraError(f"{owner}: points", "; ".join(notes) or "no rows", "give at least one row")
    numbers = {symbol: _numbers(frame, column, owner) for symbol, column in COLUMNS.items()}
    known = _numbers(frame, INTERVAL, owner, may_lack=True) if INTERVAL in frame.columns else None
    provenance = frame["tlb_provenance"] if "tlb_provenance" in frame.columns else [""] * len(frame)
    return DesignCounts(
        tuple(frame["_name"]),
        **numbers,
        C_ci95=np.full(len(frame), np.nan) if known is None else known,
        provenance=tuple("" if pd.isna(text) else str(text) for text in provenance),
        notes=notes,
    )


def _read(path: Path) -> tuple[pd.DataFrame, str]:
    try:
        return read_texts(path, f"design {path}"), f"design {path}"
    except Unreadable as error:
        raise TesseraError(error.asked, error.found, "pass a CSV of simulated H, M, C") from error


def _numbers(frame: pd.DataFrame, column: str, owner: str, may_lack: bool = False) -> np.ndarray:
    values = []
    for name, cell in zip(frame["_name"], frame[column], strict=True):
        text = "" if pd.isna(cell) else str(cell).strip()
        if may_lack and text in ("", "nan"):
            values.append(math.nan)
            continue
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            raise TesseraError(
                f"{owner}: {column} of {name}",
                f"{text or 'empty'!r}; it must be a finite number, 0 or more",
                "correct the row, or mark it status=failed to leave it out",
            )
        values.append(value)
    return np.array(values, dtype=float)
