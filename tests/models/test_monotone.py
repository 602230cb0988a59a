"""The monotone non-negative cubic against a dense-grid quadratic program and planted curves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tessera.fit.models.base import CannotFit
from tessera.fit.models.polynomials import never_falls
from tessera.fit.models.registry import create

from .builders import make_samples

X = np.linspace(0, 4e9, 25)


def fit(R, C=X):
    return create("monotone").fit(make_samples(R, 0 * C, 0 * C, C))


@pytest.mark.parametrize(
    "beta, c1, c2, c3",
    [
        (5.0, 1.0, 0.0, 0.0),
        (5.0, 1.0, 2.0, 3.0),
        (0.0, 1.0, 0.0, 2.0),
        (5.0, 1.2, -1.5, 1.0),
        (5.0, 3.0, -3.0, 1.0),
    ],
)
def test_admissible_cubics_are_recovered(beta, c1, c2, c3):
    """The last one, (x - 1)^3 + 6, has slope zero at x = 1: the edge of what is allowed."""
    x = X / 2e9
    R = 1e9 * (beta + c1 * x + c2 * x**2 + c3 * x**3) + 1e8
    np.testing.assert_allclose(fit(R).predict(0, 0, X), R, rtol=1e-7)


def test_a_falling_curve_becomes_its_mean():
    R = 9e9 - X
    assert fit(R).coefficients_ == {"1": pytest.approx(R.mean())}


def test_a_line_below_zero_starts_at_zero():
    """b >= 0 binds: the best a for a (x) alone is sum(x y) / sum(x^2) when curvature is not wanted."""
    R = np.maximum(X - 1e9, 1.0)
    model = fit(R)
    assert model.predict(0, 0, 0) >= 0
    assert np.all(np.diff(model.predict(0, 0, np.linspace(0, 9e9, 500))) >= 0)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_admissible_cubic_is_better(seed):
    """Oracle: sequential quadratic programming with the slope constrained on a dense grid of C >= 0."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.random(20))
    y = 2 + np.cumsum(rng.standard_normal(20)) * 0.3
    y = np.maximum(y, 0.05)
    powers = np.column_stack([np.ones(20), x, x**2, x**3])
    grid = np.tan(np.linspace(0, np.pi / 2, 400))[:-1]
    slopes = np.column_stack([0 * grid, np.ones_like(grid), 2 * grid, 3 * grid**2]) / (1 + grid**2)[:, None]
    rules = [
        {"type": "ineq", "fun": lambda c: slopes @ c, "jac": lambda c: slopes},
        {"type": "ineq", "fun": lambda c: c[:1], "jac": lambda c: np.eye(4)[:1]},
        {"type": "ineq", "fun": lambda c: c[3:], "jac": lambda c: np.eye(4)[3:]},
    ]
    oracle = minimize(
        lambda c: np.sum((powers @ c - y) ** 2),
        [y.mean(), 0, 0, 0],
        jac=lambda c: 2 * powers.T @ (powers @ c - y),
        constraints=rules,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    model = fit(1e9 * y, 4e9 * x)
    c = np.array(
        [model.coefficients_.get(t, 0.0) * 4e9**k / 1e9 for k, t in enumerate(("1", "C", "C^2", "C^3"))]
    )
    assert never_falls(c * (1 + 1e-9 * np.array([0, 1, 0, 1])))  # rounding on the edge
    mine = np.sum((powers @ c - y) ** 2)
    # the oracle may dip between grid points, so it is a little lower, never higher
    assert oracle.fun * (1 - 1e-6) - 1e-9 <= mine <= oracle.fun * (1 + 1e-4) + 1e-9


def test_too_few_values_of_c():
    with pytest.raises(CannotFit, match="4 coefficients .* 3 .* C"):
        fit(X[:3] + 1, X[:3])
