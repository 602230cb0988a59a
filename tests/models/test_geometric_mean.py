"""The geometric mean of errors, equation (2), and its rule for zeros."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.fit.evaluation.accuracy import accuracy

POSITIVE = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=54)


def geometric_mean(values):
    return accuracy(values).geomean_error


def test_zeros_are_left_out_and_counted():
    found = accuracy([0, 1, 100, 0])
    assert found.geomean_error == pytest.approx(10)
    assert found.zero_errors == found.dropped_zero_errors == 2


def test_rounding_is_zero_too():
    assert accuracy([2e-16, 0.04, 0.09]).geomean_error == pytest.approx(0.06)


def test_all_zero_is_zero():
    assert accuracy([0, 0]).geomean_error == 0


@given(POSITIVE)
def test_lies_between_the_extremes(values):
    assert min(values) * (1 - 1e-9) <= geometric_mean(values) <= max(values) * (1 + 1e-9)


@given(POSITIVE, st.floats(0.01, 100))
def test_scales_with_the_values(values, factor):
    scaled = geometric_mean([v * factor for v in values])
    assert scaled == pytest.approx(geometric_mean(values) * factor, rel=1e-9)


@given(POSITIVE)
def test_the_inverse_values_have_the_inverse_mean(values):
    inverse = geometric_mean([1 / v for v in values])
    assert inverse == pytest.approx(1 / geometric_mean(values), rel=1e-9)
