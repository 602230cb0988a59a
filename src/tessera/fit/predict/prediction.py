"""Predict runtimes of designs from samples of one workload on one platform, with interval and warnings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.fit.models.fitting import check_one_in_ten
from tessera.fit.models.intervals import LEVEL, Calibration, Interval, calibrate
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Table, check_table, read_table
from tessera.fit.predict.design import DesignCounts, read_design
from tessera.fit.predict.hull import describe
from tessera.results.schema.models import OF_PAIR
from tessera.results.trace_notes import notes_in
from tessera.results.write import frame_of


class ExtrapolationWarning(UserWarning):
    """A design lies outside the convex hull of the samples: the model was never tested there."""


@dataclass(frozen=True)
class Fitted:
    """A model fitted to a table, and its errors on layouts it has not seen."""

    table: Table
    model: object
    calibration: Calibration

    def interval(self, design: DesignCounts, level: float) -> Interval:
        centre = self.model.predict(design.H, design.M, design.C)
        return self.calibration.interval(design.H, design.M, design.C, centre, level)


def fit_to(samples: str | Path | pd.DataFrame | Table, model: str = "mosmodel", **parameters) -> Fitted:
    """Fit one model by name; TesseraError as `tessera models fit`."""
    if isinstance(samples, Table):
        table = samples
    else:
        table = check_table(samples) if isinstance(samples, pd.DataFrame) else read_table(samples)
    fitted = create(model, **parameters).fit(table.fitted)
    return Fitted(table, fitted, calibrate(fitted, table.fitted))


def predict(
    samples: str | Path | pd.DataFrame | Table,
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
    fitted: Fitted, design: DesignCounts, level: float = LEVEL, *, warn: bool = True
) -> pd.DataFrame:
    """The table of :func:`predict` from a fit and points already read; ``warn`` as said there."""
    known, model = fitted.table.fitted, fitted.model
    centres = model.predict(design.H, design.M, design.C)
    interval = fitted.interval(design, level)
    of_traces = notes_in(message for found in (fitted.table.messages, design.messages) for message in found)
    general = [check_one_in_ten(model, len(known), "flag"), interval.message, *of_traces]
    rows = []
    for i, name in enumerate(design.names):
        point = float(design.H[i]), float(design.M[i]), float(design.C[i])
        distance, warning = describe(known, *point)
        if warning and warn:
            warnings.warn(f"{name}: {warning}", ExtrapolationWarning, stacklevel=3)
        low, high = float(interval.low[i]), float(interval.high[i])
        rows.append((
            name, model.name, *point, float(centres[i]), low, high, level, interval.method,
            not distance, distance, fitted.table.runtime_provenance, design.provenance[i],
            "; ".join(text for text in (warning, *general) if text),
        ))  # fmt: skip
    return frame_of(OF_PAIR["one_gb"], rows)
