"""Predict runtimes at given counts: the points, their distance from the samples, intervals, warnings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import canonical_name, name_notes
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.outcomes import notes_in, ok_rows, other_rows
from tessera.core.results.table_io import frame_of
from tessera.core.table_columns import (
    number_column,
    refuse_twice,
    rounding_note,
    spelled_names,
    warn_of_spelling,
)
from tessera.core.table_file import read_table
from tessera.fit.evaluation.intervals import LEVEL, PredictionInterval, UnseenErrors, unseen_errors
from tessera.fit.models.base import ORDER, RuntimeModel, check_one_in_ten
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples, SamplesTable, check_samples, read_samples, trace_notes
from tessera.fit.models.terms import INPUT_COLUMNS

# The points to predict: a table with `stlb_hits`, `stlb_misses`, `walk_cycles`, one row per design.
#
# A name may be in a column `design` or `layout`; otherwise rows are called `row 1`, `row 2`. Optional
# `walk_cycles_ci95` (half-width, cycles) goes into the error budget. Rows whose `status` is present and not
# `ok` are left out with a note; any other error stops the command, because a prediction from half a table
# would mislead.

DESIGN_COLUMNS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}
WALK_CYCLES_INTERVAL = "walk_cycles_ci95"
DESIGN_NAMES = ("design", "layout")
_NUMBERS = (*DESIGN_COLUMNS.values(), WALK_CYCLES_INTERVAL)
_KNOWN = (*DESIGN_NAMES, *_NUMBERS, "status", "message", "tlb_provenance")


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
    missing = [column for column in DESIGN_COLUMNS.values() if column not in frame.columns]
    if missing:
        raise TesseraError(
            f"{owner}: columns {', '.join(missing)}",
            f"found only {', '.join(map(str, frame.columns))}",
            f"give a CSV with the header design,{','.join(DESIGN_COLUMNS.values())}",
        )
    label = next((name for name in DESIGN_NAMES if name in frame.columns), None)
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
    counted = {s: number_column(frame, column, owner, frame["_name"]) for s, column in DESIGN_COLUMNS.items()}
    notes += filter(None, (rounding_note(frame, column) for column in DESIGN_COLUMNS.values()))
    notes += trace_notes(frame)
    known = None
    if WALK_CYCLES_INTERVAL in frame.columns:
        known = number_column(frame, WALK_CYCLES_INTERVAL, owner, frame["_name"], may_lack=True)
    provenance = frame["tlb_provenance"] if "tlb_provenance" in frame.columns else [""] * len(frame)
    return DesignCounts(
        tuple(frame["_name"]),
        **counted,
        C_ci95=np.full(len(frame), np.nan) if known is None else known,
        provenance=tuple("" if pd.isna(text) else str(text) for text in provenance),
        notes=notes,
        messages=tuple(frame["message"]) if "message" in frame.columns else (),
    )


# Distance of a point to the convex hull of the samples in (H, M, C).
#
# Each input can be in its range although no sample has a similar combination (many misses without walk
# cycles), so a check of the three ranges is not enough. Inputs are divided by their ranges over the samples
# (an input that never varies by its value, or 1). The distance is the least t such that some mixture of
# samples is within t of the point in every input, a linear program: minimise t subject to |sum_i w_i x_i -
# p| <= t, sum_i w_i = 1, w >= 0. t = 0.1 means "outside by 10% of the range".

INSIDE = 1e-7  #: of the range; what the linear program's tolerance leaves of zero


def distance_outside(samples: Samples, H: float, M: float, C: float, used: Sequence[str] = ORDER) -> float:
    """Distance of one point to the hull as a share of the ranges; 0.0 inside.

    ``used``: the inputs that count, at least one.
    """
    from scipy.optimize import linprog  # 0.3 s to import

    of_point = dict(zip(ORDER, (H, M, C), strict=True))
    known = np.unique(np.column_stack([getattr(samples, symbol) for symbol in used]), axis=0)
    low, extent = known.min(axis=0), _extents(known)
    points = (known - low) / extent
    point = (np.array([of_point[symbol] for symbol in used], dtype=float) - low) / extent
    n, k = points.shape
    if k == 1:  # no linear program for a range
        beyond = float(max(points.min() - point[0], point[0] - points.max()))
        return beyond if beyond > INSIDE else 0.0
    edge = -np.ones((k, 1))
    found = linprog(
        c=np.append(np.zeros(n), 1.0),
        A_ub=np.block([[points.T, edge], [-points.T, edge]]),
        b_ub=np.concatenate([point, -point]),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        raise TesseraError(
            f"hull of {len(samples)} samples at H={H:g}, M={M:g}, C={C:g}",
            f"the linear program found no optimum: {found.message}",
            "check the units of the design: plain counts and cycles",
            exit_code=EXIT_FAILED,
        )
    return float(found.fun) if found.fun > INSIDE else 0.0


def outside_ranges(samples: Samples, H: float, M: float, C: float) -> list[str]:
    """Which inputs are out of their own range, and by how much of it."""
    known = np.column_stack([getattr(samples, symbol) for symbol in ORDER])
    found = []
    for symbol, value, low, high, extent in zip(
        ORDER, (H, M, C), known.min(axis=0), known.max(axis=0), _extents(known), strict=True
    ):
        beyond = max(low - value, value - high) / extent
        if beyond > INSIDE:
            side = "below" if value < low else "above"
            found.append(f"{INPUT_COLUMNS[symbol]} {_share(beyond)} of its range {side} the range")
    return found


def describe_extrapolation(samples: Samples, H: float, M: float, C: float) -> tuple[float, str]:
    """(distance, sentence); the sentence is empty inside the hull."""
    distance = distance_outside(samples, H, M, C)
    if not distance:
        return 0.0, ""
    ranges = outside_ranges(samples, H, M, C)
    why = "; ".join(ranges) or "each input is in its range, but this combination is not"
    return (
        distance,
        f"extrapolation: outside the samples' hull by {_share(distance)} of their ranges ({why})",
    )


def _share(value: float) -> str:
    return f"{100 * value:.2g}%" if value < 1 else f"{100 * value:.4g}%"


def _extents(known: np.ndarray) -> np.ndarray:
    extent = np.ptp(known, axis=0)
    fixed = np.where(known[0] > 0, known[0], 1.0)
    return np.where(extent > 0, extent, fixed)


# Runtimes of designs from samples of one workload on one platform, with interval and warnings.


class ExtrapolationWarning(UserWarning):
    """A design lies outside the convex hull of the samples: the model was never tested there."""


@dataclass(frozen=True)
class FittedModel:
    """A model fitted to a table, and its errors on layouts it has not seen."""

    table: SamplesTable
    model: RuntimeModel
    calibration: UnseenErrors

    def interval(self, design: DesignCounts, level: float) -> PredictionInterval:
        centre = self.model.predict(design.H, design.M, design.C)
        return self.calibration.interval(design.H, design.M, design.C, centre, level)


def fit_to(
    samples: str | Path | pd.DataFrame | SamplesTable, model: str = "mosmodel", **parameters
) -> FittedModel:
    """Fit one model by name; TesseraError as `tessera models fit`."""
    if isinstance(samples, SamplesTable):
        table = samples
    else:
        table = check_samples(samples) if isinstance(samples, pd.DataFrame) else read_samples(samples)
    fitted = create(model, **parameters).fit(table.fitted)
    return FittedModel(table, fitted, unseen_errors(fitted, table.fitted))


def predict_designs(
    samples: str | Path | pd.DataFrame | SamplesTable,
    design: str | Path | pd.DataFrame,
    model: str = "mosmodel",
    level: float = LEVEL,
    only: str | None = None,
) -> pd.DataFrame:
    """Runtime in cycles of every design, one row each (columns as `one_gb.csv`).

    Args:
        samples: CSV or data frame of samples or cells of one workload and platform.
        design: CSV or data frame with `stlb_hits`, `stlb_misses`, `walk_cycles` (simulator output).
        model: a registered model.
        level: of the interval, between 0 and 1.
        only: predict the row of this name alone.

    Returns:
        A frame. Interval ends are NaN where no interval is possible; `message` says why, and carries the
        warnings (outside the hull, fewer than ten samples per coefficient).

    Warns:
        ExtrapolationWarning: for each design outside the hull of the samples; `outside_by` is the distance
        as a share of the samples' ranges.
    """
    return table_of(fit_to(samples, model), read_design(design, only), level)


def table_of(
    fitted: FittedModel, design: DesignCounts, level: float = LEVEL, *, warn: bool = True
) -> pd.DataFrame:
    """The table of :func:`predict_designs` from a fit and points already read; ``warn`` as said there."""
    known, model = fitted.table.fitted, fitted.model
    centres = model.predict(design.H, design.M, design.C)
    interval = fitted.interval(design, level)
    of_traces = notes_in(message for found in (fitted.table.messages, design.messages) for message in found)
    general = [check_one_in_ten(model, len(known), "flag"), interval.message, *of_traces]
    rows = []
    for i, name in enumerate(design.names):
        point = float(design.H[i]), float(design.M[i]), float(design.C[i])
        distance, warning = describe_extrapolation(known, *point)
        if warning and warn:
            warnings.warn(f"{name}: {warning}", ExtrapolationWarning, stacklevel=3)
        low, high = float(interval.low[i]), float(interval.high[i])
        rows.append((
            name, model.name, *point, float(centres[i]), low, high, level, interval.method,
            not distance, distance, fitted.table.runtime_provenance, design.provenance[i],
            "; ".join(text for text in (warning, *general) if text),
        ))  # fmt: skip
    return frame_of(MODELS_OF_PAIR["one_gb"], rows)
