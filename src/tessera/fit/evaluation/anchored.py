"""Cross validation with the anchors always in training, and the leverage of each tested row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.table_io import frame_of
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.evaluation.cross_validation import FitRows, Fits, duplicate_groups, shared_fits
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.registry import create, select_models
from tessera.fit.models.samples import Samples, SamplesTable
from tessera.fit.models.terms import TERMS

# How far a tested row lies from the rows that a model was fitted to, in the features that the model uses.
#
# Features of a polynomial model are its fitted monomials; the constant is a column of the matrix, too.
#
# - *Leverage* of a row is its diagonal element of the hat matrix X (X'X)^-1 X' over the training and the
#   tested rows. It is 1 if this row alone determines a coefficient: a fit without it then says nothing about
#   it.
# - A tested row is an *extrapolation* if at least one feature lies outside the range of the training rows.
#   Otherwise it is an *interpolation*.

HIGH_LEVERAGE = 0.9  #: rows above this leverage are shown apart
_DEPENDENT = 1e-10  #: singular values below this share of the largest are zero


def leverage_features(model: RuntimeModel, samples: Samples) -> np.ndarray | None:
    """(n, p) fitted monomials without the constant, in raw units; None if the model is no polynomial."""
    coefficients = getattr(model, "coefficients_", None)
    if coefficients is None:
        return None
    inputs = {symbol: getattr(samples, symbol) for symbol in ("C", "M", "H")}
    columns = [TERMS[name].values(inputs) for name in coefficients if name != "1"]
    return np.column_stack(columns) if columns else np.empty((len(samples), 0))


def leverages(columns: np.ndarray) -> np.ndarray:
    """(n,) diagonal of the hat matrix of ``columns`` (n, p) and a constant."""
    spread = columns.std(axis=0)
    kept = columns[:, spread > 0]
    scaled = (kept - kept.mean(axis=0)) / spread[spread > 0]
    matrix = np.column_stack([np.ones(len(columns)), scaled])
    basis, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return (basis[:, sizes > _DEPENDENT * sizes[0]] ** 2).sum(axis=1)


def outside(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """(m,) whether any feature of a tested row (m, p) lies outside the range of the training rows (n, p)."""
    return ((test < train.min(axis=0)) | (test > train.max(axis=0))).any(axis=1)


# Cross validation with the anchors always in training: `anchored.csv`. It decides no claim of a paper.
#
# The paper's folds may hold out the all-4KB or the all-2MB run. Nobody leaves these out: they are the first
# runs of every study, and five models need them. Here both always train. The other distinct (H, M, C) rows,
# each once, are shuffled with each of 20 seeds and cut into 6 folds. Largest errors are given over all
# held-out rows, over those without high leverage, over interpolations and over extrapolations.
#
# Protocol `1gb` is the same for the layout of 1GB pages, with a fit to all distinct rows. It includes the
# models that the anchors define, which train on the anchors only.
#
# Seeds, folds and limits were fixed before any result of this protocol was seen.

FOLDS = 6
SEEDS = tuple(range(1, 21))
ANCHORED = "anchored"
#: which tested rows count -> from (leverage, is an extrapolation), each (m,)
PARTS = {
    "all": lambda leverage, far: np.ones(len(far), dtype=bool),
    "low-leverage": lambda leverage, far: leverage <= HIGH_LEVERAGE,
    "interpolation": lambda leverage, far: ~far,
    "extrapolation": lambda leverage, far: far,
}


@dataclass(frozen=True)
class Tested:
    """Errors of tested rows (m,), their leverage, and which are extrapolations; ``known`` if these are."""

    errors: np.ndarray
    leverage: np.ndarray
    far: np.ndarray
    known: bool


def anchored(
    table: SamplesTable,
    models: Iterable[str] = (),
    *,
    folds: int = FOLDS,
    seeds: Iterable[int] = SEEDS,
    duplicate_of: Mapping[str, str] | None = None,
    fits: Fits | None = None,
) -> pd.DataFrame:
    """A row per model, protocol and part of the tested rows. Errors are fractions.

    Args:
        folds, seeds: of the cross validation.
        duplicate_of: duplicates that a manifest names, beside equal rows.
        fits: of ``table.fitted``, made by others that ask for the same ones.
    """
    samples = table.fitted
    fits = shared_fits(fits, samples)
    anchors, others = distinct_rows(samples, duplicate_of)
    rows = []
    for name in select_models(models):
        model = create(name)
        fit = fits.of(model)
        front = {"model": name, "effective_n": samples.effective_n}
        rounds: list[Tested | None] = []
        reason = ""
        if model.cross_validated:
            for seed in seeds:
                try:
                    rounds.append(_folds(fit, samples, anchors, others, folds, seed))
                except CannotFit as error:
                    rounds.append(None)
                    reason = reason or error.found
            rows += [front | {"protocol": ANCHORED} | row for row in _summary(rounds, reason)]
        if table.test is not None:
            train = np.sort([*anchors, *others]) if model.cross_validated else np.sort(anchors)
            try:
                rounds, reason = [_judge(fit(train), samples.subset(train), table.test)], ""
            except CannotFit as error:
                rounds, reason = [None], error.found
            rows += [front | {"protocol": ALL_1GB} | row for row in _summary(rounds, reason)]
    return frame_of(MODELS_OF_PAIR["anchored"], rows)


def distinct_rows(
    samples: Samples, duplicate_of: Mapping[str, str] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers of the two anchors, and of one row of each other group of duplicates (the first)."""
    anchors = np.array([samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)])
    groups = duplicate_groups(samples, duplicate_of)
    _, first = np.unique(groups, return_index=True)
    return anchors, np.sort(first[~np.isin(groups[first], groups[anchors])])


