"""Slope and curvature of curves that are known."""

import numpy as np
import pytest

from tessera.fit.models.samples import Samples
from tessera.lab.studies.ablations import curvature, shape


def samples(C, R) -> Samples:
    """Layouts growing-8 (least C) to growing-0 (greatest), H and M constant."""
    C, R = np.asarray(C, dtype=float), np.asarray(R, dtype=float)
    names = tuple(f"growing-{8 - i}" for i in range(len(C)))
    return Samples(names, np.ones(len(C)), np.ones(len(C)), C, R)


NINE = np.arange(9.0)


def test_a_line_has_its_slope_and_no_bend():
    found = shape(samples(100 * NINE, 5 + 200 * NINE))
    assert found.slope == pytest.approx(2) and found.slope_two_point == pytest.approx(2)
    assert found.curvature == pytest.approx(0, abs=1e-9)
    assert found.linear_max_error == pytest.approx(0, abs=1e-9)
    assert (found.walk_cycles_least, found.walk_cycles_greatest) == (0, 800)


def test_a_parabola_by_hand():
    # R = 1 + C^2 over C = 0..8: slope 0 at the left, 16 at the right, 8 between the ends; x^2 on unit scales.
    found = shape(samples(NINE, 1 + NINE**2))
    assert found.slope_at_least == pytest.approx(0, abs=1e-9)
    assert found.slope_at_greatest == pytest.approx(16)
    assert found.slope_two_point == pytest.approx(8) and found.slope == pytest.approx(8)
    assert found.curvature == pytest.approx(1) and found.curvature_p < 1e-12
    assert found.quadratic_max_error == pytest.approx(0, abs=1e-9)
    # least squares of C^2 over 0..8 is 8 C - 28/3 (normal equations); at C = 0: R = 1, line 1 - 28/3
    assert found.linear_max_error == pytest.approx(28 / 3)


def test_a_hollow_curve_bends_the_other_way():
    assert shape(samples(NINE, 100 + 10 * np.sqrt(NINE))).curvature < 0


def test_p_agrees_with_the_covariance_of_numpys_fit():
    from scipy import stats

    random = np.random.default_rng(8)
    C = random.random(30) * 1e9
    R = 3e9 + 0.8 * C + 1e-10 * C**2 + random.normal(0, 5e7, 30)
    x, y = (C - C.min()) / np.ptp(C), (R - R.min()) / np.ptp(R)
    weights, covariance = np.polyfit(x, y, 2, cov=True)
    expected = 2 * stats.t.sf(abs(weights[0]) / np.sqrt(covariance[0, 0]), 27)
    assert curvature(C, R) == pytest.approx((weights[0], expected), rel=1e-6)


def test_too_few_points_are_nan_not_a_guess():
    assert np.isnan(curvature(np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 9.0]))).all()
    assert np.isnan(shape(samples([5, 5, 5, 5], [1, 2, 3, 4])).slope)


@pytest.mark.parametrize("base", [1.0, 1e6, 1e10, 1e14])
def test_a_line_has_no_bend_however_large_the_runtime_is_beside_it(base):
    walk_cycles = np.linspace(0, 1e9, 9)
    bend, p = curvature(walk_cycles, base + 0.5 * walk_cycles)
    assert (bend, p) == (0.0, 1.0)
