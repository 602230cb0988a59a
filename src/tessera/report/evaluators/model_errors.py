"""Errors of models on the samples that they were fitted to (``models/errors.csv``), and their sign and place.

Errors are in percent; signs come from ``models/predictions.csv`` against the cells.
"""

from __future__ import annotations

from math import inf, log10, nan

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.loader import Pair
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import Selection, aggregate, deciding_pairs, describe_distributions

# Errors on the fitted samples (``models/errors.csv``).
#
# "Largest error of a model" is equation (1) of MICRO'20, then the maximum over the pairs in scope.

ALL_SAMPLES = "all"


def error_percent(
    evidence: Evidence, pair: Pair, model: str, protocol: str, column: str = "max_error"
) -> float:
    """One error of one model for one pair."""
    row = evidence.record("errors", pair, model=model, protocol=protocol)
    if row[column] != row[column]:
        raise Missing(f"{pair}: {model} has no error: {row.get('message') or 'the cell is empty'}")
    return 100 * float(row[column])


def _pair_errors(evidence: Evidence, selection: Selection, models: list) -> dict[str, list[float]]:
    """Model -> its largest error for each pair."""
    return {
        model: [error_percent(evidence, pair, model, ALL_SAMPLES) for pair in selection.pairs]
        for model in models
    }


def _worst_error(evidence: Evidence, selection: Selection, models: list) -> dict[str, float]:
    errors = _pair_errors(evidence, selection, models)
    return {model: aggregate(values, "max") for model, values in errors.items()}


@evaluator
def max_error(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the model's largest error, percent."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: error_percent(evidence, pair, model, ALL_SAMPLES), how
    )


@evaluator
def geomean_error(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the model's geometric mean error, percent."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: error_percent(evidence, pair, model, ALL_SAMPLES, "geomean_error"), how
    )


@evaluator
def max_errors(claim, evidence, models: list, how: str) -> Outcome:
    """The same for several models, by name."""
    selection = deciding_pairs(claim, evidence)
    errors = _pair_errors(evidence, selection, models)
    worst = {model: aggregate(values, how) for model, values in errors.items()}
    return selection.outcome(worst, describe_distributions(errors, how))


@evaluator
def max_error_rank(claim, evidence, model: str, models: list) -> Outcome:
    """Rank of ``model`` by worst error, 1 = smallest."""
    selection = deciding_pairs(claim, evidence)
    worst = _worst_error(evidence, selection, models)
    return selection.outcome(1 + sum(other < worst[model] for other in worst.values()))


@evaluator
def worse_workloads(claim, evidence, model: str, base: str) -> Outcome:
    """Number of workloads for which ``model`` has a larger maximal error than ``base`` on some platform."""
    selection = deciding_pairs(claim, evidence)
    worse = {
        pair.workload
        for pair in selection.pairs
        if error_percent(evidence, pair, model, ALL_SAMPLES)
        > error_percent(evidence, pair, base, ALL_SAMPLES)
    }
    return selection.outcome(len(worse))


@evaluator
def orders_better(claim, evidence, model: str, others: list) -> Outcome:
    """Orders of magnitude between the worst error of the best of ``others`` and that of ``model``."""
    selection = deciding_pairs(claim, evidence)
    worst = _worst_error(evidence, selection, [model, *others])
    best = min(worst[other] for other in others)
    if best == 0:
        raise Missing("the error of an existing model is 0, so there is no ratio")
    return selection.outcome(log10(best / worst[model]) if worst[model] else inf)


@evaluator
def platform_error_ratio(claim, evidence, models: list, platform: str) -> Outcome:
    """Worst error of any of ``models`` on one generation over the worst on the others."""
    selection = deciding_pairs(claim, evidence)
    errors: dict[bool, list[float]] = {True: [], False: []}
    for pair in selection.pairs:
        for model in models:
            error = error_percent(evidence, pair, model, ALL_SAMPLES)
            errors[pair.generation == platform].append(error)
    elsewhere = aggregate(errors[False], "max")
    if elsewhere == 0:
        raise Missing("no error on the other platforms, so there is no ratio")
    return selection.outcome(aggregate(errors[True], "max") / elsewhere)


# Sign and place of prediction errors (``models/predictions.csv`` against the cells).
#
# Optimism is (R - predicted) / R: positive where a model promises a shorter runtime than is true.

#: columns of the cells that say where a prediction lies; few, since each pair has a table of each model
COUNTS = ["runtime_cycles", "stlb_misses", "walk_cycles"]


