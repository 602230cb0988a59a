"""K-fold cross validation (MICRO'20 paper, section VI-C, second method, and Table 6).

The samples, in the order of their layout names, are shuffled once with a pinned seed and cut into K
folds whose sizes differ by at most one. Each fold is predicted by a model fitted to the others only:
scaling, selection and fit all happen inside `model.fit`, which never sees the test fold. The paper
does not print its K; the main number here is for K = 6; 3, 9, 27 and 54 show the effect of K.

Here, layouts that place pages identically may fall in different folds, so the errors of all models are too
small. The protocol `kfold` (`protocols/kfold.py`) keeps such layouts together.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.accuracy import relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.fits import FitRows, Fits
from tessera.fit.models.samples import Samples

FOLDS = (3, 6, 9, 27, 54)
SEED = 0


def split(n: int, folds: int, seed: int = SEED) -> list[np.ndarray]:
    """Row numbers of the ``folds`` test sets: disjoint, together 0..n-1, sizes within one."""
    # RandomState: its stream is frozen, that of numpy's Generator may change between versions
    return np.array_split(np.random.RandomState(seed).permutation(n), folds)


def held_out_predictions(
    model: RuntimeModel, samples: Samples, folds: int, seed: int = SEED, fit: FitRows | None = None
) -> np.ndarray:
    """Prediction of each sample (n,) in cycles by the model fitted without its fold.

    ``fit`` fits the copies (`fits.py`), some of which may have been fitted before.

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
    predicted = np.empty(len(samples))
    for number, test in enumerate(split(len(samples), folds, seed)):
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
    model: RuntimeModel, samples: Samples, folds: int, seed: int = SEED, fit: FitRows | None = None
) -> np.ndarray:
    """Relative errors (n,) over all test folds; errors as :func:`held_out_predictions`."""
    return relative_errors(samples.R, held_out_predictions(model, samples, folds, seed, fit))
