"""Intervals: known values, invariances, and that they cover what they claim to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.core.statistics import mean_interval, paired_ratio_interval

RUNTIMES = st.lists(st.floats(1e3, 1e12), min_size=2, max_size=30)


def test_the_interval_of_a_hand_made_sample():
    found = mean_interval([1, 2, 3, 4, 5])  # t(0.975, 4) = 2.776445, s = 1.581139
    assert found.value == 3
    assert found.half_width == pytest.approx(2.776445 * 1.581139 / math.sqrt(5), rel=1e-6)


def test_one_value_has_no_width_and_none_no_mean():
    assert mean_interval([7]).half_width == math.inf
    with pytest.raises(ValueError, match="no values"):
        mean_interval([])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_values_that_are_no_numbers_are_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        mean_interval([1, bad])


@given(RUNTIMES, st.floats(0.01, 100))
def test_a_mean_scales_with_its_unit(values, factor):
    found, scaled = mean_interval(values), mean_interval([v * factor for v in values])
    assert scaled.value == pytest.approx(found.value * factor, rel=1e-9)
    assert scaled.half_width == pytest.approx(found.half_width * factor, rel=1e-6, abs=1e-6 * scaled.value)


@given(RUNTIMES)
def test_equal_values_have_width_zero(values):
    assert mean_interval([values[0]] * len(values)).half_width == 0


def test_ninety_five_of_a_hundred_intervals_cover_the_mean():
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        found = mean_interval(random.normal(10, 2, size=5))
        covered += abs(found.value - 10) <= found.half_width
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)


@given(RUNTIMES, st.floats(0.5, 2), st.data())
def test_what_slows_both_runs_of_a_pair_cancels(base, ratio, data):
    noise = data.draw(st.lists(st.floats(1, 3), min_size=len(base), max_size=len(base)))
    slowed = [b * n for b, n in zip(base, noise, strict=True)]
    found = paired_ratio_interval([ratio * b for b in slowed], slowed)
    assert found.value == pytest.approx(ratio, rel=1e-9)
    assert found.half_width < 1e-6


@given(st.lists(st.tuples(st.floats(1, 10), st.floats(1, 10)), min_size=2, max_size=20))
def test_exchanging_the_layouts_inverts_the_ratio(pairs):
    above, below = zip(*pairs, strict=True)
    there, back = paired_ratio_interval(above, below), paired_ratio_interval(below, above)
    assert there.value * back.value == pytest.approx(1, rel=1e-9)
    assert there.relative == pytest.approx(back.relative, rel=1e-6, abs=1e-9)


def test_pairs_are_checked():
    with pytest.raises(ValueError, match="equal counts"):
        paired_ratio_interval([1, 2], [1])
    with pytest.raises(ValueError, match="positive"):
        paired_ratio_interval([1, 0], [1, 1])
    assert paired_ratio_interval([2], [1]).half_width == math.inf
