"""Errors of predictions (MICRO'20, equations (1) and (2)), and R^2 of each input alone (Table 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tessera.fit.models.design_matrix import CONSTANT_TOLERANCE
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS

# Equations (1) and (2) of the MICRO'20 paper: maximal and geometric mean relative error.
#
# The paper notes that every model has an error of zero somewhere, and a product with a zero factor is
# zero. So errors of zero are left out of the product of equation (2) and its exponent, and counted.
# Zero means at most :data:`ZERO_ERROR`: a line through an anchor misses it by rounding, and whether by
# 0 or 2e-16 is an accident of arithmetic; 1e-12 of a runtime is less than one cycle in 10^12.
# If every error is zero, so is the geometric mean, and none is dropped.

ZERO_ERROR = 1e-12  #: relative errors up to this are zero


@dataclass(frozen=True)
class Accuracy:
    """Relative errors as fractions over ``samples`` samples."""

    samples: int
    max_error: float
    geomean_error: float
    zero_errors: int  #: errors that are zero
    dropped_zero_errors: int  #: those of them left out of the geometric mean


def relative_errors(runtime: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """|R - R^| / R per sample, shape (n,); R > 0."""
    return np.abs((runtime - predicted) / runtime)


def accuracy(errors: np.ndarray) -> Accuracy:
    """Equations (1) and (2) over relative errors (n,), n > 0."""
    errors = np.asarray(errors, dtype=float)
    counted = errors[errors > ZERO_ERROR]
    zeros = errors.size - counted.size
    # logarithms: the product of 54 errors of 1e-6 underflows
    geomean = float(np.exp(np.mean(np.log(counted)))) if counted.size else 0.0
    return Accuracy(errors.size, float(errors.max()), geomean, zeros, zeros if counted.size else 0)


# Coefficient of determination of R against each input alone (MICRO'20 paper, Table 8).
#
# R^2 of a straight line is the squared correlation. A constant input explains nothing: 0, as in the
# paper ("the optimal regressor is a constant function"). If R is constant R^2 has no value: NaN.


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
