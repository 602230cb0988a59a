"""Hierarchical conformal intervals for a new workload, from the points of the other workloads.

Points of one workload resemble each other, so the unit is the workload. With K other workloads that have n_k
points each, a point has the weight 1 / ((K + 1) n_k), and a mass of 1 / (K + 1) lies at infinity: the new
workload's own share. The half-width q at a level is the least score that the weights up to it bring to this
level. So K workloads give at most the level K / (K + 1): 90% needs nine others.

The score is |R - predicted| / predicted, infinite for a prediction that is not above zero or no number. The
interval is predicted x (1 - q) to predicted x (1 + q). Intervals are made apart for each class and
family of designs (Mondrian). If workloads are exchangeable, a new one's points are covered with at least this
level, in the mean over workloads (Lee, Barber and Willett, "Distribution-free inference with hierarchical
data", 2023).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

LEVEL = 0.9
ALPHA = 0.1  #: of the interval score
#: 0.9 of nine workloads' weights must be reached, whatever rounding says
_ROUNDING = 1e-9


class Width(NamedTuple):
    """``half_width``: a share of the prediction; inf if no finite one has the level. ``workloads``: K."""

    half_width: float
    level: float
    workloads: int


def scores(runtime, predicted) -> np.ndarray:
    """|R - predicted| / predicted (n,); infinite where ``predicted`` is not above 0."""
    R, guess = np.asarray(runtime, dtype=float), np.asarray(predicted, dtype=float)
    usable = np.isfinite(guess) & (guess > 0)
    safe = np.where(usable, guess, 1.0)
    return np.where(usable, np.abs(R - safe) / safe, np.inf)


def width(others: Mapping[str, Sequence[float]], level: float = LEVEL) -> Width:
    """The half-width for a new workload.

    Args:
        others: scores by workload; one without points counts for nothing.
        level: lowered to K / (K + 1) with K others; NaN for both numbers without any.
    """
    groups = [np.asarray(values, dtype=float) for values in others.values() if len(values)]
    K = len(groups)
    if not K:
        return Width(math.nan, math.nan, 0)
    level = min(level, K / (K + 1))
    values = np.concatenate(groups)
    weights = np.concatenate([np.full(len(own), 1 / ((K + 1) * len(own))) for own in groups])
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order]) >= level - _ROUNDING
    return Width(float(values[order][np.argmax(reached)]), level, K)


def widths_of(rows: pd.DataFrame, workloads: Sequence[str]) -> pd.DataFrame:
    """A row for each family of ``rows`` (columns workload, family, score) and each left-out workload.

    Columns: family, workload, workloads (K), level, half_width.
    """
    found, by_family = [], {}
    for family, workload, score in zip(
        *(rows[c].tolist() for c in ("family", "workload", "score")), strict=True
    ):
        by_family.setdefault(family, {}).setdefault(workload, []).append(score)
    for family, by_workload in by_family.items():
        for workload in workloads:
            made = width({name: own for name, own in by_workload.items() if name != workload})
            found.append((family, workload, made.workloads, made.level, made.half_width))
    return pd.DataFrame(found, columns=["family", "workload", "workloads", "level", "half_width"])


def columns(rows: pd.DataFrame) -> dict:
    """Columns of the table of verdicts, for the judged points of a model in a class.

    Each workload is left out of its own intervals. Nothing is known without another workload.

    Args:
        rows: columns workload, family, score.
    """
    made = widths_of(rows, rows["workload"].unique())
    own = rows[["workload", "family", "score"]].merge(made, on=["workload", "family"])
    own = own[own["level"].notna()]
    if own.empty:
        return {}
    inside = own["score"] <= own["half_width"]
    return {
        "level": float(own["level"].min()), "half_width": float(own["half_width"].median()),
        "covered": int(inside.sum()), "coverage": float(inside.groupby(own["workload"]).mean().mean()),
    }  # fmt: skip


def interval(predicted, half_width) -> tuple:
    """Ends in cycles of numbers or columns; a runtime is not below zero."""
    return predicted * np.maximum(0.0, 1 - half_width), predicted * (1 + half_width)


def interval_score(low, high, truth, alpha: float = ALPHA) -> np.ndarray:
    """Width, and 2 / alpha for each cycle outside: less is better (Gneiting and Raftery 2007, section 6.2).

    In the unit of the ends; (n,) for n intervals.
    """
    low, high, truth = (np.asarray(values, dtype=float) for values in (low, high, truth))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return high - low + 2 / alpha * outside
