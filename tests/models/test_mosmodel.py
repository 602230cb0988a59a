"""Mosmodel: planted polynomials, sparsity, invariances and limit cases (section VII-C)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.fit.models.base import CannotFit, check_one_in_ten
from tessera.fit.models.registry import create
from tessera.fit.models.terms import TERMS

from .builders import make_samples, noisy, random_inputs


def planted(terms: dict[str, float], seed: int):
    H, M, C = random_inputs(seed=seed)
    inputs = {"H": H, "M": M, "C": C}
    return make_samples(
        5e9 + sum(value * TERMS[term].values(inputs) for term, value in terms.items()), H, M, C
    )


def predictions(samples):
    return create("mosmodel").fit(samples).predict(samples.H, samples.M, samples.C)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "terms",
    [
        {"C": 0.6},
        {"M": 10.0},
        {"H": 7.0},
        {"C": 0.6, "H": 3.0},
        {"C": 0.5, "C^2": 1e-10},
        {"C": 0.5, "C^3": 3e-20},
        {"C": 0.5, "C M": 1e-9},
        {"C M H": 1e-16},
    ],
    ids=" + ".join,
)
def test_planted_polynomials_are_recovered(terms, seed):
    samples = planted(terms, seed)
    model = create("mosmodel").fit(samples)
    assert set(terms) <= set(model.coefficients_)
    for term, value in terms.items():
        assert model.coefficients_[term] == pytest.approx(value, rel=1e-6)
    errors = np.abs(predictions(samples) / samples.R - 1)
    assert errors.max() < 1e-6


def five_terms(terms, seed: int):
    """(samples, coefficients) of a cubic of five terms, each moving the runtime by the same amount."""
    H, M, C = random_inputs(seed=seed)
    inputs = {"H": H, "M": M, "C": C}
    values = {term: float(3e8 / TERMS[term].values(inputs).std()) for term in terms}
    return planted(values, seed), values


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "terms",
    [
        ("C", "M", "C^2", "C M", "C^3"),
        ("C", "C^2", "C H", "C^2 H", "C H^2"),
        ("C H", "C^2 M", "C^2 H", "C M H", "C H^2"),
        ("C^2", "C M", "C^3", "C^2 M", "C M^2"),
        ("H", "H^2", "C H^2", "M H^2", "H^3"),
    ],
    ids=" + ".join,
)
def test_known_cubics_of_five_terms_are_recovered(terms, seed):
    samples, values = five_terms(terms, seed)
    model = create("mosmodel").fit(samples)
    assert set(model.coefficients_) == {"1", *terms}
    for term, value in values.items():
        assert model.coefficients_[term] == pytest.approx(value, rel=1e-6)
    H, M, C = random_inputs(seed=1000 + seed)  # points that were not fitted
    inputs = {"H": H, "M": M, "C": C}
    truth = 5e9 + sum(value * TERMS[term].values(inputs) for term, value in values.items())
    np.testing.assert_allclose(model.predict(H=H, M=M, C=C), truth, rtol=1e-6)


def test_how_often_any_five_terms_are_found():
    """docs/reference/model-definitions.md, Mosmodel: of 200 random sets of five terms it finds a few."""
    stream, names = np.random.RandomState(0), [term for term in TERMS if term != "1"]
    found = 0
    for seed in range(200):
        terms = [names[i] for i in sorted(stream.permutation(19)[:5])]
        found += set(create("mosmodel").fit(five_terms(terms, seed)[0]).coefficients_) == {"1", *terms}
    assert 5 <= found <= 25, found


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(6, 100),
    noise=st.sampled_from([0.0, 1e-4, 1e-2, 1.0]),
    proportional=st.booleans(),
    levels=st.sampled_from([0, 1, 2, 5]),
)
def test_never_more_than_five_coefficients(seed, n, noise, proportional, levels):
    H, M, C = random_inputs(n, seed)
    H = np.round(H / 5e7 * levels) * 1e7 if levels else H
    C = 30 * M if proportional else C
    scatter = np.abs(1 + noise * np.random.default_rng(seed).standard_normal(n)) + 0.01
    samples = make_samples((5e9 + 0.6 * C + 1e-9 * C * H) * scatter, H, M, C)
    model = create("mosmodel").fit(samples)
    assert len(set(model.coefficients_) - {"1"}) <= 5
    assert np.all(np.isfinite(model.predict(H, M, C)))


@pytest.mark.parametrize("scale", [1e-6, 0.5, 3.0, 1e9])
def test_runtimes_times_k_are_predictions_times_k(scale):
    s = noisy()
    scaled = make_samples(scale * s.R, s.H, s.M, s.C)
    np.testing.assert_allclose(predictions(scaled), scale * predictions(s), rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-6, 0.5, 3.0, 1e9, 1e40])
@pytest.mark.parametrize("symbol", ["H", "M", "C"])
def test_inputs_times_k_leave_predictions(symbol, scale):
    s = noisy()
    inputs = {name: getattr(s, name) * (scale if name == symbol else 1) for name in "HMC"}
    np.testing.assert_allclose(predictions(make_samples(s.R, **inputs)), predictions(s), rtol=1e-9)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(54)))
def test_order_of_the_samples_does_not_matter(order):
    s = noisy()
    model, permuted = create("mosmodel").fit(s), create("mosmodel").fit(s.subset(order))
    assert list(model.coefficients_) == list(permuted.coefficients_)
    np.testing.assert_allclose(permuted.predict(s.H, s.M, s.C), model.predict(s.H, s.M, s.C), rtol=1e-10)


def test_refit_is_least_squares_on_the_selected_terms():
    s = noisy()
    model = create("mosmodel").fit(s)
    unit = {name: getattr(s, name) / getattr(s, name).max() for name in "HMC"}
    columns = np.column_stack([TERMS[term].values(unit) for term in model.coefficients_])
    weights = np.linalg.lstsq(columns, s.R, rcond=None)[0]
    np.testing.assert_allclose(model.predict(s.H, s.M, s.C), columns @ weights, rtol=1e-10)


def test_the_cap_is_a_parameter():
    for most in (1, 2, 3):
        model = create("mosmodel").set_params(max_nonzero=most).fit(noisy())
        assert len(model.coefficients_) <= most + 1


def test_an_input_that_is_always_zero_is_never_selected():
    s = noisy()
    model = create("mosmodel").fit(make_samples(s.R, 0 * s.H, s.M, s.C))
    assert not [term for term in model.coefficients_ if "H" in term]
    assert "C H" in model.details_["constant_terms"]


def test_equal_runtimes_give_a_constant():
    s = noisy()
    model = create("mosmodel").fit(make_samples(np.full(54, 7e9), s.H, s.M, s.C))
    assert model.coefficients_ == {"1": 7e9}


def test_equal_samples_give_their_mean():
    R = np.array([1.0, 2.0, 3.0] * 18)
    same = np.full(54, 5.0)
    assert create("mosmodel").fit(make_samples(R, same, same, same)).coefficients_ == {"1": 2.0}


def test_repeating_every_sample_changes_nothing():
    s = noisy()
    twice = make_samples(*(np.tile(getattr(s, name), 2) for name in ("R", "H", "M", "C")))
    np.testing.assert_allclose(predictions(twice)[:54], predictions(s), rtol=1e-10)


@pytest.mark.parametrize("n", [5, 6])
def test_as_many_samples_as_coefficients(n):
    samples = noisy().subset(range(n))
    if n == 5:
        with pytest.raises(CannotFit, match="6 coefficients but 5 samples"):
            create("mosmodel").fit(samples)
    else:
        create("mosmodel").fit(samples)


@pytest.mark.parametrize("n, follows", [(54, True), (49, False)])
def test_the_one_in_ten_rule_is_recorded(n, follows):
    model = create("mosmodel").fit(noisy().subset(range(n)))
    assert len(model.coefficients_) == 6
    assert model.details_["one_in_ten"] is follows


def test_copies_are_no_samples_for_the_one_in_ten_rule():
    rows = [*range(49), *range(11)]  # 60 rows, 49 of them distinct
    s = noisy().subset(rows)
    model = create("mosmodel").fit(make_samples(s.R, s.H, s.M, s.C))
    assert model.details_["effective_n"] == 49 and model.details_["one_in_ten"] is False
    assert check_one_in_ten(model, 60, "flag").endswith(
        "5 coefficients from 49 distinct samples (60 layouts)"
    )
