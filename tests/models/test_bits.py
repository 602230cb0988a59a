"""The last bit: whatever order the rows come in, and however often it is fitted, a model is the same."""

import numpy as np
import pandas as pd
import pytest

from tessera.fit.fitting import fit_all
from tessera.fit.models.registry import EVERY, create

from .builders import make_frame, noisy

#: alam-scaled needs a parameter, gp is no list of coefficients: test_properties has both
EXACT = [name for name in EVERY if name not in ("alam-scaled", "gp")]
PERMUTATIONS = [np.random.default_rng(seed).permutation(54) for seed in range(3)]


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("order", PERMUTATIONS, ids=range(3))
def test_shuffled_samples_give_the_same_bits(name, order):
    s = noisy()
    assert create(name).fit(s.subset(order)).coefficients_ == create(name).fit(s).coefficients_


@pytest.mark.parametrize("name", [name for name in EXACT if EVERY[name].cross_validated])
@pytest.mark.parametrize("order", PERMUTATIONS, ids=range(3))
def test_shuffled_arrays_without_names_give_the_same_bits(name, order):
    s = noisy()
    X = np.column_stack([s.H, s.M, s.C])
    shuffled = create(name).fit(X[order], s.R[order])
    assert shuffled.coefficients_ == create(name).fit(X, s.R).coefficients_


def test_named_arrays_give_the_bits_of_the_table():
    s, order = noisy(), PERMUTATIONS[0]
    X, names = np.column_stack([s.H, s.M, s.C])[order], [s.layouts[i] for i in order]
    by_array = create("mosmodel").fit(X, s.R[order], layouts=names)
    assert by_array.coefficients_ == create("mosmodel").fit(s).coefficients_


def test_a_shuffled_table_gives_the_same_tables_twice():
    frame = make_frame(noisy())
    first, again = fit_all(frame), fit_all(frame)
    shuffled = fit_all(frame.iloc[PERMUTATIONS[1]].reset_index(drop=True))
    for table in ("coefficients", "predictions", "errors", "cv", "rsquared"):
        for other in (again, shuffled):
            pd.testing.assert_frame_equal(getattr(first, table), getattr(other, table), check_exact=True)
