"""Errors of models on samples that they were not fitted to, in percent.

Cross validation (``models/cv.csv``), the protocols (``models/protocols.csv``), the learning curve
(``models/learning_curve.csv``), and the 1GB run (MICRO'20 section VII-D).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.cell_tables import K_FOLD, LEAVE_ONE_OUT, SEEDS
from tessera.core.results.loader import Pair
from tessera.report.claims.claim import Missing, Outcome
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import evaluator
from tessera.report.claims.selection import Selection, aggregate, deciding_pairs
from tessera.report.evaluators.invariants import outcome_over
from tessera.report.evaluators.model_errors import ALL_SAMPLES, error_percent

# Cross-validation errors (``models/cv.csv``), in percent; the largest over the pairs in scope.
#
# ``folds`` is a number K (the run's seed shuffles) or ``leave-one-out``: each distinct (H, M, C) is left out
# in turn, its duplicates with it, so no seed plays a part. The outcome's ``protocol``
# says which, and of which models.


def _cv_rows(evidence: Evidence, pair: Pair, model: str, folds: int | str) -> list[dict]:
    if folds == LEAVE_ONE_OUT:
        return evidence.records("cv", pair, model=model, protocol=LEAVE_ONE_OUT)
    return evidence.records("cv", pair, model=model, protocol=K_FOLD, folds=folds)


def _row_percent(pair: Pair, model: str, row: Mapping) -> float:
    if row["max_error"] != row["max_error"]:
        raise Missing(f"{pair}: {model} has no error of cross validation: {row['message'] or 'empty cell'}")
    return 100 * float(row["max_error"])


def _cv_percent(evidence: Evidence, pair: Pair, model: str, folds: int | str) -> float:
    return max(_row_percent(pair, model, row) for row in _cv_rows(evidence, pair, model, folds))


def _cv_protocol(evidence: Evidence, selection: Selection, models: list, folds: int | str) -> str:
    """How these numbers were obtained: ``6 folds, seed 1, mosmodel``."""
    who = ", ".join(models)
    if folds == LEAVE_ONE_OUT:
        return f"{LEAVE_ONE_OUT}, duplicates together, no seed, {who}"
    seeds = {row["seed"] for pair in selection.pairs for row in _cv_rows(evidence, pair, models[0], folds)}
    return f"{folds} folds, seed {', '.join(f'{seed:g}' for seed in sorted(seeds))}, {who}"


def _cv_worst(evidence: Evidence, selection: Selection, model: str, folds: int | str) -> float:
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    return aggregate(errors, "max")


def _cv_each(evidence: Evidence, selection: Selection, model: str, folds: int | str) -> Outcome:
    found = selection.each(lambda pair: _cv_percent(evidence, pair, model, folds), "max")
    return replace(found, protocol=_cv_protocol(evidence, selection, [model], folds))


@evaluator
def cv_max_error(claim, evidence, model: str, folds: int | str, samples_from=None) -> Outcome:
    """Worst error over pairs and folds; with ``samples_from``, only of runs with so many samples."""
    selection = deciding_pairs(claim, evidence)
    if samples_from is not None:
        wanted = int(evidence.number(samples_from))
        for pair in selection.pairs:
            row = evidence.record("errors", pair, model=model, protocol=ALL_SAMPLES)
            if row["samples"] < wanted:
                raise Missing(
                    f"{pair} has {int(row['samples'])} samples, the claim is about {wanted}",
                    "./run reproduce with random_count: 55 in the configuration",
                )
    return _cv_each(evidence, selection, model, folds)


@evaluator
def cv_share_above(claim, evidence, model: str, folds: int | str, above_percent) -> Outcome:
    """Share of pairs whose worst error over the folds is above a bound, percent."""
    selection, above = deciding_pairs(claim, evidence), evidence.number(above_percent)
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    found = selection.outcome(100 * sum(error > above for error in errors) / len(errors))
    return replace(found, protocol=_cv_protocol(evidence, selection, [model], folds))


@evaluator
def cv_rank(claim, evidence, model: str, models: list, folds: int | str) -> Outcome:
    """Rank of ``model`` by that error, 1 = smallest."""
    selection = deciding_pairs(claim, evidence)
    worst = {name: _cv_worst(evidence, selection, name, folds) for name in models}
    found = selection.outcome(1 + sum(other < worst[model] for other in worst.values()))
    return replace(found, protocol=_cv_protocol(evidence, selection, models, folds))


@evaluator
def cv_best_k(claim, evidence, model: str, folds: list) -> Outcome:
    """The smallest worst error over the values of K: what the paper may have printed without its K."""
    selection = deciding_pairs(claim, evidence)
    return min((_cv_each(evidence, selection, model, k) for k in folds), key=lambda found: found.value)


@evaluator
def cv_best_rank(claim, evidence, model: str, models: list, folds: list) -> Outcome:
    """The best rank of ``model`` by that error over the values of K, 1 = smallest error."""
    return min((cv_rank(claim, evidence, model, models, k) for k in folds), key=lambda found: found.value)


@evaluator
def cv_over_all(claim, evidence, models: list, folds: int | str) -> Outcome:
    """Smallest ratio, over ``models``, of that error to the worst error on fitted samples."""
    selection = deciding_pairs(claim, evidence)
    ratios = []
    for model in models:
        fitted = aggregate(
            [error_percent(evidence, pair, model, ALL_SAMPLES) for pair in selection.pairs], "max"
        )
        if fitted == 0:
            raise Missing(f"{model} fits every sample exactly, so there is no ratio")
        ratios.append(_cv_worst(evidence, selection, model, folds) / fitted)
    return replace(selection.outcome(min(ratios)), protocol=_cv_protocol(evidence, selection, models, folds))


@evaluator
def cv_over_seeds(claim, evidence, model: str) -> Outcome:
    """The worst error over the pairs under each seed of the folds: median, least and most, percent."""
    selection = deciding_pairs(claim, evidence)
    by_seed: dict[float, list[float]] = {}
    for pair in selection.pairs:
        for row in evidence.records("cv", pair, model=model, protocol=SEEDS):
            by_seed.setdefault(row["seed"], []).append(_row_percent(pair, model, row))
    if any(len(errors) < len(selection.pairs) for errors in by_seed.values()):
        raise Missing(f"models/cv.csv does not have the same seeds of {model} for all pairs")
    worst = [max(errors) for errors in by_seed.values()]
    return selection.outcome({"median": float(np.median(worst)), "least": min(worst), "most": max(worst)})


# Models under the protocols of ``models/protocols.csv`` and along ``models/learning_curve.csv``.

ANCHOR_SETTING = 2  #: the 4KB and the 2MB run


def _protocol_row(evidence: Evidence, pair: Pair, model: str, protocol: str, setting: str):
    rows = evidence.of_pair("protocols", pair, model=model, protocol=protocol)
    rows = rows[rows["setting"] == setting]
    if rows.empty:
        raise Missing(f"{pair}: models/protocols.csv has no {model} under {protocol} {setting}".rstrip())
    return rows.iloc[0]


@evaluator
def setting_worse_pairs(claim, evidence, model: str, protocol: str, setting: str, base: str) -> Outcome:
    """Share of pairs for which ``setting`` gives the larger maximal error of the two, percent.

    A training set that does not determine the model counts as an error without bound.
    """
    selection = deciding_pairs(claim, evidence)
    worse = 0
    for pair in selection.pairs:
        rows = [_protocol_row(evidence, pair, model, protocol, name) for name in (setting, base)]
        untested = [row for row in rows if not row["train_samples"] > 0]
        if untested:
            raise Missing(f"{pair}: {protocol} {untested[0]['setting']}: {untested[0]['message']}")
        asked, other = (
            float("inf") if row["max_error"] != row["max_error"] else row["max_error"] for row in rows
        )
        worse += asked > other
    return selection.outcome(100 * worse / len(selection.pairs))


@evaluator
def error_changed_by_training(claim, evidence, models: list) -> Outcome:
    """Largest change of a maximal error (a fraction) when ``models`` see only the two anchor runs."""
    table = evidence.models("protocols")
    table = table[table["model"].isin(models) & (table["protocol"] == ALL_SAMPLES)].dropna(
        subset=["max_error"]
    )
    table = table[table["train_samples"] == ANCHOR_SETTING]
    pairs, changes = set(), []
    for row in table.itertuples():
        pair = Pair(row.workload, row.platform)
        pairs.add(pair)
        changes.append(abs(row.max_error - error_percent(evidence, pair, row.model, ALL_SAMPLES) / 100))
    if not changes:
        raise Missing(f"none of {', '.join(models)} was fitted to its two anchor runs alone")
    return outcome_over(evidence, max(changes), sorted(pairs))


@evaluator
def learning_ratio(claim, evidence, model: str, how: str) -> Outcome:
    """Maximal error with the fewest layouts that determine ``model`` over that with all of them."""

    def of(pair: Pair) -> float:
        rows = evidence.of_pair("learning_curve", pair, model=model).dropna(subset=["max_error"])
        rows = rows.sort_values("train_samples")
        if len(rows) < 2 or rows["max_error"].iloc[-1] == 0:
            raise Missing(f"{pair}: the learning curve of {model} has fewer than two points")
        return float(rows["max_error"].iloc[0] / rows["max_error"].iloc[-1])

    return deciding_pairs(claim, evidence).each(of, how)


# Predictions of the 1GB run, which no model was fitted to (MICRO'20 section VII-D), in percent.


@evaluator
def error_1gb(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the error at the 1GB layout."""
    return deciding_pairs(claim, evidence).each(
        lambda pair: error_percent(evidence, pair, model, ALL_1GB), how
    )


