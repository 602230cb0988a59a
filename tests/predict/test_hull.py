"""Distance to the hull of the samples: by hand, and against membership by construction."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUT_COLUMNS
from tessera.fit.predict.prediction import describe_extrapolation, distance_outside, outside_ranges


def cloud(points) -> Samples:
    H, M, C = np.array(points, dtype=float).T
    return Samples(tuple(map(str, range(len(H)))), H, M, C, np.ones(len(H)))


TETRAHEDRON = cloud([(0, 0, 0), (10, 0, 0), (0, 100, 0), (0, 0, 1000)])


@pytest.mark.parametrize(
    "point, distance",
    [
        ((0, 0, 0), 0),  # a corner
        ((2.5, 25, 250), 0),  # inside: shares sum to 0.75
        ((10 / 3, 100 / 3, 1000 / 3), 0),  # on the slanted face
        ((5, 50, 500), 1 / 6),  # shares sum to 1.5: three inputs give 1/6 each
        ((20, 0, 0), 1),  # only the first can give, and it has 1 too much
        ((0, 0, 1300), 0.3),
    ],
)
def test_by_hand(point, distance):
    """In shares of the ranges the hull is x, y, z >= 0 and x + y + z <= 1."""
    assert distance_outside(TETRAHEDRON, *point) == pytest.approx(distance, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), beyond=st.floats(0.001, 3))
def test_mixtures_are_inside_and_shifted_ones_are_not(seed, beyond):
    rng = np.random.default_rng(seed)
    points = rng.random((12, 3)) * [5e7, 1e8, 4e9]
    s, weights = cloud(points), rng.dirichlet(np.ones(12))
    assert distance_outside(s, *(weights @ points)) == 0
    top, extent = points[:, 2].max(), np.ptp(points[:, 2])
    outside = points[np.argmax(points[:, 2])] + [0, 0, beyond * extent]
    distance = distance_outside(s, *outside)
    assert 0 < distance <= beyond * (1 + 1e-6)
    assert outside[2] > top


def test_inside_every_range_but_outside_the_hull():
    """M falls as H rises in every sample; half of both was seen, none of either was not."""
    s = cloud([(0, 100, 0), (5, 50, 500), (10, 0, 1000)])
    distance, text = describe_extrapolation(s, 0, 0, 0)
    assert distance == pytest.approx(0.5)
    assert " 50% " in text and not [column for column in INPUT_COLUMNS.values() if column in text]
    assert outside_ranges(s, 0, 0, 0) == []


def test_ranges_that_are_left_are_named_with_shares():
    distance, text = describe_extrapolation(TETRAHEDRON, 0, 0, 1300)
    assert distance == pytest.approx(0.3)
    assert re.search("walk_cycles 30% .*above", text)


def test_an_input_that_never_varies():
    s = cloud([(7, 0, 0), (7, 10, 10), (7, 0, 10)])
    assert distance_outside(s, 7, 2, 8) == 0
    assert distance_outside(s, 14, 2, 8) == pytest.approx(1.0)
    zero = cloud([(0, 0, 0), (0, 10, 10), (0, 0, 10)])
    assert distance_outside(zero, 3, 2, 8) == pytest.approx(3.0)


def test_one_sample():
    assert distance_outside(cloud([(1, 2, 4)]), 1, 2, 4) == 0
    assert distance_outside(cloud([(1, 2, 4)]), 1, 2, 8) == pytest.approx(1.0)
