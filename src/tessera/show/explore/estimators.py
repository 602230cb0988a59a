"""A model of your own beside the nine: registered for this session, judged by the same cross validation."""

from __future__ import annotations

import pandas as pd

from tessera.fit.models.accuracy import accuracy, relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.crossval import held_out_errors
from tessera.fit.models.registry import EVERY, MODELS, create
from tessera.show.explore.look import shares
from tessera.show.explore.source import Pair

CROSS_VALIDATED, ANCHORED = "cross validation", "no training: two runs define it"


def register(model: type[RuntimeModel]) -> type[RuntimeModel]:
    """Make a class known by its name, for this Python process; usable as a decorator.

    A cell may be run again: a class of the notebook replaces its former self, never a model of the package.

    Raises:
        ValueError: the name belongs to a model of the package.
    """
    known = EVERY.get(model.name)
    if known is not None and known.__module__.startswith("tessera."):
        raise ValueError(f"model name '{model.name}' is taken by {known.__module__}; choose another")
    EVERY[model.name] = model
    return model


def judge_models(pair: Pair, names=(), folds: int = 6, seed: int = 0) -> pd.DataFrame:
    """Errors on layouts that a model has not been fitted to, best first.

    Trained models: ``folds``-fold cross validation, duplicates in one fold; `effective n` is the number of
    distinct (H, M, C) rows. Models that the 4KB and 2MB runs define train on
    nothing else, so their errors on all layouts are already those (but for the anchors themselves).
    """
    samples, rows = pair.table.fitted, []
    for name in dict.fromkeys([*MODELS, *names]):
        model = create(name)
        try:
            fitted = create(name).fit(samples)
            if model.cross_validated:
                errors, how = held_out_errors(model, samples, folds, seed), CROSS_VALIDATED
            else:
                predicted = fitted.predict(samples.H, samples.M, samples.C)
                errors, how = relative_errors(samples.R, predicted), ANCHORED
        except CannotFit as error:
            rows.append((name, float("nan"), float("nan"), "", samples.effective_n, error.found))
            continue
        found = accuracy(errors)
        rows.append((name, found.max_error, found.geomean_error, fitted.size(), samples.effective_n, how))
    columns = ["model", "largest error", "geometric mean", "coefficients", "effective n", "errors from"]
    table = pd.DataFrame(rows, columns=columns).set_index("model").sort_values("largest error")
    numbers = shares(table[columns[1:3]])
    return pd.concat([numbers, table[columns[3:]]], axis=1).rename_axis(None)
