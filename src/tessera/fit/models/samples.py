"""Samples: the points (H, M, C, R) that runtime models are fitted to, one per layout.

Read from the tables of docs/contracts.md ("Samples"). Rows are kept in the order of their layout
names, so no result depends on the order of the file. The anchors `growing-0` (all 4KB) and
`growing-8` (all 2MB) are ordinary samples with a name; `1gb` is held apart and never fitted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALIASES, ALL_1GB, ALL_2MB, ALL_4KB, canonical_name, name_notes
from tessera.core.results.outcomes import note_in, note_sentence, notes_in, ok_rows, other_rows
from tessera.core.table_columns import (
    TableRefused,
    is_missing,
    number_column,
    rounding_note,
    spelled_names,
    warn_of_spelling,
)
from tessera.core.table_file import read_table

COLUMNS = {"R": "runtime_cycles", "H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}
_INTERVALS = ("runtime_cycles_ci95", "walk_cycles_ci95")  #: used by the error budget
_NUMBERS = (*COLUMNS.values(), *_INTERVALS)
_KNOWN = ("layout", *_NUMBERS, "workload", "platform", "status", "message", "runtime_provenance")


@dataclass(frozen=True)
class Samples:
    """n samples: ``layouts`` (n names), ``H``, ``M`` (counts), ``C``, ``R`` (cycles), each (n,)."""

    layouts: tuple[str, ...]
    H: np.ndarray
    M: np.ndarray
    C: np.ndarray
    R: np.ndarray

    def __len__(self) -> int:
        return len(self.layouts)

    @property
    def effective_n(self) -> int:
        """Number of distinct (H, M, C) rows: a layout that repeats a row tells a model nothing new."""
        return len(set(zip(self.H, self.M, self.C, strict=True)))

    def subset(self, rows) -> Samples:
        """The samples at these row numbers, in this order."""
        rows = np.asarray(rows, dtype=int)
        return Samples(
            tuple(self.layouts[i] for i in rows),
            *(getattr(self, name)[rows] for name in ("H", "M", "C", "R")),
        )

    def in_order(self) -> Samples:
        """The same samples by layout name, as in a table: sums then run in one order, to the last bit."""
        order = sorted(range(len(self)), key=self.layouts.__getitem__)  # stable
        return self if order == list(range(len(self))) else self.subset(order)

    def anchor(self, layout: str) -> tuple[float, float, float, float]:
        """(H, M, C, R) of an anchor; TesseraError if it is not among the samples."""
        if layout not in self.layouts:
            raise _missing_anchors([layout], self.layouts)
        row = self.layouts.index(layout)
        return float(self.H[row]), float(self.M[row]), float(self.C[row]), float(self.R[row])


@dataclass(frozen=True)
class SamplesTable:
    """A checked samples table: what is fitted, the `1gb` test point if any, and what was left out.

    ``frame`` has every column as it was read, of the rows kept, indexed by layout name.
    """

    fitted: Samples
    test: Samples | None
    notes: list[str] = field(default_factory=list)
    frame: pd.DataFrame = field(default_factory=pd.DataFrame, compare=False)

    @property
    def messages(self) -> tuple:
        """The column `message` of the rows kept; empty if the table has none."""
        return tuple(self.frame["message"]) if "message" in self.frame.columns else ()

    @property
    def runtime_provenance(self) -> str:
        """Provenance of the runtimes: `measured`, `simulated`, `mixed`, or empty if the table has none."""
        if "runtime_provenance" not in self.frame.columns:
            return ""
        found = sorted({str(text) for text in self.frame["runtime_provenance"]} - {"", "nan"})
        return found[0] if len(found) == 1 else "mixed" if found else ""


def read_samples(path: str | Path) -> SamplesTable:
    """Read and check a samples CSV (errors as in :func:`check_samples`, and of a file that is no table)."""
    owner = f"samples {path}"
    try:
        table = read_table(path, owner, _KNOWN, _NUMBERS)
    except TableRefused as error:
        if error.code == "table-absent":
            raise TesseraError(error.asked, error.found, _HEADER, code=error.code) from None
        raise error from None
    return _checked(table.frame, str(path), table.notes)


def check_samples(frame: pd.DataFrame, owner: str = "samples") -> SamplesTable:
    """Check a table of samples (or of the cells of one workload and platform).

    Raises:
        TesseraError: a column or an anchor is missing, or a column is there twice; a number is missing,
            malformed, infinite or negative; a runtime is zero or empty (hybrid cells); a layout appears
            twice or has no printable name; the table mixes workloads or platforms.
    """
    frame, notes = spelled_names(frame, _KNOWN, owner)
    table = _checked(frame, owner, notes)
    warn_of_spelling([*notes, *name_notes(map(str, frame["layout"]))])
    return table


def _checked(frame: pd.DataFrame, owner: str, notes: list[str]) -> SamplesTable:
    missing = [c for c in ("layout", *COLUMNS.values()) if c not in frame.columns]
    if missing:
        code = next((f"{symbol.lower()}-absent" for symbol, c in COLUMNS.items() if c in missing), "")
        raise TesseraError(
            f"{owner}: columns {', '.join(missing)}", f"found only {', '.join(map(str, frame))}", _HEADER,
            code=code,
        )  # fmt: skip
    require_one_pair(frame, owner)
    notes = [*notes, *(_left_out(row) for _, row in other_rows(frame).iterrows())]
    frame = ok_rows(frame)
    frame, spelled = _one_spelling(frame, owner)
    _refuse_uncounted(frame, owner)
    counted = {name: _numbers(frame, column, owner) for name, column in COLUMNS.items()}
    notes += [
        *spelled,
        *trace_notes(frame),
        *filter(None, (rounding_note(frame, column) for column in COLUMNS.values())),
    ]
    absent = [a for a in (ALL_4KB, ALL_2MB) if a not in set(frame["layout"])]
    if absent:
        raise _missing_anchors(absent, tuple(frame["layout"]), notes, owner)
    order = np.argsort(frame["layout"].to_numpy(dtype=str), kind="stable")
    everything = Samples(tuple(frame["layout"]), *(counted[name] for name in ("H", "M", "C", "R")))
    everything = everything.subset(order)
    is_test = np.array([name == ALL_1GB for name in everything.layouts])
    test = everything.subset(np.flatnonzero(is_test)) if is_test.any() else None
    return SamplesTable(
        everything.subset(np.flatnonzero(~is_test)), test, notes, frame.set_index("layout", drop=False)
    )


def require_one_pair(frame: pd.DataFrame, owner: str) -> None:
    """Refuse rows of several workloads or platforms, if the columns are there."""
    for column in ("workload", "platform"):
        if column in frame.columns and frame[column].nunique(dropna=False) > 1:
            names = ", ".join(sorted(map(str, frame[column].unique())))
            raise TesseraError(
                f"{owner}: one {column}",
                f"the rows have several: {names}",
                f"keep the rows of a single {column}; a run has them in cells/<workload>/<platform>.csv",
            )


def trace_notes(frame: pd.DataFrame) -> list[str]:
    """Which rows have counts of a trace with one of several threads, or with accesses outside its pools."""
    messages = list(frame["message"]) if "message" in frame.columns else []
    return [
        f"{sum(note_in(message) == note for message in messages)} of {len(frame)} rows: {note_sentence(note)}"
        for note in notes_in(messages)
    ]


def _one_spelling(frame: pd.DataFrame, owner: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows with the canonical names of their layouts, each once, and notes on other spellings."""
    given = frame["layout"].astype(object).where(frame["layout"].notna(), "").astype(str).str.strip()
    unnamed = [name for name in given if not name or not name.isprintable()]
    if unnamed:
        raise TesseraError(
            f"{owner}: layout {unnamed[0]!r}",
            f"{len(unnamed)} rows have no name, or one with a character that is not printable",
            "name the layout of each row, as in: tessera layouts generate --help",
        )
    frame = frame.assign(layout=given.map(canonical_name))
    repeated = frame["layout"][frame["layout"].duplicated()].unique()
    if len(repeated):
        lines = frame.index[frame["layout"] == repeated[0]].tolist()
        where = f"in lines {', '.join(map(str, lines[:4]))} " if frame.index.name == "line" else ""
        raise TesseraError(
            f"{owner}: layout {', '.join(repeated)}",
            f"it appears {where}more than once (4kb is {ALL_4KB}, 2mb is {ALL_2MB})",
            "keep one row per layout; average repeats first",
        )
    folded = frame["layout"].str.casefold()
    alike = frame["layout"][folded.duplicated(keep=False)].tolist()
    if alike:
        raise TesseraError(
            f"{owner}: layouts {', '.join(alike[:4])}",
            "names differ only in their case",
            "write a layout's name alike in all rows, and keep one row per layout",
        )
    return frame, name_notes(given)


