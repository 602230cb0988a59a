"""Shared fits: made once, equal to fits made alone, and never of other samples."""

import numpy as np
import pandas as pd
import pytest

from tessera.fit.evaluation.cross_validation import Fits, shared_fits
from tessera.fit.evaluation.judgement import learning_curve
from tessera.fit.evaluation.protocols import run_protocols
from tessera.fit.fitting import fit_all
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create
from tessera.fit.models.samples import check_samples

from .builders import make_frame, noisy


def test_the_same_rows_are_fitted_once_and_parameters_tell_models_apart():
    s, rows = noisy(), np.arange(40)
    fits = Fits(s)
    fitted = fits.of(create("mosmodel"))(rows)
    assert fits.of(create("mosmodel"))(list(rows)) is fitted
    smaller = fits.of(create("mosmodel", max_nonzero=2))(rows)
    assert smaller.size() == 2 and fitted.size() == 5
    assert fitted.coefficients_ == create("mosmodel").fit(s.subset(rows)).coefficients_


def test_what_cannot_be_fitted_says_so_every_time():
    fit = Fits(noisy()).of(create("mosmodel"))
    for _ in range(2):
        with pytest.raises(CannotFit, match="3 samples"):
            fit(np.arange(3))


def test_sharing_changes_no_number():
    table = check_samples(make_frame(noisy()))
    fits = Fits(table.fitted)
    together = [fit_all(table, fits=fits).cv, run_protocols(table, fits=fits)]
    together.append(learning_curve(table, ["poly3"], draws=2, fits=fits))
    alone = [fit_all(table).cv, run_protocols(table), learning_curve(table, ["poly3"], draws=2)]
    for mine, other in zip(together, alone, strict=True):
        pd.testing.assert_frame_equal(mine, other, check_exact=True)


def test_fits_of_other_samples_are_a_mistake():
    with pytest.raises(ValueError, match="other samples"):
        shared_fits(Fits(noisy()), noisy())
