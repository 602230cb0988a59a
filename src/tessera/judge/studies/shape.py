"""How runtime depends on walk cycles: slope and curvature of R over C, from the layouts of one platform.

- ``slope``: least squares over all layouts (MICRO'20 section VII-A); ``slope_two_point``: the line through
  the 4KB and the 2MB run (section III, Yaniv).
- ``curvature``: the quadratic coefficient of poly2, with C as a share of its range and R as a share of its
  range. Positive: the more walk cycles there are, the more each costs. 1 means that the slope changes by
  twice the mean slope from the least to the greatest C.
- ``curvature_p``: two-sided p of that coefficient (t-test of ordinary least squares). Layouts are no random
  sample and residuals are no noise: it only says how the bend compares with the scatter about it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from tessera.core.errors import TesseraError
from tessera.fit.models.accuracy import relative_errors
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples


@dataclass(frozen=True)
class Shape:
    """Numbers of the module's text; NaN where the layouts do not determine one. Errors are fractions of R."""

    layouts: int
    walk_cycles_least: float
    walk_cycles_greatest: float
    slope: float
    slope_two_point: float
    slope_at_least: float
    slope_at_greatest: float
    curvature: float
    curvature_p: float
    linear_max_error: float
    quadratic_max_error: float


#: a bend of up to so many rounding errors of R is none
_ROUNDINGS = 64


def shape(samples: Samples) -> Shape:
    """Slope and curvature of R over C."""
    linear, quadratic, line = (_fit(name, samples) for name in ("poly1", "poly2", "yaniv"))
    bend, p = curvature(samples.C, samples.R)
    least, greatest = float(samples.C.min()), float(samples.C.max())

    def slope_at(c: float) -> float:
        return quadratic.get("C", np.nan) + 2 * quadratic.get("C^2", np.nan) * c

    return Shape(
        len(samples), least, greatest,
        linear.get("C", np.nan), line.get("C", np.nan), slope_at(least), slope_at(greatest), bend, p,
        _max_error("poly1", samples), _max_error("poly2", samples),
    )  # fmt: skip


def curvature(C: np.ndarray, R: np.ndarray) -> tuple[float, float]:
    """(coefficient, p) of the square of C in R, both scaled to their ranges; NaN without 4 different C."""
    if len(np.unique(C)) < 4 or np.ptp(R) == 0:
        return float("nan"), float("nan")
    x, y = (C - C.min()) / np.ptp(C), (R - R.min()) / np.ptp(R)
    design = np.column_stack([np.ones_like(x), x, x * x])
    weights, *_ = np.linalg.lstsq(design, y, rcond=None)
    rounding = np.finfo(float).eps * np.abs(R).max() / np.ptp(R)  # of one y
    if abs(weights[2]) <= _ROUNDINGS * rounding:  # a line to working precision
        return 0.0, 1.0
    residual, freedom = y - design @ weights, len(x) - 3
    variance = residual @ residual / freedom * np.linalg.inv(design.T @ design)[2, 2]
    if variance <= (1e-12 * max(1.0, abs(weights[2]))) ** 2:  # a parabola to working precision
        return float(weights[2]), 0.0
    return float(weights[2]), float(2 * stats.t.sf(abs(weights[2]) / np.sqrt(variance), freedom))


def _fit(model: str, samples: Samples) -> dict[str, float]:
    try:
        return create(model).fit(samples).coefficients_
    except TesseraError:  # the layouts don't determine it: NaN in the table
        return {}


def _max_error(model: str, samples: Samples) -> float:
    try:
        fitted = create(model).fit(samples)
    except TesseraError:
        return float("nan")
    return float(relative_errors(samples.R, fitted.predict(samples.H, samples.M, samples.C)).max())
