"""K-fold cross validation (MICRO'20 paper, section VI-C, second method, and Table 6).

The distinct samples, in the order of their layout names, are shuffled once with a pinned seed and cut into K
folds whose numbers of distinct samples differ by at most one. Each fold is predicted by a model fitted to
the others only: scaling, selection and fit all happen inside `model.fit`, which never sees the test fold. The
paper does not print its K; the main number here is for K = 6; 3, 9, 27 and 54 show the effect of K.

Samples with equal (H, M, C) share a fold: otherwise a sample would be predicted by a fit to its copy. If all
samples differ, these are plain folds. If K exceeds the number of distinct samples, each of them is a fold
(leave one out). ``groups`` of one sample each (`apart`) give the plain folds of the rows.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.accuracy import relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.fits import FitRows, Fits
from tessera.fit.models.groups import grouped_folds, groups_of
from tessera.fit.models.samples import Samples

FOLDS = (3, 6, 9, 27, 54)
SEED = 0


def split(n: int, folds: int, seed: int = SEED) -> list[np.ndarray]:
    """Row numbers of the ``folds`` test sets: disjoint, together 0..n-1, sizes within one."""
    # RandomState: its stream is frozen, that of numpy's Generator may change between versions
    return np.array_split(np.random.RandomState(seed).permutation(n), folds)


def apart(samples: Samples) -> np.ndarray:
    """Groups (n,) that treat every row as a sample of its own, copies too."""
    return np.arange(len(samples))


def held_out_predictions(
    model: RuntimeModel,
    samples: Samples,
    folds: int,
    seed: int = SEED,
    fit: FitRows | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Prediction of each sample (n,) in cycles by the model fitted without its fold.

    Args:
        fit: fits the copies (`fits.py`), some of which may have been fitted before.
        groups: (n,) rows of one number share a fold; by default those with equal H, M and C.

    Raises:
        CannotFit: there are more folds than samples, or a training set does not determine the model.
    """
    if not 2 <= folds <= len(samples):
        raise CannotFit(
            model.name,
            f"{folds} folds are not possible with {len(samples)} samples",
            f"use 2 to {len(samples)} folds",
        )
    fit = fit or Fits(samples).of(model)
    groups = groups_of(samples) if groups is None else groups
    folds = min(folds, int(groups.max()) + 1)
    predicted = np.empty(len(samples))
    for number, test in enumerate(grouped_folds(groups, folds, seed)):
        training = np.setdiff1d(np.arange(len(samples)), test)
        try:
            fitted = fit(training)
        except CannotFit as error:
            raise CannotFit(
                model.name, f"fold {number + 1} of {folds}: {error.found}", error.remedy
            ) from error
        predicted[test] = fitted.predict(samples.H[test], samples.M[test], samples.C[test])
    return predicted


def held_out_errors(
    model: RuntimeModel,
    samples: Samples,
    folds: int,
    seed: int = SEED,
    fit: FitRows | None = None,
    groups: np.ndarray | None = None,
) -> np.ndarray:
    """Relative errors (n,) over all test folds; arguments and errors as :func:`held_out_predictions`."""
    return relative_errors(samples.R, held_out_predictions(model, samples, folds, seed, fit, groups))