@evaluator
def largest_error_1gb(claim, evidence, models: list, how: str) -> Outcome:
    """The largest of these errors among ``models``."""
    return max((error_1gb(claim, evidence, model, how) for model in models), key=lambda found: found.value)


@evaluator
def predictions_1gb_differ(claim, evidence) -> Outcome:
    """Largest relative difference between `tessera predict` (``one_gb.csv``) and the fit's own table."""
    pairs, differences = set(), []
    for row in evidence.models("one_gb").dropna(subset=["predicted_runtime_cycles"]).itertuples():
        pair = Pair(row.workload, row.platform)
        own = evidence.record("predictions", pair, model=row.model, layout=ALL_1GB)
        pairs.add(pair)
        fit = float(own["predicted_runtime_cycles"])
        differences.append(abs(row.predicted_runtime_cycles - fit) / abs(fit))
    if not differences:
        raise Missing("no 1GB run was predicted")
    return outcome_over(evidence, max(differences), sorted(pairs))


@evaluator
def error_1gb_ratio(claim, evidence, model: str, base: str) -> Outcome:
    """Worst such error of ``model`` over the worst of ``base``."""
    selection = deciding_pairs(claim, evidence)
    worst = {
        name: aggregate([error_percent(evidence, pair, name, ALL_1GB) for pair in selection.pairs], "max")
        for name in (model, base)
    }
    if worst[base] == 0:
        raise Missing(f"{base} predicts every 1GB run exactly, so there is no ratio")
    return selection.outcome(worst[model] / worst[base])
