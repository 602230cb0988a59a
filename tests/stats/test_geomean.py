"""The geometric mean and its rule for zeros."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.stats import geometric_mean

POSITIVE = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=54)


def test_zeros_are_left_out_and_counted():
    found = geometric_mean([0, 1, 100, 0])
    assert found.value == pytest.approx(10)
    assert found.zeros == 2


def test_all_zero_is_zero():
    assert geometric_mean([0, 0]).value == 0


@pytest.mark.parametrize("bad", [[-1], [math.nan], [math.inf], []])
def test_refuses_what_has_no_geometric_mean(bad):
    with pytest.raises(ValueError, match="values"):
        geometric_mean(bad)


@given(POSITIVE)
def test_lies_between_the_extremes(values):
    assert min(values) * (1 - 1e-9) <= geometric_mean(values).value <= max(values) * (1 + 1e-9)


@given(POSITIVE, st.floats(0.01, 100))
def test_scales_with_the_values(values, factor):
    scaled = geometric_mean([v * factor for v in values]).value
    assert scaled == pytest.approx(geometric_mean(values).value * factor, rel=1e-9)


@given(POSITIVE)
def test_the_inverse_values_have_the_inverse_mean(values):
    inverse = geometric_mean([1 / v for v in values]).value
    assert inverse == pytest.approx(1 / geometric_mean(values).value, rel=1e-9)