def _folds(
    fit: FitRows, samples: Samples, anchors: np.ndarray, others: np.ndarray, folds: int, seed: int
) -> Tested:
    """One round: every row of ``others`` is held out once."""
    if len(others) < folds:
        raise CannotFit("", f"{folds} folds are not possible with {len(others)} distinct rows", "add layouts")
    shuffled = np.random.RandomState(seed).permutation(others)  # its stream is frozen
    found = []
    for part in np.array_split(shuffled, folds):
        test, train = np.sort(part), np.sort([*anchors, *np.setdiff1d(others, part)])
        found.append(_judge(fit(train), samples.subset(train), samples.subset(test)))
    return Tested(
        np.concatenate([one.errors for one in found]),
        np.concatenate([one.leverage for one in found]),
        np.concatenate([one.far for one in found]),
        known=all(one.known for one in found),
    )


def _judge(model: RuntimeModel, train: Samples, test: Samples) -> Tested:
    errors = relative_errors(test.R, model.predict(test.H, test.M, test.C))
    inside, asked = leverage_features(model, train), leverage_features(model, test)
    if inside is None or asked is None:
        return Tested(errors, np.full(len(test), np.nan), np.zeros(len(test), dtype=bool), known=False)
    leverage = leverages(np.vstack([inside, asked]))[len(train) :]
    return Tested(errors, leverage, outside(inside, asked), known=True)


def _summary(rounds: list[Tested | None], reason: str) -> list[dict]:
    """A row per part: median and range over the rounds of the largest error."""
    done = [one for one in rounds if one is not None]
    rows = []
    for part, chosen in PARTS.items():
        row = {"part": part, "seeds": len(rounds), "failed_seeds": len(rounds) - len(done), "message": reason}
        rows.append(row)
        if 2 * len(done) < len(rounds) or not done:
            continue
        if part != "all" and not all(one.known for one in done):
            row["message"] = reason or "not a polynomial: no features, so no leverage and no range"
            continue
        errors = [one.errors[chosen(one.leverage, one.far)] for one in done]
        errors = [values for values in errors if len(values)]
        row["tested_rows"] = sum(map(len, errors))
        if not errors:
            row["message"] = reason or "no tested row is of this kind"
            continue
        judged = [accuracy(values) for values in errors]
        largest = [one.max_error for one in judged]
        row |= {
            "max_error": float(np.median(largest)), "max_error_low": min(largest),
            "max_error_high": max(largest),
            "geomean_error": float(np.median([one.geomean_error for one in judged])),
        }  # fmt: skip
    return rows
