"""Confidence intervals of a mean, and of the ratio of two runs made in pairs.

Student's t: the spread is estimated from the few values at hand. Two equal values give a half-width of
zero; fewer than two give none (``inf``), because one run says nothing about its spread.

Ratios: a run under one layout is divided by the run under the base layout of the *same round*. What slows
both (another tenant, a warm machine) cancels, and the interval is that of the effect itself. The mean is
taken of the logarithms, so that exchanging the two layouts inverts the ratio exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import stdtrit  # scipy.stats takes 0.4 s and 40 MB to import

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """``value`` plus or minus ``half_width``, from ``count`` values."""

    value: float
    half_width: float
    count: int

    @property
    def relative(self) -> float:
        """Half-width as a fraction of the value."""
        return self.half_width / abs(self.value) if self.value else math.inf


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Mean of at least one value with its t interval."""
    data = np.asarray(values, dtype=float)
    if data.size == 0:
        raise ValueError("the mean of no values is not defined")
    if not np.isfinite(data).all():
        raise ValueError("values must be finite")
    if data.size == 1:
        return Interval(float(data[0]), math.inf, 1)
    if np.ptp(data) == 0:  # np.std of equal values can be a rounding error instead of 0
        return Interval(float(data[0]), 0.0, data.size)
    half_width = _quantile(confidence, data.size - 1) * data.std(ddof=1) / math.sqrt(data.size)
    return Interval(float(data.mean()), float(half_width), data.size)


@lru_cache(maxsize=1000)
def _quantile(confidence: float, freedom: int) -> float:
    """Of Student's t, two-sided; thousands of means have the same count."""
    return stdtrit(freedom, (1 + confidence) / 2)


def paired_ratio_interval(
    values: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Geometric mean of ``values[i] / base[i]`` with its interval.

    The interval is symmetric in the logarithm; ``half_width`` is its larger side, so it covers both.
    """
    if len(values) != len(base):
        raise ValueError(f"pairs need equal counts, got {len(values)} and {len(base)}")
    above, below = np.asarray(values, dtype=float), np.asarray(base, dtype=float)
    if (above <= 0).any() or (below <= 0).any():
        raise ValueError("runtimes must be positive")
    logs = mean_interval(np.log(above / below), confidence)
    ratio = math.exp(logs.value)
    if not math.isfinite(logs.half_width):
        return Interval(ratio, math.inf, logs.count)
    return Interval(ratio, ratio * math.expm1(logs.half_width), logs.count)
