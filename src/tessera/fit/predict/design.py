"""The points to predict: a table with `stlb_hits`, `stlb_misses`, `walk_cycles`, one row per design.

A name may be in a column `design` or `layout`; otherwise rows are called `row 1`, `row 2`. Optional
`walk_cycles_ci95` (half-width, cycles) goes into the error budget. Rows whose `status` is present and not
`ok` are left out with a note; any other error stops the command, because a prediction from half a table would
mislead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.table_columns import numbers, refuse_twice, rounding_note, spelled_names, warn_of_spelling
from tessera.core.table_file import read_table
from tessera.fit.models.samples import trace_notes
from tessera.layouts.model import canonical_name, name_notes
from tessera.results.status import ok_rows, other_rows

COLUMNS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}
INTERVAL = "walk_cycles_ci95"
NAMES = ("design", "layout")
_NUMBERS = (*COLUMNS.values(), INTERVAL)
_KNOWN = (*NAMES, *_NUMBERS, "status", "message", "tlb_provenance")


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
    messages: tuple[str, ...] = ()  #: the column of cells, if there is one

    def __len__(self) -> int:
        return len(self.names)


def read_design(source: str | Path | pd.DataFrame, only: str | None = None) -> DesignCounts:
    """Points of a CSV or a data frame; ``only`` keeps the rows of one name.

    Raises:
        TesseraError: no such file, or no table; a missing column, or one that is there twice; no rows, two
            rows of one name; a number that is missing, malformed, infinite or negative.
    """
    if isinstance(source, pd.DataFrame):
        owner = "design"
        frame, notes = spelled_names(source, _KNOWN, owner)
        warn_of_spelling(notes)
    else:
        owner = f"design {source}"
        table = read_table(source, owner, _KNOWN, _NUMBERS)
        frame, notes = table.frame, table.notes
    missing = [column for column in COLUMNS.values() if column not in frame.columns]
    if missing:
        raise TesseraError(
            f"{owner}: columns {', '.join(missing)}",
            f"found only {', '.join(map(str, frame.columns))}",
            f"give a CSV with the header design,{','.join(COLUMNS.values())}",
        )
    label = next((name for name in NAMES if name in frame.columns), None)
    names = [f"row {i}" for i in range(1, len(frame) + 1)]
    if label is not None:
        given = ["" if pd.isna(name) else str(name).strip() for name in frame[label]]
        if "" in given:
            raise TesseraError(
                f"{owner}: {label}",
                f"{given.count('')} rows have no name",
                "name each design, or none of them",
            )
        names, only = given, None if only is None else only.strip()
        if label == "layout":
            names, only = list(map(canonical_name, given)), None if only is None else canonical_name(only)
            notes = [*notes, *(spelled := name_notes(given))]
            if isinstance(source, pd.DataFrame):
                warn_of_spelling(spelled)
    frame = frame.assign(_name=names)
    notes += [f"left out {name}: status is not ok" for name in other_rows(frame)["_name"]]
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
    lines = frame.index if frame.index.name == "line" else None
    refuse_twice(owner, "design", list(frame["_name"]), lines, "give each design a name of its own")
    counted = {s: numbers(frame, column, owner, frame["_name"]) for s, column in COLUMNS.items()}
    notes += filter(None, (rounding_note(frame, column) for column in COLUMNS.values()))
    notes += trace_notes(frame)
    known = None
    if INTERVAL in frame.columns:
        known = numbers(frame, INTERVAL, owner, frame["_name"], may_lack=True)
    provenance = frame["tlb_provenance"] if "tlb_provenance" in frame.columns else [""] * len(frame)
    return DesignCounts(
        tuple(frame["_name"]),
        **counted,
        C_ci95=np.full(len(frame), np.nan) if known is None else known,
        provenance=tuple("" if pd.isna(text) else str(text) for text in provenance),
        notes=notes,
        messages=tuple(frame["message"]) if "message" in frame.columns else (),
    )
