"""Estimates from parts: values worked out by hand."""

import math

import numpy as np
import pytest

from tessera.lab.studies.intervals import Estimate, ratio_estimate, weighted_estimate


def test_ratio_and_half_width_by_hand():
    # Two units of one instruction with 10 and 20 cycles: 15 a unit, residuals -5 and 5, so a standard
    # error of sqrt(50 / 2) = 5; t(0.975, 1 degree) = 12.7062; four instructions in all.
    found = ratio_estimate([10, 20], [1, 1], 4)
    assert found.value == 60
    assert found.ci95 == pytest.approx(4 * 5 * 12.7062047, rel=1e-7)


def test_units_of_different_length_count_by_their_instructions():
    # 30 cycles in 3 instructions and 10 in 1: the same rate, so nothing is left to doubt.
    assert ratio_estimate([30, 10], [3, 1], 8) == Estimate(80.0, 0.0)


def test_one_unit_has_no_interval():
    found = ratio_estimate([5], [10], 100)
    assert found.value == 50 and math.isnan(found.ci95) and found.covers(50) is None


def test_an_interval_covers_its_ends_and_nothing_beyond():
    found = Estimate(10, 2)
    assert found.covers(8) and found.covers(12) and not found.covers(12.001) and not found.covers(7.999)


def test_weighted_intervals_stand_for_their_share():
    # 3/4 of 100 instructions at 2 cycles each, 1/4 at 10.
    assert weighted_estimate([20, 50], [10, 5], [0.75, 0.25], 100).value == pytest.approx(75 * 2 + 25 * 10)


def test_the_interval_holds_the_mean_of_a_population_in_95_of_100_samples():
    random = np.random.default_rng(3)
    population = random.gamma(4, 25, 20000)
    held = sum(
        bool(ratio_estimate(sample, np.ones(20), 1).covers(population.mean()))
        for sample in (random.choice(population, 20, replace=False) for _ in range(1000))
    )
    assert 925 <= held <= 970
