"""The models defined by two runs, and the line of Table 8, against exact rational arithmetic to 1e-9.

The formulas are written here a second time, from the papers, on numbers as large as real runs have.
"""

from fractions import Fraction

import numpy as np
import pytest

from tessera.fit.evaluation.accuracy import by_input
from tessera.fit.models.registry import create

from .builders import make_samples

TOLERANCE = 1e-9


def runs(seed: int):
    """54 runs of up to 1e13 cycles; C may exceed R, as with two page walkers."""
    rng = np.random.default_rng(seed)
    H, M = np.round(rng.uniform(1, 9e9, 54)), np.round(rng.uniform(1, 5e10, 54))
    C = np.round(rng.uniform(1, 9e12, 54))
    return make_samples(np.round(rng.uniform(1e12, 1e13, 54)), H, M, C)


def exact(samples) -> dict[str, tuple[list[Fraction], Fraction]]:
    """{model: ([slope of H, of M, of C], intercept)} of section III and OPERA 2.3."""
    H, M, C, R = (dict(zip(samples.layouts, map(Fraction, map(float, v)), strict=True))
                  for v in (samples.H, samples.M, samples.C, samples.R))  # fmt: skip
    small, large = "growing-0", "growing-8"
    per_miss, ideal = C[small] / M[small], R[large] - C[large]
    line = (R[small] - R[large]) / (C[small] - C[large])
    opera = (R[small] - ideal) / C[small]
    return {
        "basu": ([0, per_miss, 0], R[small] - C[small]),
        "gandhi": ([0, per_miss, 0], ideal),
        "pham": ([7, 0, 1], R[small] - C[small] - 7 * H[small]),
        "alam": ([0, 0, 1], ideal),
        "yaniv": ([0, 0, line], R[large] - line * C[large]),
        "gandhi-opera": ([0, 0, opera], ideal),
        "pham-opera": ([0, 0, 1], ideal),
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", exact(runs(0)))
def test_closed_forms_against_rationals(name, seed):
    samples = runs(seed)
    slopes, intercept = exact(samples)[name]
    predicted = create(name).fit(samples).predict(samples.H, samples.M, samples.C)
    for i in range(54):
        point = (Fraction(float(v[i])) for v in (samples.H, samples.M, samples.C))
        truth = intercept + sum(slope * x for slope, x in zip(slopes, point, strict=True))
        # relative to the largest part: the sum itself may come close to zero
        size = max(abs(float(truth)), samples.R[i])
        assert abs(predicted[i] - float(truth)) < TOLERANCE * size


@pytest.mark.parametrize("symbol", "CMH")
def test_r_squared_against_rationals(symbol):
    samples = runs(9)
    x = [Fraction(float(v)) for v in getattr(samples, symbol)]
    y = [Fraction(float(v)) for v in samples.R]
    mx, my = sum(x) / 54, sum(y) / 54
    xy = sum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    truth = xy * xy / (sum((a - mx) ** 2 for a in x) * sum((b - my) ** 2 for b in y))
    assert by_input(samples)[symbol] == pytest.approx(float(truth), rel=TOLERANCE)
