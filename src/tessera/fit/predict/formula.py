"""Formulas of papers, printed as such: a value, its interval, and how far it is from the samples.

The value of a formula is not an answer (docs/explain/predict.md). A value that is zero, negative or not
finite is no runtime, so it is no value: its cell is empty, and the message says why.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.fit import fit_folder
from tessera.fit.predict.counts import DesignPoint
from tessera.fit.predict.decision import cycles_text
from tessera.fit.predict.prediction import DesignCounts, FittedModel, read_design, table_of

NOT_AN_ANSWER = "formula of a paper, not an answer"
NO_VALUE = "the formula gives {} here, and a runtime is above 0"
NO_END = "its interval reaches down to 0 or below, so no interval is printed"


def fitted_of_folder(folder: str | Path, model: str) -> FittedModel:
    """A model of a fit, with the intervals that the fit kept; TesseraError as `read_fit`."""
    found = fit_folder.read_fit(folder)
    return FittedModel(found.table, found.model(model), found.calibration(model))


def points_of(counts: str | Path | pd.DataFrame | DesignPoint, only: str | None = None) -> DesignCounts:
    """H, M and C of each design; every number must be there, finite and not negative.

    Raises:
        TesseraError: as :func:`tessera.fit.predict.prediction.read_design`.
    """
    if isinstance(counts, DesignPoint):
        row = {"design": [counts.design], "stlb_hits": [counts.H], "stlb_misses": [counts.M]}
        counts = pd.DataFrame(row | {"walk_cycles": [counts.C]})
    return read_design(counts, only)


def values_of(fitted: FittedModel, points: DesignCounts, level: float) -> pd.DataFrame:
    """The columns of `one_gb.csv`, with empty cells where there is no value or no interval."""
    table = table_of(fitted, points, level, warn=False)
    for at, row in zip(table.index, table.itertuples(), strict=True):
        words = [row.message] if row.message else []
        known = math.isfinite(row.predicted_runtime_cycles) and row.predicted_runtime_cycles > 0
        if not known:
            infinite = not math.isfinite(row.predicted_runtime_cycles)
            words.insert(0, NO_VALUE.format("no finite number" if infinite else "zero or less"))
            table.loc[at, "predicted_runtime_cycles"] = np.nan
        ends = (row.low_cycles, row.high_cycles)
        if not known or not all(math.isfinite(end) and end > 0 for end in ends):
            if known and all(map(math.isfinite, ends)):
                words.append(NO_END)
            table.loc[at, ["low_cycles", "high_cycles"]] = np.nan
        table.loc[at, "message"] = "; ".join(words)
    return table


def printable_budget(parts: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """The error budget; of a design without a value, no part has a size."""
    without = set(values.loc[values["predicted_runtime_cycles"].isna(), "design"])
    nothing = parts["design"].isin(without)
    parts = parts.copy()
    parts.loc[nothing, ["half_width_cycles", "relative"]] = np.nan
    parts.loc[nothing, "message"] = "no value"
    return parts


def sentence(row) -> str:
    """One line of a row of :func:`values_of`."""
    if math.isnan(row.predicted_runtime_cycles):
        return f"{row.design}: no value by {row.model} ({NOT_AN_ANSWER})"
    ends = "no interval"
    if not math.isnan(row.low_cycles):
        ends = f"{row.level:.4g} interval {cycles_text(row.low_cycles)} to {cycles_text(row.high_cycles)}"
        ends += f" by {row.interval_method}"
    where = "inside the samples"
    if not row.inside_hull:
        where = f"outside the samples by {row.outside_by:.2%} of their ranges"
    value = f"{cycles_text(row.predicted_runtime_cycles)} cycles by {row.model} ({NOT_AN_ANSWER})"
    return f"{row.design}: {value}, {ends}, {where}"


def as_dict(row) -> dict:
    """The same for JSON; an absent number is null."""

    def known(value: float) -> float | None:
        return None if math.isnan(value) else float(value)

    return {
        "design": row.design, "model": row.model, "caution": NOT_AN_ANSWER,
        "predicted_runtime_cycles": known(row.predicted_runtime_cycles),
        "low_cycles": known(row.low_cycles), "high_cycles": known(row.high_cycles), "level": float(row.level),
        "interval_method": row.interval_method, "stlb_hits": float(row.stlb_hits),
        "stlb_misses": float(row.stlb_misses), "walk_cycles": float(row.walk_cycles),
        "inside_hull": bool(row.inside_hull), "outside_by": float(row.outside_by), "message": row.message,
    }  # fmt: skip
