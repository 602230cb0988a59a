"""S1, S2, S3, informative points and the verdict at their borders, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.lab.transfer import rules

NAN = float("nan")


@pytest.mark.parametrize(
    ("predicted", "holds"), [(103, True), (103.1, False), (97, True), (96.9, False), (NAN, False)]
)
def test_s1_is_three_percent_of_the_true_runtime(predicted, holds):
    assert rules.bound_holds(100, predicted) is holds


@pytest.mark.parametrize(
    ("runtime", "predicted", "holds"),
    [
        (96, 50, None),  # a gain of 4% of R_0 is too small to be judged
        (80, 75, True),  # gain 20, predicted 25
        (80, 74.9, False),
        (80, 85, True),
        (80, 85.1, False),
        (120, 125, True),  # a loss of 20, predicted 25
        (120, 95, False),  # a loss predicted as a gain
        (80, NAN, False),
    ],
)
def test_s2_is_a_quarter_of_the_gain(runtime, predicted, holds):
    assert rules.gain_holds(100, runtime, predicted) is holds


def test_a_point_passes_with_s1_and_with_s2_where_it_applies():
    assert rules.passes(True, None) and rules.passes(True, True)
    assert not rules.passes(True, False) and not rules.passes(False, True)
    assert not rules.passes(np.bool_(True), np.bool_(False))


def test_s3_counts_pairs_that_differ_by_more_than_two_percent_and_their_intervals():
    # R_0 = 100: 80 and 90 are ordered wrongly; 90 and 91 are too near; 80 and 91 are ordered rightly
    points = [(80, 0, 95), (90, 0, 93), (91, 0, 97)]
    assert rules.orders(points, 100) == (2, 1)
    # their half-widths sum to 11: no pair is left
    assert rules.orders([(a, 5.5, guess) for a, _, guess in points], 100) == (0, 0)


def test_equal_predictions_are_an_inversion():
    assert rules.orders([(80, 0, 50), (90, 0, 50)], 100) == (1, 1)


@pytest.mark.parametrize(
    ("shares", "whole", "found"),
    [
        ([1, 2 / 3], 0.9, "survives"),
        ([1, 0.66], 0.9, "mixed"),
        ([1, 0.8], 0.89, "mixed"),
        ([1, 0], 0.5, "fails"),
        ([1, 0.02], 0.51, "mixed"),
        ([], float("nan"), "not judged"),
    ],
)
def test_verdicts(shares, whole, found):
    assert rules.verdict(shares, whole) == found


def test_a_point_matters_from_five_percent_of_r0_on():
    assert rules.matters(100, 95) and not rules.matters(100, 95.1) and not rules.matters(100, NAN)


@pytest.mark.parametrize(("runtime", "informative"), [(97, False), (96.9, True), (103, False), (103.1, True)])
def test_a_point_is_informative_above_three_percent_of_r0(runtime, informative):
    assert rules.informative(100, runtime) is informative


def test_the_constant_passes_what_hardly_changes():
    assert rules.constant_passes(100, 98)
    assert not rules.constant_passes(100, 96)  # R_0 is 4.2% above R
    assert not rules.constant_passes(100, 95)


@pytest.mark.parametrize(
    ("informative", "passing", "constant", "found"),
    [(19, 50, 10, "trivial"), (20, 10, 10, "useless"), (20, 11, 10, ""), (20, 0, 0, "useless")],
)
def test_a_model_must_beat_the_constant_where_points_are_informative(informative, passing, constant, found):
    assert rules.worth(informative, passing, constant) == found
