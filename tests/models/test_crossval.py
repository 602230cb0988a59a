"""Cross validation: folds, and that nothing of a test fold reaches its predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.fit.evaluation.cross_validation import (
    FOLDS,
    apart,
    grouped_folds,
    held_out_errors,
    held_out_predictions,
)
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import create

from .builders import make_samples, noisy


def split(n, folds, seed=0):
    """The folds of ``n`` rows that all differ."""
    return grouped_folds(np.arange(n), folds, seed)


@given(n=st.integers(2, 120), data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_folds_are_disjoint_and_cover(n, data, seed):
    folds = data.draw(st.integers(2, n))
    tests = split(n, folds, seed)
    assert sorted(np.concatenate(tests)) == list(range(n))
    sizes = [len(test) for test in tests]
    assert len(sizes) == folds and max(sizes) - min(sizes) <= 1 and min(sizes) >= 1


def test_folds_of_54_are_equal_and_pinned():
    assert all(len({len(t) for t in split(54, k)}) == 1 for k in FOLDS)
    assert list(split(54, 6, seed=0)[0]) == [53, 33, 48, 26, 11, 2, 32, 42, 45]


def test_seeds_differ():
    assert [list(t) for t in split(54, 6, 0)] != [list(t) for t in split(54, 6, 1)]


@pytest.mark.parametrize("name", ["poly1", "poly2", "poly3", "mosmodel"])
@pytest.mark.parametrize("fold", [0, 3])
def test_no_leak(name, fold):
    """Spoiling the runtimes and the inputs' extremes of a fold leaves its own predictions alone."""
    s = noisy()
    test = split(54, 6)[fold]
    R = s.R.copy()
    R[test] = R[test][::-1] * 17
    before = held_out_predictions(create(name), s, 6)
    after = held_out_predictions(create(name), make_samples(R, s.H, s.M, s.C), 6)
    np.testing.assert_array_equal(before[test], after[test])
    rest = np.setdiff1d(np.arange(54), test)
    assert not np.array_equal(before[rest], after[rest])


@pytest.mark.parametrize("name", ["poly3", "mosmodel"])
def test_scaling_happens_inside_the_folds(name):
    """An outlier among a fold's inputs must not move the predictions of the fold's other samples."""
    s = noisy()
    test = split(54, 6)[0]
    C = s.C.copy()
    C[test[0]] *= 1000
    before = held_out_predictions(create(name), s, 6)
    after = held_out_predictions(create(name), make_samples(s.R, s.H, s.M, C), 6)
    np.testing.assert_array_equal(before[test[1:]], after[test[1:]])


def copied(n: int, times: int):
    """``n`` distinct samples, each ``times`` in a row: noise alone, so only a copy predicts a sample."""
    s = noisy().subset(range(n))
    R = 5e9 * (1 + np.random.default_rng(0).random(n))
    return make_samples(*(np.repeat(values, times) for values in (R, s.H, s.M, s.C)))


@pytest.mark.parametrize("folds", [3, 6, 27, 54])
def test_copies_are_never_in_two_folds(folds):
    """A fit to a subset of copies that sees none of the tested sample is the fit without that sample."""
    s = copied(18, 3)
    seen = []

    def fit(rows):
        seen.append(set(rows))
        return create("poly1").fit(s.subset(rows))

    held_out_predictions(create("poly1"), s, folds, fit=fit)
    assert len(seen) == min(folds, 18)
    for rows in seen:
        assert {row // 3 for row in rows}.isdisjoint({row // 3 for row in set(range(54)) - rows})


def test_apart_gives_the_plain_folds_of_the_rows():
    s = copied(18, 3)
    predicted = held_out_predictions(create("poly1"), s, 6, groups=apart(s))
    test = split(54, 6)[0]
    rest = s.subset(np.setdiff1d(np.arange(54), test))
    by_hand = create("poly1").fit(rest).predict(s.H[test], s.M[test], s.C[test])
    np.testing.assert_array_equal(predicted[test], by_hand)
    assert not np.array_equal(predicted, held_out_predictions(create("poly1"), s, 6))


def test_leave_one_out_by_hand():
    s = noisy()
    expected = []
    for i in range(54):
        rest = [j for j in range(54) if j != i]
        slope, beta = np.polyfit(s.C[rest], s.R[rest], 1)
        expected.append(abs(s.R[i] - (slope * s.C[i] + beta)) / s.R[i])
    np.testing.assert_allclose(held_out_errors(create("poly1"), s, 54), expected, rtol=1e-6)


@pytest.mark.parametrize("folds, possible", [(1, False), (2, True), (54, True), (55, False)])
def test_how_many_folds_are_possible(folds, possible):
    if possible:
        assert len(held_out_errors(create("poly1"), noisy(), folds)) == 54
        return
    with pytest.raises(CannotFit, match=f"{folds} folds are not possible with 54 samples"):
        held_out_errors(create("poly1"), noisy(), folds)


def test_a_training_set_that_is_too_small_names_its_fold():
    with pytest.raises(CannotFit, match="fold 1 of 2: 6 coefficients but 5 samples"):
        held_out_errors(create("mosmodel"), noisy().subset(range(10)), 2)


def test_the_model_passed_in_stays_unfitted():
    model = create("poly1")
    held_out_errors(model, noisy(), 3)
    assert not hasattr(model, "coefficients_")
