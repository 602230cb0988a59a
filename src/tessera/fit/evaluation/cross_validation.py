"""K-fold cross validation: samples of one layout stay together, and equal fits are made once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from sklearn.base import clone

from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.table_io import read_file
from tessera.fit.evaluation.accuracy import relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples

# Which samples are the same layout twice: they must never lie on both sides of a test.
#
# Two samples are one group if H, M and C are equal to the last digit, or if a layouts' manifest says
# `duplicate_of`. R does not count: a model sees H, M and C only, so it cannot tell the two apart. Of 54
# layouts of a small workload a third may be duplicates.


def duplicate_groups(samples: Samples, duplicate_of: Mapping[str, str] | None = None) -> np.ndarray:
    """(n,) group numbers 0.. in the order of first appearance.

    Args:
        duplicate_of: layout -> the earlier layout that it repeats (column of `manifest.csv`).
    """
    rows = list(zip(samples.H, samples.M, samples.C, strict=True))
    first: dict[object, int] = {}
    parent = list(range(len(rows)))

    def root(row: int) -> int:
        while parent[row] != row:
            row = parent[row]
        return row

    number = {name: row for row, name in enumerate(samples.layouts)}
    links = [(row, first.setdefault(values, row)) for row, values in enumerate(rows)]
    links += [(number[a], number[b]) for a, b in (duplicate_of or {}).items() if {a, b} <= set(number)]
    for a, b in links:
        low, high = sorted((root(a), root(b)))
        parent[high] = low
    numbering: dict[int, int] = {}
    return np.array([numbering.setdefault(root(row), len(numbering)) for row in range(len(rows))])


def grouped_folds(groups: np.ndarray, folds: int, seed: int) -> list[np.ndarray]:
    """Test rows of each fold: groups shuffled once with a pinned seed and cut into ``folds`` parts."""
    # RandomState: its stream is frozen, that of numpy's Generator may change between versions
    order = np.random.RandomState(seed).permutation(int(groups.max()) + 1)
    parts = np.array_split(order, folds)
    return [np.concatenate([np.flatnonzero(groups == group) for group in part]) for part in parts]


def read_duplicates(manifest: str | Path) -> dict[str, str]:
    """layout -> `duplicate_of` from a layouts' manifest (docs/contracts.md, "Layout file")."""
    frame = read_file(MANIFEST, Path(manifest), f"manifest {manifest}")
    pairs = zip(frame["layout"], frame["duplicate_of"], strict=True)
    return {name: other for name, other in pairs if other}


# Copies of models fitted to parts of one table, each made once.
#
# Leave-one-out intervals, K = n, leave-one-out of distinct layouts and 6 folds of 54 layouts need the same
# fits. A fit depends on nothing but the model, its parameters and the rows, so sharing them changes no
# number.

FitRows = Callable[[np.ndarray], RuntimeModel]  #: row numbers -> the copy fitted to them


class Fits:
    """Fits to subsets of ``samples``."""

    def __init__(self, samples: Samples):
        self.samples = samples
        self._made: dict[tuple[str, str], dict[bytes, RuntimeModel]] = {}

    def of(self, model: RuntimeModel) -> FitRows:
        """What fits copies of ``model`` (fitted or not; it stays as it is)."""
        made = self._made.setdefault((model.name, repr(sorted(model.get_params().items()))), {})

        def fit(rows: np.ndarray) -> RuntimeModel:
            key = np.asarray(rows, dtype=np.int64).tobytes()
            if key not in made:
                made[key] = clone(model).fit(self.samples.subset(rows))
            return made[key]

        return fit


def shared_fits(fits: Fits | None, samples: Samples) -> Fits:
    """``fits``, or new ones if there are none yet.

    Raises:
        ValueError: they were made from other samples (a mistake in the program).
    """
    if fits is not None and fits.samples is not samples:
        raise ValueError("these fits belong to other samples")
    return fits or Fits(samples)


# K-fold cross validation (MICRO'20 paper, section VI-C, second method, and Table 6).
#
# The distinct samples, in the order of their layout names, are shuffled once with a pinned seed and cut into
# K folds whose numbers of distinct samples differ by at most one. Each fold is predicted by a model fitted
# to the others only: scaling, selection and fit all happen inside `model.fit`, which never sees the test
# fold. The paper does not print its K; the main number here is for K = 6; 3, 9, 27 and 54 show the effect of
# K.
#
# Samples with equal (H, M, C) share a fold: otherwise a sample would be predicted by a fit to its copy. If
# all samples differ, these are plain folds. If K exceeds the number of distinct samples, each of them is a
# fold (leave one out). ``groups`` of one sample each (`apart`) give the plain folds of the rows.

FOLDS = (3, 6, 9, 27, 54)
SEED = 0


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
        fit: fits the copies (:meth:`Fits.of`), some of which may have been fitted before.
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
    groups = duplicate_groups(samples) if groups is None else groups
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
