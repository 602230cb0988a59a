"""Intervals for a new workload, and how often they cover, with the workload left out.

The interval around a prediction is R = predicted / (1 + e) for errors e = predicted / R - 1 of at most q.
q is the 95th percentile of |e| (rounded up to a value that occurs) over the points of the *other* workloads.
It is an answer only if it covers at least 90% of a class's points that way.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

LEVEL, LEAST = 0.95, 0.9


def half_width(errors) -> float:
    """The smallest of the absolute errors (n,) that at least 95% of them do not exceed; NaN without any."""
    ordered = np.sort(np.abs(np.asarray(errors, dtype=float)))
    if not len(ordered):
        return float("nan")
    return float(ordered[math.ceil(round(LEVEL * len(ordered), 9)) - 1])


def interval(predicted: float, width: float) -> tuple[float, float]:
    """Ends in cycles of R with |predicted / R - 1| <= width; the upper end is infinite from width 1 on."""
    return predicted / (1 + width), predicted / (1 - width) if width < 1 else math.inf


def left_out(judged: pd.DataFrame, workload: str) -> float:
    """The half-width for ``workload``, from the points of the others; NaN if there are none."""
    return half_width(judged.loc[judged["workload"] != workload, "error"].fillna(np.inf))


def covered(judged: pd.DataFrame) -> int:
    """Points inside the intervals made from the other workloads."""
    count = 0
    for workload, own in judged.groupby("workload"):
        width = left_out(judged, str(workload))
        if not math.isnan(width):
            count += int((own["error"].fillna(np.inf).abs() <= width).sum())
    return count


def columns(judged: pd.DataFrame) -> dict:
    """Columns of the table of verdicts; no coverage with one workload, because none is left out."""
    row = {"half_width": half_width(judged["error"].fillna(np.inf))}
    if judged["workload"].nunique() < 2:
        return row
    count = covered(judged)
    return row | {"covered": count, "coverage": count / len(judged)}
