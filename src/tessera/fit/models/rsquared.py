"""Coefficient of determination of R against each input alone (MICRO'20 paper, Table 8).

R^2 of a straight line is the squared correlation. A constant input explains nothing: 0, as in the
paper ("the optimal regressor is a constant function"). If R is constant R^2 has no value: NaN.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.design import CONSTANT_TOLERANCE
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS


def r_squared(x: np.ndarray, runtime: np.ndarray) -> float:
    """R^2 of the least squares line of ``runtime`` (n,) in ``x`` (n,); in 0..1, or NaN."""
    if np.ptp(runtime) <= CONSTANT_TOLERANCE * np.max(np.abs(runtime)):
        return float("nan")
    if np.ptp(x) <= CONSTANT_TOLERANCE * np.max(np.abs(x)):
        return 0.0
    dx, dr = x / np.max(x), runtime / np.max(runtime)  # no overflow in the squares
    dx, dr = dx - dx.mean(), dr - dr.mean()
    return float(min(1.0, (dx @ dr) ** 2 / ((dx @ dx) * (dr @ dr))))


def by_input(samples: Samples) -> dict[str, float]:
    """{"C": R^2, "M": R^2, "H": R^2}."""
    return {symbol: r_squared(getattr(samples, symbol), samples.R) for symbol in INPUTS}
