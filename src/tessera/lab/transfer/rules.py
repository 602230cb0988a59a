"""How a prediction is judged: rules S1, S2 and S3, and conformal intervals.

See docs/explain/transfer.md, Verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import isnan
from typing import NamedTuple

import numpy as np
import pandas as pd

# The rules S1, S2 and S3, informative points, and the verdict (docs/explain/transfer.md, Verdicts).

BOUND = 0.03  #: S1: Mosmodel's bound on P (MICRO'20, abstract)
LEAST_GAIN, GAIN_SLACK = 0.05, 0.25  #: S2, as shares of R_0 and of the gain
LEAST_DIFFERENCE = 0.02  #: S3, as a share of R_0
MATTERS = 0.05  #: least R_0 - R_ideal, as a share of R_0, of a point that is judged
SURVIVES, LEAST_WORKLOAD, FAILS = 0.9, 2 / 3, 0.5
SURVIVED, FAILED, MIXED, NOT_JUDGED = "survives", "fails", "mixed", "not judged"
LEAST_INFORMATIVE = 20  #: judged points; a class with fewer is trivial
TRIVIAL, USELESS = "trivial", "useless"
#: 2/3 of 54 must count as two thirds, whatever rounding says
_ROUNDING = 1e-12


def matters(base: float, ideal: float) -> bool:
    """Is the point judged? Without R_ideal it is not."""
    return not isnan(ideal) and base - ideal >= MATTERS * base


def informative(base: float, runtime: float) -> bool:
    """Does R differ from R_0 by more than 3% of R_0? Then `constant` is wrong by S1, or nearly so."""
    return abs(runtime - base) > BOUND * base


def worth(informative: int, passing: int, constant_passing: int) -> str:
    """What passing says about a model: TRIVIAL, USELESS, or "".

    Args:
        informative: judged points of the class that are informative; with few of them, any model passes.
        passing, constant_passing: judged points that the model and R_0 pass.
    """
    if informative < LEAST_INFORMATIVE:
        return TRIVIAL
    return USELESS if passing <= constant_passing else ""


def bound_holds(runtime: float, predicted: float) -> bool:
    """S1; a model that gives no number does not hold."""
    return not isnan(predicted) and abs(predicted - runtime) <= BOUND * runtime


def gain_holds(base: float, runtime: float, predicted: float) -> bool | None:
    """S2; None if the gain or loss is below 5% of R_0."""
    gain = base - runtime
    if abs(gain) < LEAST_GAIN * base:
        return None
    return not isnan(predicted) and abs((base - predicted) - gain) <= GAIN_SLACK * abs(gain)


def passes(bound: bool, gain: bool | None) -> bool:
    """S1, and S2 where it applies. Numpy's False counts as False, too."""
    return bool(bound and (gain is None or gain))


def constant_passes(base: float, runtime: float) -> bool:
    """Does the prediction R_0 pass?"""
    return passes(bound_holds(runtime, base), gain_holds(base, runtime, base))


def orders(points: Iterable[tuple[float, float, float]], base: float) -> tuple[int, int]:
    """S3: (pairs, inversions) of variants under one layout.

    ``points``: (R, half-width of its difference to R_0, predicted R). Pairs that differ by at most 2% of R_0,
    or by at most the sum of the half-widths, have no order.
    """
    pairs = inversions = 0
    for (a, width_a, guess_a), (b, width_b, guess_b) in combinations(list(points), 2):
        if abs(a - b) <= max(LEAST_DIFFERENCE * base, width_a + width_b):
            continue
        pairs += 1
        inversions += not (a - b) * (guess_a - guess_b) > 0
    return pairs, inversions


def verdict(shares: Iterable[float], pass_share: float) -> str:
    """From the share of passing points, and that of each workload."""
    shares = list(shares)
    if not shares:
        return NOT_JUDGED
    if pass_share >= SURVIVES - _ROUNDING and min(shares) >= LEAST_WORKLOAD - _ROUNDING:
        return SURVIVED
    return FAILED if pass_share <= FAILS else MIXED


# Hierarchical conformal intervals for a new workload, from the points of the other workloads.
#
# Points of one workload resemble each other, so the unit is the workload. With K other workloads that have
# n_k points each, a point has the weight 1 / ((K + 1) n_k), and a mass of 1 / (K + 1) lies at infinity: the
# new workload's own share. The half-width q at a level is the least score that the weights up to it bring to
# this level. So K workloads give at most the level K / (K + 1): 90% needs nine others.
#
# The score is |R - predicted| / predicted, infinite for a prediction that is not above zero or no number.
# The interval is predicted x (1 - q) to predicted x (1 + q). Intervals are made apart for each class and
# family of designs (Mondrian). If workloads are exchangeable, a new one's points are covered with at least
# this level, in the mean over workloads (Lee, Barber and Willett, "Distribution-free inference with
# hierarchical data", 2023).

LEVEL = 0.9
ALPHA = 0.1  #: of the interval score
#: 0.9 of nine workloads' weights must be reached, whatever rounding says
_LEVEL_ROUNDING = 1e-9


class Width(NamedTuple):
    """``half_width``: a share of the prediction; inf if no finite one has the level. ``workloads``: K."""

    half_width: float
    level: float
    workloads: int


def conformal_scores(runtime, predicted) -> np.ndarray:
    """|R - predicted| / predicted (n,); infinite where ``predicted`` is not above 0."""
    R, guess = np.asarray(runtime, dtype=float), np.asarray(predicted, dtype=float)
    usable = np.isfinite(guess) & (guess > 0)
    safe = np.where(usable, guess, 1.0)
    return np.where(usable, np.abs(R - safe) / safe, np.inf)


def conformal_width(others: Mapping[str, Sequence[float]], level: float = LEVEL) -> Width:
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
    reached = np.cumsum(weights[order]) >= level - _LEVEL_ROUNDING
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
            made = conformal_width({name: own for name, own in by_workload.items() if name != workload})
            found.append((family, workload, made.workloads, made.level, made.half_width))
    return pd.DataFrame(found, columns=["family", "workload", "workloads", "level", "half_width"])


def coverage_columns(rows: pd.DataFrame) -> dict:
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


def interval_of(predicted, half_width) -> tuple:
    """Ends in cycles of numbers or columns; a runtime is not below zero."""
    return predicted * np.maximum(0.0, 1 - half_width), predicted * (1 + half_width)


def interval_score(low, high, truth, alpha: float = ALPHA) -> np.ndarray:
    """Width, and 2 / alpha for each cycle outside: less is better (Gneiting and Raftery 2007, section 6.2).

    In the unit of the ends; (n,) for n intervals.
    """
    low, high, truth = (np.asarray(values, dtype=float) for values in (low, high, truth))
    outside = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return high - low + 2 / alpha * outside
