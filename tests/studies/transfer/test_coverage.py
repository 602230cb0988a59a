"""Hierarchical conformal intervals: closed forms, a slow oracle, and the coverage that they promise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.lab.transfer import rules


def test_the_score_is_relative_to_the_prediction():
    found = rules.conformal_scores([110, 90, 5, 5, 5, 5], [100, 100, 0, -5, math.nan, math.inf])
    assert found.tolist() == [0.1, 0.1, math.inf, math.inf, math.inf, math.inf]


@pytest.mark.parametrize(
    ("others", "level", "found"),
    [
        # nine others: 90% are all of their weight, so the largest score of all
        ({i: [0.01 * i] for i in range(1, 10)}, 0.9, (0.09, 0.9, 9)),
        # ten others: 0.9 x 11 = 9.9 of them, so the tenth
        ({i: [0.01 * i] for i in range(1, 11)}, 0.9, (0.10, 0.9, 10)),
        # 19 others: 0.9 x 20 = 18 of them
        ({i: [0.01 * i] for i in range(1, 20)}, 0.9, (0.18, 0.9, 19)),
        # two others: no more than 2/3
        ({"a": [0.1, 0.2], "b": [0.3]}, 0.9, (0.3, 2 / 3, 2)),
        # a has 1/3 in all, so 1/6 for each of its points: 1/6 + 1/3 reach 1/2
        ({"a": [0.1, 0.9], "b": [0.3]}, 0.5, (0.3, 0.5, 2)),
        # many points of one workload count as much as one of another: 1/3 + 1/3
        ({"a": [0.1] * 1000, "b": [0.3]}, 0.34, (0.3, 0.34, 2)),
        ({"a": [0.1] * 1000, "b": [0.3]}, 0.33, (0.1, 0.33, 2)),
        # no finite width
        ({"a": [0.1], "b": [math.inf]}, 0.9, (math.inf, 2 / 3, 2)),
        # an empty workload is none
        ({"a": [0.1], "b": []}, 0.9, (0.1, 1 / 2, 1)),
    ],
)
def test_widths_by_hand(others, level, found):
    assert tuple(rules.conformal_width(others, level)) == pytest.approx(found)


def test_without_others_there_is_no_interval():
    made = rules.conformal_width({})
    assert math.isnan(made.half_width) and math.isnan(made.level) and made.workloads == 0


def slow_width(others, level):
    """Try every score: exact fractions, one point at a time."""
    K = len(others)
    level = min(level, Fraction(K, K + 1))
    for q in sorted({s for own in others for s in own}):
        reached = sum(Fraction(1, (K + 1) * len(own)) for own in others for s in own if s <= q)
        if reached >= level:
            return float(q)
    raise AssertionError("all scores together have K / (K + 1)")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=6), min_size=1, max_size=14),
    st.sampled_from([Fraction(9, 10), Fraction(1, 2), Fraction(2, 3), Fraction(95, 100)]),
)
def test_the_weighted_quantile_is_that_of_the_oracle(others, level):
    found = rules.conformal_width(dict(enumerate(others)), float(level))
    assert found.half_width == slow_width(others, level)


def study(rng):
    """Scores of 12 workloads with heavy tails, of 3 to 60 points each; one workload is adversarial."""
    scales = np.exp(rng.normal(-4, 1, 12))
    scales[0] = 30 * scales.max()
    rows = [
        (f"w{number}", "STLB", score)
        for number, scale in enumerate(scales)
        for score in scale * np.abs(rng.standard_t(2, rng.integers(3, 61)))
    ]
    return pd.DataFrame(rows, columns=["workload", "family", "score"])


def test_intervals_of_90_percent_cover_what_they_promise():
    rng = np.random.default_rng(20261128)
    shares = [rules.coverage_columns(study(rng))["coverage"] for _ in range(200)]
    assert 0.88 <= np.mean(shares) <= 1.0
    # the adversarial workload is outside, the others are inside: 11 of 12 at best
    assert np.mean(shares) < 0.95


def test_intervals_are_made_by_family_and_without_the_workload():
    rows = pd.DataFrame(
        [("a", "STLB", 0.1), ("a", "walk", 0.9), ("b", "STLB", 0.2), ("b", "walk", 0.5), ("c", "STLB", 0.3)],
        columns=["workload", "family", "score"],
    )
    made = rules.widths_of(rows, ["a", "b", "c"]).set_index(["family", "workload"])
    assert made.loc[("STLB", "c")].tolist() == [2, 2 / 3, 0.2]
    assert made.loc[("walk", "c")].tolist() == [2, 2 / 3, 0.9]
    assert made.loc[("walk", "a")].tolist() == [1, 1 / 2, 0.5]
    found = rules.coverage_columns(rows)
    # inside: a by STLB (0.1 <= 0.3), b by STLB (0.2 <= 0.3) and walk (0.5 <= 0.9); a by walk and c are not
    assert (found["covered"], found["level"]) == (3, 0.5)
    assert found["coverage"] == pytest.approx((1 / 2 + 2 / 2 + 0) / 3)
    assert found["half_width"] == pytest.approx(0.3)  # the median of 0.3, 0.5, 0.3, 0.9, 0.2
    assert rules.coverage_columns(rows[rows["workload"] == "a"]) == {}


def test_the_interval_holds_every_runtime_with_that_score():
    assert rules.interval_of(100.0, 0.1) == (pytest.approx(90), pytest.approx(110))
    assert rules.interval_of(100.0, 1.5) == (0, 250)


@pytest.mark.parametrize(("truth", "score"), [(100, 20), (90, 20), (110, 20), (89, 20 + 20), (115, 20 + 100)])
def test_the_interval_score_charges_twenty_for_each_cycle_outside(truth, score):
    assert rules.interval_score([90], [110], [truth]).tolist() == pytest.approx([score])
