"""Errors of models on the samples that they were fitted to (``models/errors.csv``), in percent.

"Largest error of a model" is equation (1) of MICRO'20, then the maximum over the pairs in scope.
"""

from __future__ import annotations

from math import inf, log10

from tessera.judge.claims import distribution
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import Selection, aggregate, select
from tessera.results.pair import Pair

ALL_SAMPLES = "all"


def error_percent(
    evidence: Evidence, pair: Pair, model: str, protocol: str, column: str = "max_error"
) -> float:
    """One error of one model for one pair."""
    row = evidence.record("errors", pair, model=model, protocol=protocol)
    if row[column] != row[column]:
        raise Missing(f"{pair}: {model} has no error: {row.get('message') or 'the cell is empty'}")
    return 100 * float(row[column])


def _errors(evidence: Evidence, selection: Selection, models: list) -> dict[str, list[float]]:
    """Model -> its largest error for each pair."""
    return {
        model: [error_percent(evidence, pair, model, ALL_SAMPLES) for pair in selection.pairs]
        for model in models
    }


def _worst(evidence: Evidence, selection: Selection, models: list) -> dict[str, float]:
    errors = _errors(evidence, selection, models)
    return {model: aggregate(values, "max") for model, values in errors.items()}


def max_error(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the model's largest error, percent."""
    return select(claim, evidence).each(lambda pair: error_percent(evidence, pair, model, ALL_SAMPLES), how)


def geomean_error(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the model's geometric mean error, percent."""
    return select(claim, evidence).each(
        lambda pair: error_percent(evidence, pair, model, ALL_SAMPLES, "geomean_error"), how
    )


def max_errors(claim, evidence, models: list, how: str) -> Outcome:
    """The same for several models, by name."""
    selection = select(claim, evidence)
    errors = _errors(evidence, selection, models)
    worst = {model: aggregate(values, how) for model, values in errors.items()}
    return selection.outcome(worst, distribution.describe_each(errors, how))


def largest_error(claim, evidence, models: list) -> Outcome:
    """The worst error of the worst of ``models``, percent."""
    return select(claim, evidence).each(
        lambda pair: max(error_percent(evidence, pair, model, ALL_SAMPLES) for model in models), "max"
    )


def max_error_rank(claim, evidence, model: str, models: list) -> Outcome:
    """Rank of ``model`` by worst error, 1 = smallest."""
    selection = select(claim, evidence)
    worst = _worst(evidence, selection, models)
    return selection.outcome(1 + sum(other < worst[model] for other in worst.values()))


def worse_workloads(claim, evidence, model: str, base: str) -> Outcome:
    """Number of workloads for which ``model`` has a larger maximal error than ``base`` on some platform."""
    selection = select(claim, evidence)
    worse = {
        pair.workload
        for pair in selection.pairs
        if error_percent(evidence, pair, model, ALL_SAMPLES)
        > error_percent(evidence, pair, base, ALL_SAMPLES)
    }
    return selection.outcome(len(worse))


def orders_better(claim, evidence, model: str, others: list) -> Outcome:
    """Orders of magnitude between the worst error of the best of ``others`` and that of ``model``."""
    selection = select(claim, evidence)
    worst = _worst(evidence, selection, [model, *others])
    best = min(worst[other] for other in others)
    if best == 0:
        raise Missing("the error of an existing model is 0, so there is no ratio")
    return selection.outcome(log10(best / worst[model]) if worst[model] else inf)


def platform_error_ratio(claim, evidence, models: list, platform: str) -> Outcome:
    """Worst error of any of ``models`` on one generation over the worst on the others."""
    selection = select(claim, evidence)
    errors: dict[bool, list[float]] = {True: [], False: []}
    for pair in selection.pairs:
        for model in models:
            error = error_percent(evidence, pair, model, ALL_SAMPLES)
            errors[pair.generation == platform].append(error)
    elsewhere = aggregate(errors[False], "max")
    if elsewhere == 0:
        raise Missing("no error on the other platforms, so there is no ratio")
    return selection.outcome(aggregate(errors[True], "max") / elsewhere)


EVALUATORS = {
    "max_error": max_error,
    "max_errors": max_errors,
    "geomean_error": geomean_error,
    "largest_error": largest_error,
    "max_error_rank": max_error_rank,
    "worse_workloads": worse_workloads,
    "orders_better": orders_better,
    "platform_error_ratio": platform_error_ratio,
}
