"""OPERA's variants, the scaled Alam model and the plain Lasso, against numbers computed by hand."""

import numpy as np
import pytest

from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import EVERY, create
from tessera.fit.models.samples import Samples

from .builders import make_samples, noisy
from .test_preexisting import anchors

# 4KB run (H, M, C, R) = (10, 100, 3000, 10000), 2MB run (40, 20, 500, 8000)


def test_operas_gandhi_by_hand():
    """Ideal 8000 - 500 = 7500; slope (10000 - 7500) / 3000."""
    model = create("gandhi-opera").fit(anchors())
    assert model.coefficients_ == {"1": 7500, "C": pytest.approx(2500 / 3000)}
    assert model.predict(10, 100, 3000) == pytest.approx(10000)  # through the 4KB run
    assert model.predict(0, 0, 0) == 7500


def test_operas_gandhi_needs_walk_cycles():
    with pytest.raises(CannotFit, match="growing-0") as error:
        create("gandhi-opera").fit(anchors(four_kb=(10, 100, 0, 10000)))
    assert error.value.code == "no-walk-cycles"


def test_operas_pham_by_hand():
    assert create("pham-opera").fit(anchors()).coefficients_ == {"1": 7500, "C": 1}


def test_scaled_alam_with_measured_samples():
    """The simulator says 1500 where the machine says 3000: simulated walk cycles count twice."""
    model = create("alam-scaled", simulated_walk_cycles_4kb=1500.0).fit(anchors())
    assert model.coefficients_ == {"1": 7500, "C": 2}
    assert model.predict(0, 0, 400) == 8300
    assert model.details_["scale"] == 2


def test_scaled_alam_with_simulated_samples():
    """A machine says 1500 where these samples say 3000: every C halves, that of the 2MB run too."""
    model = create("alam-scaled", measured_walk_cycles_4kb=1500.0).fit(anchors())
    assert model.coefficients_ == {"1": 8000 - 250, "C": 0.5}


def test_scaled_alam_with_a_perfect_simulator_is_alam():
    scaled = create("alam-scaled", measured_walk_cycles_4kb=3000.0).fit(anchors())
    assert scaled.coefficients_ == create("alam").fit(anchors()).coefficients_


@pytest.mark.parametrize(
    "given, code",
    [
        ({}, "neither-given"),
        ({"simulated_walk_cycles_4kb": 1.0, "measured_walk_cycles_4kb": 1.0}, "both-given"),
        ({"simulated_walk_cycles_4kb": 0.0}, "scale-factor"),
        ({"measured_walk_cycles_4kb": -1.0}, "scale-factor"),
    ],
    ids=[
        "given0-neither is given",
        "given1-both are given",
        "given2-no scale factor",
        "given3-no scale factor",
    ],
)
def test_scaled_alam_refuses(given, code):
    with pytest.raises(CannotFit) as error:
        create("alam-scaled", **given).fit(anchors())
    assert error.value.code == code


def test_the_plain_lasso_shrinks_mosmodels_terms():
    s = noisy()
    plain, refitted = create("lasso").fit(s), create("mosmodel").fit(s)
    assert set(plain.coefficients_) == set(refitted.coefficients_)

    def squared(model):
        return np.sum((s.R - model.predict(s.H, s.M, s.C)) ** 2)

    assert squared(plain) > squared(refitted)  # least squares cannot be beaten on its own terms
    predicted = plain.predict(s.H, s.M, s.C)
    assert predicted.mean() == pytest.approx(s.R.mean(), rel=1e-9)


def test_the_plain_lasso_is_the_lasso():
    """Its coefficients minimise |y - Zb|^2 / (2n) + a |b|_1 at the penalty of its details (subgradient)."""
    from tessera.fit.models.design_matrix import standardised_terms
    from tessera.fit.models.terms import monomials

    s = noisy()
    model, design = create("lasso").fit(s), standardised_terms(s, monomials(3))
    residual = s.R - model.predict(s.H, s.M, s.C)
    correlation = design.columns.T @ residual / len(s)
    active = [i for i, term in enumerate(design.terms) if term.name in model.coefficients_]
    penalty = model.details_["penalty"]
    np.testing.assert_allclose(np.abs(correlation[active]), penalty, rtol=1e-4)
    assert np.all(np.abs(correlation) <= penalty * (1 + 1e-4))


def test_one_term_by_hand():
    """R = 10 + 2 C on C = 0, 1: Z = -1, 1, so the path at its floor shrinks the slope by 1e-4."""
    C = np.array([0.0, 1.0] * 10)
    model = create("lasso").fit(make_samples(10 + 2 * C, 0 * C, 0 * C, C))
    assert model.predict(0, 0, 1) - model.predict(0, 0, 0) == pytest.approx(2 * (1 - 1e-4), rel=1e-9)


@pytest.mark.parametrize("name", [n for n in EVERY if n not in ("alam-scaled", "gp")])
def test_runtimes_times_k_are_predictions_times_k(name):
    s = noisy()
    scaled = Samples(s.layouts, 3e9 * s.H, 3e9 * s.M, 3e9 * s.C, 3e9 * s.R)  # other units for everything
    model, other = create(name).fit(s), create(name).fit(scaled)
    np.testing.assert_allclose(
        other.predict(scaled.H, scaled.M, scaled.C), 3e9 * model.predict(s.H, s.M, s.C), rtol=1e-6
    )