_HEADER = f"give a CSV with the header layout,{','.join(COLUMNS.values())}"


def _refuse_uncounted(frame: pd.DataFrame, owner: str) -> None:
    """Reject a table in which H, M or C is empty in every row: its processor does not count it."""
    empty = [
        name
        for name, column in COLUMNS.items()
        if name != "R" and len(frame) and frame[column].map(is_missing).all()
    ]
    if not empty:
        return
    from tessera.fit.models.registry import EVERY

    needing = {
        s: [model.name for model in EVERY.values() if s in re.findall("[HMC]", model.equation)] for s in empty
    }
    raise TesseraError(
        f"{owner}: {', '.join(COLUMNS[name] for name in empty)}",
        "empty in every row, so it was neither counted nor simulated; "
        + "; ".join(f"models that need {name}: {', '.join(models)}" for name, models in needing.items()),
        "fit samples of a processor that counts H, M and C (tessera measure counters show), or cells of"
        " another plan"
        " than --sampling tlbs",
        code="not-counted",
    )


def _numbers(frame: pd.DataFrame, column: str, owner: str) -> np.ndarray:
    """A column as floats (n,): finite, not negative, and positive for the runtime."""
    runtime = column == COLUMNS["R"]
    if runtime and len(frame) and frame[column].map(is_missing).all():
        raise TesseraError(
            f"{owner}: {column}",
            "empty in every row; a model cannot be fitted to hybrid cells",
            "fit samples whose runtime is in cycles (simulated, or measured with a PMU)",
            code="r-absent",
        )
    return number_column(frame, column, owner, frame["layout"], above=runtime, kind="layout ")


def _left_out(row: pd.Series) -> str:
    reason = row.get("message", "")
    because = f" ({reason.strip()})" if isinstance(reason, str) and reason.strip() else ""
    return f"left out {row['layout']}: status {row['status']}{because}"


def _missing_anchors(absent, present, notes=(), owner="samples") -> TesseraError:
    other = {anchor: alias for alias, anchor in ALIASES.items()}
    asked = ", ".join(f"{name} ({other.get(name, name)})" for name in absent)
    found = ", ".join(list(present)[:6]) + (", ..." if len(present) > 6 else "")
    return TesseraError(
        f"{owner}: anchor layout {asked}",
        "; ".join([f"found {found or 'no layouts'}", *notes[:2]]),
        "add the missing runs: the models of earlier papers are defined by the 4KB and 2MB runs",
        code="no-anchor",
    )
