"""`mosmodel-authors`: scikit-learn's pipeline with the authors' settings, in raw units, and deterministic."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LassoLarsCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures
from threadpoolctl import threadpool_limits

from tessera.fit.evaluation.cross_validation import held_out_errors
from tessera.fit.models.base import CannotFit
from tessera.fit.models.mosmodel import AUTHORS_FOLDS
from tessera.fit.models.registry import EXTRA, MODELS, create

from .builders import make_samples, noisy
from .test_mosmodel import five_terms

NAME = "mosmodel-authors"
CASES = {
    "noisy": noisy(),
    "cubic": five_terms(("C", "M", "C^2", "C M", "C^3"), 0)[0],
    "no hits": make_samples(noisy().R, 0 * noisy().H, noisy().M, noisy().C),
    "M follows C": make_samples(noisy().R, noisy().H, noisy().C / 30, noisy().C),
}


def pipeline(samples):
    """The published settings, as scikit-learn runs them."""
    ordered = samples.in_order()
    steps = MaxAbsScaler(), PolynomialFeatures(3, include_bias=False), LassoLarsCV(fit_intercept=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = make_pipeline(*steps).fit(np.column_stack([ordered.C, ordered.M, ordered.H]), ordered.R)
    return fitted


@pytest.mark.parametrize("case", CASES)
def test_it_predicts_what_the_pipeline_predicts(case):
    """At the samples and away from them, from raw-unit coefficients alone."""
    s = CASES[case]
    expected, model = pipeline(s), create(NAME).fit(s)
    for factor in (1.0, 0.3, 1.7):
        X = factor * np.column_stack([s.C, s.M, s.H])
        found = model.predict(H=factor * s.H, M=factor * s.M, C=factor * s.C)
        np.testing.assert_allclose(found, expected.predict(X), rtol=1e-9)
    lasso = expected[-1]
    assert model.size() == np.count_nonzero(lasso.coef_) > 0
    assert model.details_["penalty"] == lasso.alpha_


@pytest.mark.parametrize("case", CASES)
def test_two_fits_are_the_same(case):
    s = CASES[case]
    shuffled = s.subset(np.random.default_rng(1).permutation(len(s)))
    first, again = create(NAME).fit(s), create(NAME).fit(shuffled)
    assert first.coefficients_ == again.coefficients_


@pytest.mark.parametrize("case", CASES)
def test_the_number_of_threads_does_not_matter(case):
    """Within 1e-8, with one or two threads of the linear algebra library."""
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(create(NAME).fit(CASES[case]).coefficients_)
    assert set(found[0]) == set(found[1])
    for term, value in found[0].items():
        assert found[1][term] == pytest.approx(value, rel=1e-8)


def test_it_is_beside_the_paper_not_among_its_nine():
    assert NAME in EXTRA and NAME not in MODELS
    model = create(NAME)
    assert model.cross_validated and "18be704" in model.source


def test_it_has_no_cap():
    """More terms than five, and the rule of ten samples per coefficient is broken, not hidden."""
    model = create(NAME).fit(noisy())
    assert model.size() > 5
    assert model.details_["one_in_ten"] == (model.size() * 10 <= 54)


def test_leave_one_out_keeps_copies_together():
    """With K = n each distinct row is a fold; a copy left in training would lower the error."""
    s = noisy().subset([*range(20), *range(6)])
    together = held_out_errors(create(NAME), s, len(s))
    apart = held_out_errors(create(NAME), s, len(s), groups=np.arange(len(s)))
    np.testing.assert_allclose(together[20:], together[:6], rtol=1e-12)
    assert together[:6].max() > apart[:6].max()


def test_what_it_cannot_fit():
    s = noisy()
    cases = {
        "few-samples": s.subset(range(AUTHORS_FOLDS - 1)),
        "constant": make_samples(0 * s.R + 7e9, s.H, s.M, s.C),
    }
    for code, samples in cases.items():
        with pytest.raises(CannotFit) as error:
            create(NAME).fit(samples)
        assert error.value.code == code
    with pytest.raises(CannotFit, match="H, M, C") as error:
        create(NAME).fit(make_samples(s.R, 0 * s.H + 1, 0 * s.M + 1, 0 * s.C + 1))
    assert error.value.code == "constant"
