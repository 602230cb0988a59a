"""From counts of some intervals to totals of the whole, and how far they are off.

Systematic samples are a ratio estimate with its 95% half-width (Student's t over units), as the simulator's
own (artifacts/simulator/src/engine/estimate.h). Places that are weighted (clusters) or contiguous (blind)
have no half-width: nothing says how much the parts differ that were not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Estimate:
    """A total and its 95% half-width; NaN where there is none."""

    value: float
    ci95: float = float("nan")

    def covers(self, truth: float) -> bool | None:
        """Whether the interval holds ``truth``; None without an interval."""
        return None if np.isnan(self.ci95) else bool(abs(self.value - truth) <= self.ci95)


def ratio(counts, instructions, total: float) -> Estimate:
    """``sum(counts) / sum(instructions) * total`` over units (n,), with its interval from n >= 2 on.

    ``counts`` may be differences between two layouts: both have the same instructions in each unit.
    """
    y, x = np.asarray(counts, dtype=float), np.asarray(instructions, dtype=float)
    rate, n = y.sum() / x.sum(), len(y)
    if n < 2:
        return Estimate(rate * total)
    error = np.sqrt(((y - rate * x) ** 2).sum() / (n * (n - 1))) / x.mean()
    return Estimate(rate * total, float(stats.t.ppf(0.975, n - 1) * error * total))


def weighted(counts, instructions, shares, total: float) -> Estimate:
    """``total * sum(shares * counts / instructions)``: interval i stands for its share of all."""
    y, x, w = (np.asarray(v, dtype=float) for v in (counts, instructions, shares))
    return Estimate(float(total * (w * y / x).sum()))
