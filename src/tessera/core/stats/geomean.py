"""Geometric mean of errors, with the rule for zeros that MICRO'20 leaves open.

Equation (2) multiplies errors; one that is exactly zero (a model evaluated at a point it was fitted through)
would make the whole mean zero. Rule: zeros are left out and counted, never replaced by a small number (which
would decide the result). If every value is zero the mean is zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class GeometricMean:
    """The mean of the positive values, and how many zeros were left out."""

    value: float
    zeros: int


def geometric_mean(values: Sequence[float]) -> GeometricMean:
    """Geometric mean of non-negative finite values by the module's rule."""
    data = np.asarray(values, dtype=float)
    if data.size == 0:
        raise ValueError("the geometric mean of no values is not defined")
    if not np.isfinite(data).all() or (data < 0).any():
        raise ValueError("values must be finite and not negative")
    positive = data[data > 0]
    zeros = int(data.size - positive.size)
    if positive.size == 0:
        return GeometricMean(0.0, zeros)
    return GeometricMean(float(np.exp(np.log(positive).mean())), zeros)
