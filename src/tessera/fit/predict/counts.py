"""Designs by their counts, and what the user states of them.

Counts are refused, not guessed: a number that is absent, negative or not finite reaches the decision, which
names it. What H and C count, the class, and the walkers must be stated (docs/explain/predict.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB, canonical_name
from tessera.core.results.outcomes import ok_rows, other_rows
from tessera.core.table_columns import (
    TableRefused,
    finite_number,
    is_missing,
    refuse_twice,
    shown,
    spelled_names,
)
from tessera.core.table_file import read_table
from tessera.fit.predict.answers import Reason, number_reasons
from tessera.fit.predict.bracket import ChangedCounts
from tessera.fit.predict.calibrated import Clocks
from tessera.fit.predict.decision import Decision, Question, decide_question, refused_question
from tessera.fit.predict.processor import MEASURED, SIMULATED, Processor

LATENCY, ACCESSES = HITS_ARE = ("latency", "accesses")
BUSY, WAITED = WALK_CYCLES_ARE = ("busy", "waited")
COLUMNS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles", "S": "runtime_cycles"}
ALIKE = 0.8  #: share of letters in order, from which a column's name is a misspelling
_KNOWN = ("design", "layout", *COLUMNS.values(), "status", "message")


@dataclass(frozen=True)
class DesignPoint:
    """A design under a layout; None is a count that is absent.

    Args:
        H, M, C: STLB hits, STLB misses, walk cycles of the design.
        S: its runtime in cycles by the simulator that counted it; only `calibrated` needs it.
    """

    design: str
    layout: str = ALL_4KB
    H: float | None = None
    M: float | None = None
    C: float | None = None
    S: float | None = None


@dataclass(frozen=True)
class Statement:
    """What counts do not say of themselves; None is not stated.

    Args:
        hits_are: `latency` (hits x their cycles / hit time of P) or `accesses`.
        walk_cycles_are: `busy` (of all walks) or `waited` (of those that an access waits for).
        groups: classes of the designs (docs/explain/transfer.md, Classes).
        walkers: of the designs; None: those of P.
        miss_cycles: what their look-ups of misses take more than on P, in total.
    """

    hits_are: str | None = None
    walk_cycles_are: str | None = None
    groups: tuple[str, ...] = ()
    walkers: int | None = None
    miss_cycles: float = 0.0

    def missing(self) -> list[Reason]:
        """What is not stated, or is no input of the sources."""
        found = []
        if self.hits_are is None:
            found.append(Reason("hits-unstated", "nothing states what stlb_hits counts"))
        elif self.hits_are == ACCESSES:
            text = "stlb_hits counts accesses, and the sources need the hits' cycles divided by P's hit time"
            found.append(Reason("hits-accesses", text))
        if self.walk_cycles_are is None:
            found.append(Reason("walk-cycles-unstated", "nothing states what walk_cycles counts"))
        elif self.walk_cycles_are == WAITED:
            text = "walk_cycles lacks walks that no access waits for, and the sources need the cycles of all"
            found.append(Reason("walk-cycles-waited", text))
        if not self.groups:
            found.append(Reason("class-absent", "the class of the design is not stated"))
        return found


@dataclass(frozen=True)
class CountsTable:
    """Rows of one table, the workloads that they name, and notes on it."""

    rows: tuple[DesignPoint, ...]
    workloads: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_design_points(source: str | Path | pd.DataFrame, only: str | None = None) -> CountsTable:
    """Rows of a CSV or data frame: ``design``, ``layout`` (else growing-0), H, M, C, and perhaps S.

    Without a column ``design``, rows are named by their layout, else `row 1`, `row 2`. Rows whose ``status``
    is not ok are left out with a note.

    Raises:
        TesseraError: no table, no row, a row without a name, a design twice under one layout, or a cell that
            is no number.
    """
    if isinstance(source, pd.DataFrame):
        owner = "counts"
        frame, notes = spelled_names(source, _KNOWN, owner)
    else:
        owner = f"counts {source}"
        table = read_table(source, owner, _KNOWN, tuple(COLUMNS.values()))
        frame, notes = table.frame, list(table.notes)
    _refuse_alike(frame, owner)
    layouts = [ALL_4KB] * len(frame)
    if "layout" in frame.columns:
        layouts = [
            ALL_4KB if is_missing(name) else canonical_name(str(name).strip()) for name in frame["layout"]
        ]
    names = [f"row {i}" for i in range(1, len(frame) + 1)]
    if "design" in frame.columns:
        names = ["" if is_missing(name) else str(name).strip() for name in frame["design"]]
        if "" in names:
            raise TesseraError(
                f"{owner}: design", f"{names.count('')} rows have no name", "name each design, or none",
                code="design-unnamed",
            )  # fmt: skip
        if strange := [name for name in names if not name.isprintable()]:
            raise TesseraError(
                f"{owner}: design {strange[0]!r}", "a character that is not printable", "write a word",
                code="design-unnamed",
            )  # fmt: skip
    elif "layout" in frame.columns:
        names = layouts
    frame = frame.assign(design=names, layout=layouts)
    notes += [f"left out {name}: status is not ok" for name in other_rows(frame)["design"]]
    frame = ok_rows(frame)
    if only is not None:
        kept = frame[frame["design"].isin([only.strip(), canonical_name(only.strip())])]
        if kept.empty:
            known = ", ".join(list(frame["design"])[:6]) or "no row"
            raise TesseraError(
                f"{owner}: '{only}'", f"it has {known}", "name one of them", code="design-unknown"
            )
        frame = kept
    if frame.empty:
        raise TesseraError(f"{owner}: rows", "; ".join(notes) or "none", "give at least one", code="no-rows")
    both = [f"{a} under {b}" for a, b in zip(frame["design"], frame["layout"], strict=True)]
    lines = frame.index if frame.index.name == "line" else None
    refuse_twice(owner, "design", both, lines, "keep one row per design and layout")
    rows = []
    for at, row in enumerate(frame.to_dict("records")):
        where = owner if lines is None else f"{owner} line {lines[at]}"
        values = {symbol: _value(row.get(column), where, column) for symbol, column in COLUMNS.items()}
        rows.append(DesignPoint(row["design"], row["layout"], **values))
    named = frame["workload"] if "workload" in frame.columns else []
    return CountsTable(tuple(rows), tuple(dict.fromkeys(str(w) for w in named if not is_missing(w))), notes)


def answer(counts: DesignPoint, statement: Statement, processor: Processor) -> Decision:
    """The decision for counts. No class is open: nothing compares their simulator's P with the samples."""
    unknown = "nothing compares this simulator's counts of P with the samples, as --design does"
    base = processor.bases.get(counts.layout)
    clock = processor.clock or {}
    question = Question(
        counts.design, statement.groups, (), base,
        ChangedCounts(
            counts.H, counts.C, processor.walkers if statement.walkers is None else statement.walkers,
            statement.miss_cycles,
        ),
        Clocks(None if base is None else base.runtime, clock.get(counts.layout), counts.S),
        simulated=processor.origin == SIMULATED, measured=processor.origin == MEASURED,
        open={group: (False, f"class {group}: {unknown}") for group in statement.groups},
        layout=counts.layout,
    )  # fmt: skip
    wrong = [*statement.missing(), *number_reasons("m", "M', the STLB misses of the design,", counts.M)]
    wrong += [*_walkers_differ(statement, processor), *_units(counts, processor)]
    if base is None:
        wrong.append(layout_absent(counts.layout, processor))
    if wrong:
        return refused_question(question, wrong)
    return decide_question(question, processor.bracket, processor.calibrated)


