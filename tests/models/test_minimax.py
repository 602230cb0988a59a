"""The minimax cubic against the theory of best approximation, and against exhaustive search."""

from itertools import combinations

import numpy as np
import pytest

from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create

from .builders import make_samples, noisy


def curve(n=9, seed=0):
    rng = np.random.default_rng(seed)
    C = np.sort(np.round(4e9 * rng.random(n)))
    return make_samples(5e9 + 3e9 * np.sin(C / 1e9) + 1e8 * rng.standard_normal(n), 0 * C, 0 * C, C)


def levelled(C, R):
    """|t| of the cubic that misses five samples by +-t R in turn (a 5 x 5 linear system)."""
    order = np.argsort(C)
    x, R = C[order] / 4e9, R[order]
    signs = (-1.0) ** np.arange(5)
    system = np.column_stack([x**0, x, x**2, x**3, signs * R])
    return abs(np.linalg.solve(system, R)[-1])


@pytest.mark.parametrize("seed", range(6))
def test_exhaustive_search_over_five_samples(seed):
    """The best error over n samples is the largest levelled error of any five (de la Vallee Poussin)."""
    s = curve(seed=seed)
    best = max(levelled(s.C[list(rows)], s.R[list(rows)]) for rows in combinations(range(len(s)), 5))
    model = create("minimax").fit(s)
    errors = np.abs(model.predict(s.H, s.M, s.C) / s.R - 1)
    assert errors.max() == pytest.approx(best, rel=1e-6)
    assert model.details_["max_error"] == pytest.approx(best, rel=1e-6)


def test_a_cubic_is_recovered():
    C = np.linspace(0, 4e9, 20)
    model = create("minimax").fit(make_samples(5e9 + 0.5 * C + 3e-20 * C**3, 0 * C, 0 * C, C))
    at = np.array([3e8, 2.2e9, 3.9e9])
    np.testing.assert_allclose(model.predict(0, 0, at), 5e9 + 0.5 * at + 3e-20 * at**3, rtol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_no_cubic_has_a_smaller_largest_error(seed):
    s = curve(30, seed) if seed else noisy()
    worst = {}
    for name in ("minimax", "poly3", "poly2", "poly1", "monotone", "yaniv"):
        predicted = create(name).fit(s).predict(s.H, s.M, s.C)
        worst[name] = np.abs(predicted / s.R - 1).max()
    assert worst["minimax"] <= min(worst.values()) * (1 + 1e-7)


def test_duplicates_and_order_change_nothing():
    s = curve(12)
    twice = s.subset([*range(12), *range(12)][::-1])
    at = s.C[[2, 7]]
    np.testing.assert_allclose(
        create("minimax").fit(twice).predict(0, 0, at), create("minimax").fit(s).predict(0, 0, at), rtol=1e-6
    )


def test_too_few_values_of_c():
    with pytest.raises(CannotFit, match="4 coefficients .* 3 .* C"):
        create("minimax").fit(curve().subset([0, 1, 2, 2, 1]))


def test_walk_cycles_that_hardly_vary():
    """Within 1e-9 of each other: a cubic in raw units would lose the prediction."""
    C = 4e9 + np.arange(9.0)
    with pytest.raises(CannotFit) as error:
        create("minimax").fit(make_samples(5e9 + 1e8 * np.sin(C), 0 * C, 0 * C, C))
    assert error.value.code in ("ill-conditioned", "no-optimum")
