"""Fit every model to one table of samples: the tables of docs/contracts.md ("Samples").

A model that the samples do not determine (say, no STLB misses in the 4KB run) does not stop the
others: its row in `errors` has empty numbers and a `message`, and it has no coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

import pandas as pd

from tessera.errors import EXIT_FAILED, TesseraError
from tessera.models.accuracy import Accuracy, accuracy, relative_errors
from tessera.models.base import CannotFit, RuntimeModel
from tessera.models.crossval import FOLDS, SEED, held_out_errors
from tessera.models.registry import create, select
from tessera.models.rsquared import by_input
from tessera.models.samples import Samples, Table, check_table
from tessera.models.terms import INPUTS

_ACCURACY = list(Accuracy.__dataclass_fields__)
COLUMNS = {
    "coefficients": ["model", "term", "coefficient"],
    "predictions": ["layout", "model", "predicted_runtime_cycles"],
    "errors": ["model", "protocol", *_ACCURACY, "message"],
    "cv": ["model", "folds", "seed", "max_error", "geomean_error",
           "samples", "zero_errors", "dropped_zero_errors", "message"],
    "rsquared": ["input", "r_squared"],
}  #: table -> columns; `message` is empty unless the numbers are


@dataclass(frozen=True)
class FitResult:
    """The five tables (columns: :data:`COLUMNS`) and what `fit.json` keeps beside them.

    ``models`` holds the fitted estimators; ``failures`` {model: message} those that could not be;
    ``ranges`` {input: (least, greatest)} the fitted samples' extent in raw units.
    """

    coefficients: pd.DataFrame
    predictions: pd.DataFrame
    errors: pd.DataFrame
    cv: pd.DataFrame
    rsquared: pd.DataFrame
    models: dict[str, RuntimeModel]
    failures: dict[str, str]
    ranges: dict[str, tuple[float, float]]
    samples: int
    folds: tuple[int, ...]
    seed: int
    notes: list[str] = field(default_factory=list)


def fit_all(
    samples: pd.DataFrame | Table,
    folds: Sequence[int] = FOLDS,
    seed: int = SEED,
    models: Iterable[str] = (),
) -> FitResult:
    """Fit, predict, judge and cross-validate.

    Args:
        samples: a data frame as in the contract, or a table already checked.
        folds: values of K for the cross validation.
        seed: of the shuffle into folds.
        models: names; all registered models if empty.

    Raises:
        TesseraError: the samples or the names are wrong, or no model at all could be fitted.
    """
    table = samples if isinstance(samples, Table) else check_table(samples)
    fitted, failures = _fit(select(models), table.fitted)
    if not fitted:
        raise TesseraError(
            "fit models", "; ".join(failures.values()), "correct the samples", exit_code=EXIT_FAILED
        )
    rows: dict[str, list[dict]] = {name: [] for name in COLUMNS}
    for name in select(models):
        judged = [("all", table.fitted), (TEST, table.test)]
        if name in failures:
            rows["errors"] += [
                {"model": name, "protocol": protocol, "samples": len(part), "message": failures[name]}
                for protocol, part in judged if part
            ]
            continue
        model = fitted[name]
        rows["coefficients"] += [
            {"model": name, "term": term, "coefficient": value}
            for term, value in model.coefficients_.items()
        ]
        for protocol, part in judged:
            if part:
                predicted = model.predict(part.H, part.M, part.C)
                rows["predictions"] += [
                    {"layout": layout, "model": name, "predicted_runtime_cycles": float(value)}
                    for layout, value in zip(part.layouts, predicted, strict=True)
                ]
                judgement = asdict(accuracy(relative_errors(part.R, predicted)))
                rows["errors"].append({"model": name, "protocol": protocol, **judgement})
    for name in select(models):
        if create(name).cross_validated:
            rows["cv"] += [_cross_validate(name, table.fitted, k, seed) for k in folds]
    rows["rsquared"] = [
        {"input": symbol, "r_squared": value} for symbol, value in by_input(table.fitted).items()
    ]
    return FitResult(
        **{name: _frame(name, rows[name]) for name in COLUMNS},
        models=fitted,
        failures=failures,
        ranges={symbol: _extent(table.fitted, symbol) for symbol in INPUTS},
        samples=len(table.fitted),
        folds=tuple(folds),
        seed=seed,
        notes=list(table.notes),
    )


TEST = "1gb"  #: the protocol of the test point


def _fit(names: list[str], samples: Samples) -> tuple[dict[str, RuntimeModel], dict[str, str]]:
    fitted, failures = {}, {}
    for name in names:
        try:
            fitted[name] = create(name).fit(samples)
        except CannotFit as error:
            failures[name] = error.found
    return fitted, failures


def _cross_validate(name: str, samples: Samples, folds: int, seed: int) -> dict:
    row = {"model": name, "folds": folds, "seed": seed, "samples": len(samples)}
    try:
        return row | asdict(accuracy(held_out_errors(create(name), samples, folds, seed)))
    except CannotFit as error:
        return row | {"message": error.found}


def _extent(samples: Samples, symbol: str) -> tuple[float, float]:
    values = getattr(samples, symbol)
    return float(values.min()), float(values.max())


def _frame(name: str, rows: list[dict]) -> pd.DataFrame:
    """Rows as a frame with the contract's columns; counts stay integers beside empty cells."""
    frame = pd.DataFrame(rows, columns=COLUMNS[name])
    for column in {"samples", "zero_errors", "dropped_zero_errors", "folds", "seed"} & set(frame):
        frame[column] = frame[column].astype("Int64")
    if "message" in frame:
        frame["message"] = frame["message"].fillna("").astype(str)
    return frame