def _walkers_differ(statement: Statement, processor: Processor) -> list[Reason]:
    """Why a design that is not ``invisible`` cannot have this number of walkers."""
    stated, own = statement.walkers, processor.walkers
    if stated is None or stated <= 0 or own in (None, stated) or "invisible" in statement.groups:
        return []
    text = f"the design has {stated} walkers and P has {own}, which is class invisible"
    return [Reason("walkers-differ", text)]


def _units(counts: DesignPoint, processor: Processor) -> list[Reason]:
    """Walk cycles that are fewer than the misses: a walk takes a cycle or more. C = 0 has a reason."""
    samples = processor.samples
    of_p = float(samples.C.sum()), float(samples.M.sum())
    asked = (counts.C, counts.M, "the design"), (*of_p, "P, over its samples,")
    return [
        Reason("units", f"{what} has {C:.4g} walk cycles for {M:.4g} misses, less than one for each")
        for C, M, what in asked
        if C is not None and M is not None and 0 < C < M < math.inf
    ]


def _refuse_alike(frame: pd.DataFrame, owner: str) -> None:
    """Refuse a column that is nearly a column that the table lacks, such as layuot."""
    absent = [name for name in ("design", "layout", *COLUMNS.values()) if name not in frame.columns]
    for column in map(str, frame.columns):
        alike = get_close_matches(column, absent, 1, ALIKE) if column not in _KNOWN else []
        if alike:
            raise TesseraError(
                f"{owner}: column '{shown(column)}'", f"is it {alike[0]}?", "rename or delete it",
                code="column-alike",
            )  # fmt: skip


def layout_absent(pages: str, processor: Processor) -> Reason:
    """Why a layout cannot be asked about."""
    known = list(processor.bases)
    listed = ", ".join(known[:4]) + (", ..." if len(known) > 4 else "")
    return Reason("layout-unknown", f"P has no run under {pages}; it has {listed}")


def check_groups(groups: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The classes, each once.

    Raises:
        TesseraError: there is no such class.
    """
    found = tuple(dict.fromkeys(part for text in groups for part in text.replace(",", " ").split()))
    if wrong := [group for group in found if group not in known]:
        raise TesseraError(
            f"class '{wrong[0]}'", "no such class",
            f"use {', '.join(known)} (docs/explain/transfer.md, Classes)",
            code="class-unknown",
        )  # fmt: skip
    return tuple(group for group in found if group != "control" or len(found) == 1)  # as groups_of a design


def _value(cell, where: str, column: str) -> float | None:
    """A number as it is given, also a negative one, NaN and infinity; None if the cell is empty."""
    if cell is None or cell is pd.NA or cell is pd.NaT:
        return None
    if isinstance(cell, float) and not math.isfinite(cell):
        return cell
    text = str(cell).strip()
    if text.lstrip("+-").casefold() in ("nan", "inf", "infinity"):
        return float(text)
    if is_missing(text):
        return None
    try:
        return finite_number(text)
    except ValueError as error:
        raise TableRefused(
            f"{where}: {column}", f"'{text[:40]}': {error}", "give a plain number", "number"
        ) from None
