"""What every model must do: not mind order, copies and units, and name what it cannot fit."""

import numpy as np
import pytest

from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import EVERY, create

from .builders import make_samples, noisy

PARAMETERS = {"alam-scaled": {"measured_walk_cycles_4kb": 2e9}}
#: the likelihood search and the linear program stop at a tolerance, not at the last digit
LOOSE = {"gp": 1e-4, "minimax": 1e-7, "monotone": 1e-8}
SQUARES = ["poly1", "poly2", "poly3", "mosmodel", "lasso", "minimax", "monotone"]


def model(name):
    return create(name, **PARAMETERS.get(name, {}))


def predictions(name, samples):
    s = noisy()
    return model(name).fit(samples).predict(s.H, s.M, s.C)


@pytest.mark.parametrize("name", EVERY)
def test_order_does_not_matter(name):
    s = noisy()
    shuffled = s.subset(np.random.default_rng(7).permutation(54))
    np.testing.assert_allclose(predictions(name, shuffled), predictions(name, s), rtol=LOOSE.get(name, 1e-9))


@pytest.mark.parametrize("name", SQUARES)
def test_every_sample_twice_changes_nothing(name):
    s = noisy()
    twice = s.subset([*range(54), *range(54)])
    np.testing.assert_allclose(predictions(name, twice), predictions(name, s), rtol=LOOSE.get(name, 1e-9))


@pytest.mark.parametrize("name", [n for n in EVERY if n != "alam-scaled"])
@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_all_in_other_units(name, unit):
    """Counts and cycles in units of 1e-6 or 1e9: the same runtime in the new unit."""
    s = noisy()
    scaled = make_samples(*(unit * getattr(s, symbol) for symbol in "RHMC"))
    mine = model(name).fit(scaled).predict(scaled.H, scaled.M, scaled.C)
    np.testing.assert_allclose(mine, unit * predictions(name, s), rtol=max(1e-6, LOOSE.get(name, 0)))


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_the_scale_factor_has_the_unit_of_its_samples(unit):
    """alam-scaled takes one number of its own, in cycles: it changes its unit with them."""
    s = noisy()
    scaled = make_samples(*(unit * getattr(s, symbol) for symbol in "RHMC"))
    measured = PARAMETERS["alam-scaled"]["measured_walk_cycles_4kb"]
    mine = create("alam-scaled", measured_walk_cycles_4kb=unit * measured).fit(scaled)
    found = mine.predict(scaled.H, scaled.M, scaled.C)
    np.testing.assert_allclose(found, unit * predictions("alam-scaled", s), rtol=1e-9)


@pytest.mark.parametrize("name", SQUARES)
def test_each_quantity_in_a_unit_of_its_own(name):
    """Models that learn all their coefficients don't ask which unit a column has, not even R."""
    s, units = noisy(), {"R": 1e9, "H": 1e-3, "M": 1e9, "C": 1e3}
    scaled = make_samples(*(units[symbol] * getattr(s, symbol) for symbol in "RHMC"))
    mine = model(name).fit(scaled).predict(scaled.H, scaled.M, scaled.C)
    np.testing.assert_allclose(mine, units["R"] * predictions(name, s), rtol=1e-6)


@pytest.mark.parametrize("constant", ["H", "M", "C", "R", "HM", "HMC", "HMCR"])
@pytest.mark.parametrize("name", EVERY)
def test_constant_columns(name, constant):
    """A named refusal or finite predictions, never a NaN."""
    s = noisy()
    columns = {symbol: getattr(s, symbol).copy() for symbol in "RHMC"}
    for symbol in constant:
        columns[symbol][:] = 7e6
    samples = make_samples(*(columns[symbol] for symbol in "RHMC"))
    try:
        fitted = model(name).fit(samples)
    except CannotFit as error:
        assert error.found and error.remedy
        return
    assert np.all(np.isfinite(fitted.predict(samples.H, samples.M, samples.C)))


@pytest.mark.parametrize("n", range(2, 7))
@pytest.mark.parametrize("name", EVERY)
def test_few_samples(name, n):
    """The two anchors and up to four more."""
    samples = noisy().subset([0, 8, 20, 30, 40, 50][:n])
    try:
        assert np.all(np.isfinite(predictions(name, samples)))
    except CannotFit as error:
        assert EVERY[name].cross_validated and n < 6
        assert "sample" in error.found or "different values" in error.found


@pytest.mark.parametrize("name", EVERY)
def test_more_walk_cycles_than_runtime(name):
    """Two walkers: C > R is valid."""
    s = noisy()
    samples = make_samples(s.R, s.H, s.M, 10 * s.C)
    fitted = model(name).fit(samples)
    assert np.all(np.isfinite(fitted.predict(samples.H, samples.M, samples.C)))
