"""The Lasso path against its optimality conditions, a closed form, and coordinate descent."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import lasso_path as coordinate_descent

from tessera.fit.models.lasso import Segment, lasso_path, least_penalised


def standardised(n: int, p: int, seed: int, levels: int = 0):
    """(Z, y): correlated columns, on few ``levels`` if asked (ties, duplicates, dependences)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2 * rng.standard_normal((n, 1))
    X = np.round(X * levels) / levels if levels else X
    y = X @ (rng.standard_normal(p) * (rng.random(p) < 0.3)) + 0.1 * rng.standard_normal(n)
    varying = X.std(axis=0) > 0
    X = X[:, varying]
    return (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()


def at_lower_end(segment: Segment, p: int) -> np.ndarray:
    b = np.zeros(p)
    b[list(segment.active)] = segment.coefficients
    return b


def optimality_violation(Z, y, b, penalty) -> float:
    """How far b is from minimising |y - Zb|^2 / (2n) + penalty |b|_1, as a share of the penalty."""
    correlation = Z.T @ (y - Z @ b) / len(y)
    active = np.abs(b) > 1e-6 * np.max(np.abs(b), initial=1e-300)
    aligned = np.abs(correlation[active] - penalty * np.sign(b[active]))
    outside = np.abs(correlation) - penalty
    return max(np.max(outside), np.max(aligned, initial=0.0)) / penalty


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(6, 60),
    p=st.integers(1, 19),
    seed=st.integers(0, 10**6),
    levels=st.sampled_from([0, 0, 1, 2]),
)
def test_every_knot_is_optimal(n, p, seed, levels):
    Z, y = standardised(n, p, seed, levels)
    for segment in lasso_path(Z, y):
        b = at_lower_end(segment, Z.shape[1])
        assert optimality_violation(Z, y, b, segment.lower) < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_coordinate_descent_inside_segments(seed):
    Z, y = standardised(40, 8, seed)
    segments = lasso_path(Z, y, floor=1e-3)
    penalties = [np.sqrt(s.upper * s.lower) for s in segments]
    _, coefficients, _ = coordinate_descent(Z, y, alphas=penalties, tol=1e-12, max_iter=10**6)
    for segment, b in zip(segments, coefficients.T, strict=True):
        assert tuple(np.flatnonzero(np.abs(b) > 1e-9)) == segment.active


def test_orthogonal_features_shrink_one_by_one():
    """With orthogonal columns the solution is soft thresholding: knots at the correlations."""
    Z = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1.0]]).T[:, 1:]
    y = Z @ np.array([3.0, -2.0, 1.0])
    segments = lasso_path(Z, y)
    assert [s.active for s in segments] == [(0,), (0, 1), (0, 1, 2)]
    np.testing.assert_allclose([s.upper for s in segments], [3, 2, 1])
    np.testing.assert_allclose(segments[1].coefficients, [2, -1])


def test_segments_follow_one_another_down_to_the_floor():
    Z, y = standardised(54, 19, 3)
    segments = lasso_path(Z, y, floor=1e-4)
    for above, below in zip(segments, segments[1:], strict=False):
        assert above.lower == below.upper
    assert segments[-1].lower == pytest.approx(1e-4 * segments[0].upper)


def test_the_penalty_ends_in_least_squares():
    Z, y = standardised(54, 6, 1)
    b = at_lower_end(lasso_path(Z, y, floor=1e-10)[-1], 6)
    np.testing.assert_allclose(b, np.linalg.lstsq(Z, y, rcond=None)[0], rtol=1e-6)


def test_a_duplicated_feature_is_used_once_and_it_is_the_first():
    Z, y = standardised(54, 5, 2)
    doubled = np.column_stack([Z, Z])
    for once, twice in zip(lasso_path(Z, y), lasso_path(doubled, y), strict=True):
        assert once.active == twice.active


def test_nothing_to_explain():
    Z, _ = standardised(54, 5, 2)
    assert lasso_path(Z, np.zeros(54)) == []
    assert lasso_path(np.empty((54, 0)), np.ones(54)) == []


def segment(upper, lower, count):
    return Segment(upper, lower, tuple(range(count)), np.ones(count))


# name: (segments as (upper, lower, active features), index of the answer with at most 2 or None)
CHOICES = {
    "the last one allowed": ([(9, 5, 1), (5, 3, 2), (3, 1, 3)], 1),
    "one that comes back": ([(9, 5, 2), (5, 3, 3), (3, 1, 2), (1, 0.1, 3)], 2),
    "one only wide by rounding": ([(9, 5, 2), (5, 3, 3), (3, 3 * (1 - 1e-12), 2)], 0),
    "exactly the most": ([(9, 5, 2)], 0),
    "one too many": ([(9, 5, 3)], None),
    "no path": ([], None),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_least_penalised_point(name):
    described, answer = CHOICES[name]
    segments = [segment(*d) for d in described]
    expected = None if answer is None else segments[answer]
    assert least_penalised(segments, 2) is expected
