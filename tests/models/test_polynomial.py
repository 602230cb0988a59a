"""poly1, poly2, poly3 against exact rational arithmetic and numpy's least squares."""

from fractions import Fraction

import numpy as np
import pytest

from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create

from .builders import make_samples, noisy

DEGREE = {"poly1": 1, "poly2": 2, "poly3": 3}


def exact_least_squares(C, R, degree: int) -> list[Fraction]:
    """The normal equations in rationals, by Gauss-Jordan elimination; [beta, a1, ...]."""
    powers = [[Fraction(int(c)) ** k for k in range(degree + 1)] for c in C]
    size = range(degree + 1)
    rows = [
        [sum(p[i] * p[j] for p in powers) for j in size]
        + [sum(p[i] * Fraction(float(r)) for p, r in zip(powers, R, strict=True))]
        for i in size
    ]
    for i in size:
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for k in size:
            if k != i:
                rows[k] = [x - rows[k][i] * y for x, y in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


@pytest.mark.parametrize("name", DEGREE)
def test_against_exact_rationals(name):
    samples = noisy()
    exact = exact_least_squares(samples.C, samples.R, DEGREE[name])
    learned = list(create(name).fit(samples).coefficients_.values())
    np.testing.assert_allclose(learned, [float(x) for x in exact], rtol=1e-9)


@pytest.mark.parametrize("name", DEGREE)
def test_against_numpy(name):
    samples = noisy()
    fitted = create(name).fit(samples)
    unit = samples.C / samples.C.max()
    basis = np.vander(unit, DEGREE[name] + 1)
    weights = np.linalg.lstsq(basis, samples.R, rcond=None)[0]
    predicted = fitted.predict(samples.H, samples.M, samples.C)
    np.testing.assert_allclose(predicted, basis @ weights, rtol=1e-12)


@pytest.mark.parametrize("name", DEGREE)
def test_a_polynomial_of_its_degree_is_recovered(name):
    C = np.arange(54) * 1e8
    truth = {"1": 5e9, "C": 0.5, "C^2": 2e-10, "C^3": 3e-20}
    truth = dict(list(truth.items())[: DEGREE[name] + 1])
    R = sum(value * C**power for power, value in enumerate(truth.values()))
    learned = create(name).fit(make_samples(R, 0 * C, 0 * C, C)).coefficients_
    assert list(learned) == list(truth)
    np.testing.assert_allclose(list(learned.values()), list(truth.values()), rtol=1e-9)


@pytest.mark.parametrize("name", DEGREE)
@pytest.mark.parametrize("missing", [0, 1])
def test_as_many_different_walk_cycles_as_coefficients(name, missing):
    different = DEGREE[name] + 1 - missing
    C = np.resize(np.arange(different) * 1000.0, 54)
    samples = make_samples(1e6 + C, 0 * C, 0 * C, C)
    if not missing:
        predicted = create(name).fit(samples).predict(samples.H, samples.M, samples.C)
        np.testing.assert_allclose(predicted, samples.R, rtol=1e-12)
        return
    with pytest.raises(CannotFit, match=f" {different} .* C"):
        create(name).fit(samples)


def test_walk_cycles_that_differ_by_rounding_only_are_refused():
    C = 1e15 + np.arange(54.0) / 8
    with pytest.raises(CannotFit, match="1000000000000000") as error:
        create("poly1").fit(make_samples(1e6 + 0 * C, 0 * C, 0 * C, C))
    assert error.value.code == "constant-c"


@pytest.mark.parametrize("name", DEGREE)
def test_higher_degrees_fit_no_worse(name):
    samples = noisy()

    def squares(model):
        return np.sum((create(model).fit(samples).predict(0, 0, samples.C) - samples.R) ** 2)

    assert squares("poly3") <= squares(name) <= squares("poly1")


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6, 1e30])
@pytest.mark.parametrize("name", DEGREE)
def test_units_of_the_walk_cycles_do_not_matter(name, scale):
    s = noisy()
    scaled = make_samples(s.R, s.H, s.M, s.C * scale)
    np.testing.assert_allclose(
        create(name).fit(scaled).predict(scaled.H, scaled.M, scaled.C),
        create(name).fit(s).predict(s.H, s.M, s.C),
        rtol=1e-10,
    )
