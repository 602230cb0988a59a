"""The five models of section III against numbers computed by hand."""

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples


def anchors(four_kb=(10, 100, 3000, 10000), two_mb=(40, 20, 500, 8000)) -> Samples:
    """The two anchors, each (H, M, C, R)."""
    H, M, C, R = np.array([four_kb, two_mb], dtype=float).T
    return Samples(("growing-0", "growing-8"), H, M, C, R)


# alpha = 3000 / 100 = 30; beta of basu = 10000 - 3000, of gandhi and alam = 8000 - 500,
# of pham = 10000 - 3000 - 70; yaniv: slope = 2000 / 2500 = 0.8, beta = 8000 - 0.8 * 500
BY_HAND = {
    "basu": {"1": 7000, "M": 30},
    "gandhi": {"1": 7500, "M": 30},
    "pham": {"1": 6930, "C": 1, "H": 7},
    "alam": {"1": 7500, "C": 1},
    "yaniv": {"1": 7600, "C": 0.8},
}


@pytest.mark.parametrize("name", BY_HAND)
def test_coefficients_are_those_of_the_paper(name):
    assert create(name).fit(anchors()).coefficients_ == BY_HAND[name]


# at H = 5, M = 50, C = 1000
@pytest.mark.parametrize(
    "name, runtime",
    [("basu", 8500), ("gandhi", 9000), ("pham", 7965), ("alam", 8500), ("yaniv", 8400)],
)
def test_prediction_by_hand(name, runtime):
    assert create(name).fit(anchors()).predict(H=5, M=50, C=1000) == runtime


@pytest.mark.parametrize("name", BY_HAND)
def test_other_samples_do_not_matter(name):
    H, M, C, R = np.array([(10, 100, 3000, 10000), (1, 2, 3, 4), (40, 20, 500, 8000)], float).T
    more = Samples(("growing-0", "random-1", "growing-8"), H, M, C, R)
    assert create(name).fit(more).coefficients_ == BY_HAND[name]


def test_basu_passes_through_its_two_points():
    basu = create("basu").fit(anchors())
    assert basu.predict(H=0, M=0, C=0) == 10000 - 3000
    assert basu.predict(H=10, M=100, C=3000) == 10000


def test_yaniv_passes_through_both_anchors():
    samples = anchors()
    predicted = create("yaniv").fit(samples).predict(samples.H, samples.M, samples.C)
    np.testing.assert_allclose(predicted, samples.R, rtol=1e-15)


def test_alam_is_yaniv_with_slope_one():
    samples = anchors(four_kb=(10, 100, 3000, 10500))
    assert create("alam").fit(samples).coefficients_ == create("yaniv").fit(samples).coefficients_


def test_more_walk_cycles_than_cycles_give_basu_a_negative_runtime():
    """Two walkers count two walk cycles per cycle (section VI-D): valid, never clipped."""
    assert create("basu").fit(anchors(four_kb=(0, 100, 15000, 10000))).predict(0, 0, 0) == -5000


@pytest.mark.parametrize("name", ["basu", "gandhi"])
def test_no_misses_leave_the_slope_undefined(name):
    with pytest.raises(CannotFit, match=f"model '{name}'.*M_4K is undefined"):
        create(name).fit(anchors(four_kb=(10, 0, 0, 10000)))


def test_equal_walk_cycles_leave_yaniv_undefined():
    with pytest.raises(CannotFit, match="both have C = 500 walk cycles"):
        create("yaniv").fit(anchors(four_kb=(10, 100, 500, 10000)))


@pytest.mark.parametrize("name", BY_HAND)
def test_a_missing_anchor_is_named(name):
    with pytest.raises(TesseraError, match="anchor layout growing-[08]"):
        create(name).fit(anchors().subset([]))
