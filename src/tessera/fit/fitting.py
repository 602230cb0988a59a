"""Fit every model to one table of samples: the tables of docs/contracts.md ("Samples").

A model that the samples do not determine (say, no STLB misses in the 4KB run) does not stop the
others: its row in `errors` has empty numbers and a `message`, and it has no coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.cell_tables import K_FOLD, LEAVE_ONE_OUT, MODELS_OF_PAIR, SEEDS
from tessera.core.results.table_io import frame_of
from tessera.fit.evaluation.accuracy import accuracy, by_input, relative_errors
from tessera.fit.evaluation.cross_validation import (
    FOLDS,
    SEED,
    FitRows,
    Fits,
    apart,
    duplicate_groups,
    held_out_errors,
    shared_fits,
)
from tessera.fit.evaluation.intervals import unseen_errors
from tessera.fit.fit_folder import TABLES, FitResult
from tessera.fit.models.base import CannotFit, RuntimeModel, check_one_in_ten
from tessera.fit.models.registry import create, select_models
from tessera.fit.models.samples import Samples, SamplesTable, check_samples
from tessera.fit.models.terms import INPUTS

SPREAD_FOLDS = 6  #: of the cross validation under several seeds
TOGETHER, APART = "together", "apart"  #: what cross validation does with samples of equal (H, M, C)


def fit_all(
    samples: pd.DataFrame | SamplesTable,
    folds: Sequence[int] = FOLDS,
    seed: int = SEED,
    models: Iterable[str] = (),
    *,
    parameters: Mapping[str, Mapping[str, float]] | None = None,
    intervals: bool = False,
    one_in_ten: str = "flag",
    fits: Fits | None = None,
    duplicates: str = TOGETHER,
    leave_one_out: bool = False,
    seeds: Sequence[int] = (),
    beside: Iterable[str] = (),
) -> FitResult:
    """Fit, predict, judge and cross-validate.

    Args:
        samples: a data frame as in the contract, or a table already checked.
        folds: values of K for the cross validation.
        seed: of the shuffle into folds.
        models: names; the nine of the paper if empty, all registered ones if ``every``.
        parameters: {model: {parameter: value}} where not the defaults.
        intervals: also prepare prediction intervals (a refit per layout).
        one_in_ten: ``flag`` keeps models with fewer than ten samples per coefficient and marks them in
            their details; ``refuse`` counts them as not fitted.
        fits: of ``samples.fitted``, to share with `run_protocols`.
        duplicates: samples of equal (H, M, C) are in one fold (``together``), or each row is a sample of its
            own (``apart``). Fits take every row in both cases.
        leave_one_out: also leave out each distinct sample in turn.
        seeds: also cross-validate with :data:`SPREAD_FOLDS` folds under each of these seeds.
        beside: models that are fitted and judged, too, but cross-validated by leaving one out only, without
            intervals: those of `registry.READINGS`, whose fits are slow.

    Raises:
        TesseraError: the samples or the names are wrong, or no model at all could be fitted.
    """
    table = samples if isinstance(samples, SamplesTable) else check_samples(samples)
    names = select_models(models)
    slow = [name for name in select_models(beside) if name not in names] if beside else []
    chosen = {name: create(name, **(parameters or {}).get(name, {})) for name in [*names, *slow]}
    fitted, failures = _fit(chosen, table.fitted, one_in_ten)
    if not fitted:
        raise TesseraError(
            "fit models", "; ".join(failures.values()), "correct the samples", exit_code=EXIT_FAILED
        )
    rows: dict[str, list[dict]] = {name: [] for name in TABLES}
    for name in chosen:
        judged = [("all", table.fitted), (ALL_1GB, table.test)]
        if name in failures:
            rows["errors"] += [
                {"model": name, "protocol": protocol, "samples": len(part), "message": failures[name]}
                for protocol, part in judged
                if part
            ]
            continue
        model = fitted[name]
        rows["coefficients"] += [
            {"model": name, "term": term, "coefficient": value}
            for term, value in getattr(model, "coefficients_", {}).items()
        ]
        for protocol, part in judged:
            if part:
                predicted = model.predict(part.H, part.M, part.C)
                rows["predictions"] += [
                    {"layout": layout, "model": name, "predicted_runtime_cycles": float(value)}
                    for layout, value in zip(part.layouts, predicted, strict=True)
                ]
                judgement = asdict(accuracy(relative_errors(part.R, predicted)))
                row = {"model": name, "protocol": protocol, "effective_n": table.fitted.effective_n}
                rows["errors"].append(row | judgement)
    fits, groups = shared_fits(fits, table.fitted), _groups(table.fitted, duplicates)
    for name, model in chosen.items():
        if model.cross_validated:
            asked: list[tuple[str, int, int | None]]
            asked = [] if name in slow else [(K_FOLD, k, seed) for k in folds]
            asked += [(LEAVE_ONE_OUT, int(groups.max()) + 1, None)] if leave_one_out else []
            asked += [] if name in slow else [(SEEDS, SPREAD_FOLDS, one) for one in seeds]
            rows["cv"] += [
                _cross_validate(model, table.fitted, *one, fits.of(model), groups) for one in asked
            ]
    # a model that refits in a way of its own does not share the fits of cross validation
    refits = {
        name: None if type(m).refit is not RuntimeModel.refit else fits.of(m) for name, m in fitted.items()
    }
    rows["rsquared"] = [
        {"input": symbol, "r_squared": value, "effective_n": table.fitted.effective_n}
        for symbol, value in by_input(table.fitted).items()
    ]
    return FitResult(
        **{name: frame_of(MODELS_OF_PAIR[name], rows[name]) for name in TABLES},
        models=fitted,
        failures=failures,
        ranges={symbol: _extent(table.fitted, symbol) for symbol in INPUTS},
        table=table,
        folds=tuple(folds),
        seed=seed,
        notes=list(table.notes),
        calibrations={
            n: unseen_errors(m, table.fitted, refits[n]) for n, m in fitted.items() if n not in slow
        }
        if intervals
        else {},
    )


def _fit(
    models: dict[str, RuntimeModel], samples: Samples, one_in_ten: str
) -> tuple[dict[str, RuntimeModel], dict[str, str]]:
    fitted, failures = {}, {}
    for name, model in models.items():
        try:
            fitted[name] = model.fit(samples)
            check_one_in_ten(model, len(samples), one_in_ten)
        except CannotFit as error:
            fitted.pop(name, None)
            failures[name] = error.found
    return fitted, failures


def _groups(samples: Samples, duplicates: str) -> np.ndarray:
    if duplicates not in (TOGETHER, APART):
        raise TesseraError(f"duplicates '{duplicates}'", "no such choice", f"use {TOGETHER} or {APART}")
    return duplicate_groups(samples) if duplicates == TOGETHER else apart(samples)


def _cross_validate(
    model: RuntimeModel,
    samples: Samples,
    protocol: str,
    folds: int,
    seed: int | None,
    fit: FitRows,
    groups: np.ndarray,
) -> dict:
    row = {"model": model.name, "protocol": protocol, "folds": folds, "samples": len(samples)}
    row |= {} if seed is None else {"seed": seed}
    row["effective_n"] = samples.effective_n
    distinct = int(groups.max()) + 1
    if distinct < folds <= len(samples):
        row["message"] = f"{distinct} folds: each distinct sample is one"
    try:
        errors = held_out_errors(model, samples, folds, SEED if seed is None else seed, fit, groups)
        return row | asdict(accuracy(errors))
    except CannotFit as error:
        return row | {"message": error.found}


def _extent(samples: Samples, symbol: str) -> tuple[float, float]:
    values = getattr(samples, symbol)
    return float(values.min()), float(values.max())