def predictions(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
    """:data:`COUNTS`, ``predicted`` and ``optimism`` (a fraction) of ``model``; not to be changed."""
    return evidence.once(("predicted", pair, model), lambda: _predictions(evidence, pair, model))


def _predictions(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
    rows = evidence.records("predictions", pair, model=model)
    by_layout = {row["layout"]: row["predicted_runtime_cycles"] for row in rows}
    if len(by_layout) < len(rows):
        raise ValueError(f"{pair}: models/predictions.csv has a layout of {model} twice")
    table = evidence.once(("counts", pair), lambda: evidence.samples(pair)[COUNTS]).copy()
    table["predicted"] = [by_layout.get(layout, nan) for layout in table.index]
    table = table[table["predicted"].notna() & table["runtime_cycles"].notna()]
    if table.empty:
        raise Missing(f"{pair}: {model} predicts none of the layouts that ran")
    return table.assign(optimism=1 - table["predicted"] / table["runtime_cycles"])


def fitted_predictions(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
    """The same without the 1GB test point."""
    return evidence.once(
        ("fitted", pair, model),
        lambda: without_layout(predictions(evidence, pair, model), ALL_1GB),
    )


def without_layout(table: pd.DataFrame, layout: str) -> pd.DataFrame:
    """The rows of the other layouts."""
    return table[table.index != layout]


def _prediction_at(evidence: Evidence, pair: Pair, model: str, layout: str) -> pd.Series:
    table = predictions(evidence, pair, model)
    if layout not in table.index:
        raise Missing(f"{pair}: layout {layout} has no runtime or no prediction by {model}")
    return table.loc[layout]


@evaluator
def optimism_at_fewest_misses(claim, evidence, model: str, how: str) -> Outcome:
    """Optimism at the fitted layout with the fewest misses, percent."""

    def of(pair: Pair) -> float:
        table = fitted_predictions(evidence, pair, model)
        return 100 * float(table.loc[table["stlb_misses"].idxmin(), "optimism"])

    return deciding_pairs(claim, evidence).each(of, how)


@evaluator
def misses_at_worst_error(claim, evidence, model: str, how: str) -> Outcome:
    """Where in the range of misses (0 fewest, 1 most) the model errs most."""

    def of(pair: Pair) -> float:
        table = fitted_predictions(evidence, pair, model)
        misses = table["stlb_misses"]
        if misses.max() == misses.min():
            raise Missing(f"{pair}: all layouts have the same number of misses")
        worst = misses[table["optimism"].abs().idxmax()]
        return float((worst - misses.min()) / (misses.max() - misses.min()))

    return deciding_pairs(claim, evidence).each(of, how)


@evaluator
def optimistic_pairs(claim, evidence, model: str) -> Outcome:
    """Share of pairs where the median prediction is too low, percent; the 4KB anchor left out."""
    selection = deciding_pairs(claim, evidence)
    optimistic = [
        without_layout(fitted_predictions(evidence, pair, model), ALL_4KB)["optimism"].median()
        for pair in selection.pairs
    ]
    return selection.outcome(100 * sum(value > 0 for value in optimistic) / len(optimistic))


@evaluator
def negative_share(claim, evidence, model: str, above_percent) -> Outcome:
    """Of the predictions that err by more than ``above_percent``, how many are negative, percent."""
    selection, above = deciding_pairs(claim, evidence), evidence.number(above_percent) / 100
    tables = [fitted_predictions(evidence, pair, model) for pair in selection.pairs]
    wrong = pd.concat([table[table["optimism"].abs() > above] for table in tables])
    if wrong.empty:
        raise Missing(f"{model} has no error above {100 * above:g}%")
    return selection.outcome(100 * float((wrong["predicted"] < 0).mean()))


@evaluator
def largest_error_between(claim, evidence, models: list) -> Outcome:
    """Largest error, percent, at layouts whose walk cycles lie between those of all-2MB and all-4KB."""

    def of(pair: Pair) -> float:
        low, high = (evidence.cell(pair, name, "walk_cycles") for name in (ALL_2MB, ALL_4KB))
        tables = [fitted_predictions(evidence, pair, model) for model in models]
        between = [table.loc[table["walk_cycles"].between(low, high), "optimism"] for table in tables]
        if any(errors.empty for errors in between):
            raise Missing(f"{pair}: no layout has walk cycles between those of the 2MB and the 4KB run")
        return max(100 * float(errors.abs().max()) for errors in between)

    return deciding_pairs(claim, evidence).each(of, "max")


@evaluator
def runtime_over_prediction(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """Runtime of one layout over its prediction."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: _runtime_over_prediction(evidence, pair, model, layout), how
    )


def _runtime_over_prediction(evidence: Evidence, pair: Pair, model: str, layout: str) -> float:
    row = _prediction_at(evidence, pair, model, layout)
    if row["predicted"] <= 0:
        raise Missing(f"{pair}: {model} predicts a runtime of 0 or less")
    return float(row["runtime_cycles"] / row["predicted"])


@evaluator
def prediction_shortfall(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """By how much the runtime of one layout exceeds its prediction, percent of the prediction."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: 100 * (_runtime_over_prediction(evidence, pair, model, layout) - 1), how
    )


@evaluator
def prediction_excess(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """By how much the prediction of one layout is too high, percent of the runtime."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: -100 * float(_prediction_at(evidence, pair, model, layout)["optimism"]), how
    )


@evaluator
def predictions_differ(claim, evidence, first: str, second: str, layout: str, how: str) -> Outcome:
    """Distance of two models' predictions of one layout, percent of its runtime."""

    def of(pair: Pair) -> float:
        one, other = (_prediction_at(evidence, pair, model, layout) for model in (first, second))
        return 100 * abs(float(one["predicted"] - other["predicted"])) / float(one["runtime_cycles"])

    return deciding_pairs(claim, evidence).each(of, how)
