"""R^2 per input (Table 8) against scikit-learn's regressor and limit cases."""

import math

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from tessera.fit.evaluation.accuracy import by_input, r_squared

from .builders import noisy


def test_against_a_fitted_line():
    s = noisy()
    for symbol, value in by_input(s).items():
        x = getattr(s, symbol).reshape(-1, 1)
        assert value == pytest.approx(LinearRegression().fit(x, s.R).score(x, s.R), rel=1e-9)


def test_order_of_table_8():
    assert list(by_input(noisy())) == ["C", "M", "H"]


@pytest.mark.parametrize(
    "x, runtime, expected",
    [
        ([1, 2, 3], [10, 20, 30], 1.0),
        ([1, 2, 3], [30, 20, 10], 1.0),
        ([1, 2, 3], [1, 2, 1], 0.0),
        ([5, 5, 5], [1, 2, 3], 0.0),
        ([0, 0, 0], [1, 2, 3], 0.0),
    ],
)
def test_limits(x, runtime, expected):
    assert r_squared(np.array(x, float), np.array(runtime, float)) == pytest.approx(expected)


def test_equal_runtimes_have_no_value():
    assert math.isnan(r_squared(np.array([1.0, 2.0]), np.array([3.0, 3.0])))
