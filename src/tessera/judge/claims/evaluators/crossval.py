"""Cross-validation errors (``models/cv.csv``), in percent; the largest over the pairs in scope.

``folds`` is a number K (the run's seed shuffles) or ``leave-one-out``: each distinct (H, M, C) is left out in
turn, its duplicates with it, so no seed plays a part. Its ``protocol`` says which, and of which models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tessera.judge.claims.evaluators.model_errors import ALL_SAMPLES, error_percent
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import Selection, aggregate, select
from tessera.results.pair import Pair
from tessera.results.schema.models import K_FOLD, LEAVE_ONE_OUT, SEEDS


def _rows(evidence: Evidence, pair: Pair, model: str, folds: int | str) -> list[dict]:
    if folds == LEAVE_ONE_OUT:
        return evidence.records("cv", pair, model=model, protocol=LEAVE_ONE_OUT)
    return evidence.records("cv", pair, model=model, protocol=K_FOLD, folds=folds)


def _percent(pair: Pair, model: str, row: Mapping) -> float:
    if row["max_error"] != row["max_error"]:
        raise Missing(f"{pair}: {model} has no error of cross validation: {row['message'] or 'empty cell'}")
    return 100 * float(row["max_error"])


def _cv_percent(evidence: Evidence, pair: Pair, model: str, folds: int | str) -> float:
    return max(_percent(pair, model, row) for row in _rows(evidence, pair, model, folds))


def _protocol(evidence: Evidence, selection: Selection, models: list, folds: int | str) -> str:
    """How these numbers were obtained: ``6 folds, seed 1, mosmodel``."""
    who = ", ".join(models)
    if folds == LEAVE_ONE_OUT:
        return f"{LEAVE_ONE_OUT}, duplicates together, no seed, {who}"
    seeds = {row["seed"] for pair in selection.pairs for row in _rows(evidence, pair, models[0], folds)}
    return f"{folds} folds, seed {', '.join(f'{seed:g}' for seed in sorted(seeds))}, {who}"


def _worst(evidence: Evidence, selection: Selection, model: str, folds: int | str) -> float:
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    return aggregate(errors, "max")


def _each(evidence: Evidence, selection: Selection, model: str, folds: int | str) -> Outcome:
    found = selection.each(lambda pair: _cv_percent(evidence, pair, model, folds), "max")
    return replace(found, protocol=_protocol(evidence, selection, [model], folds))


def cv_max_error(claim, evidence, model: str, folds: int | str, samples_from=None) -> Outcome:
    """Worst error over pairs and folds; with ``samples_from``, only of runs with so many samples."""
    selection = select(claim, evidence)
    if samples_from is not None:
        wanted = int(evidence.number(samples_from))
        for pair in selection.pairs:
            row = evidence.record("errors", pair, model=model, protocol=ALL_SAMPLES)
            if row["samples"] < wanted:
                raise Missing(
                    f"{pair} has {int(row['samples'])} samples, the claim is about {wanted}",
                    "./run reproduce with random_count: 55 in the configuration",
                )
    return _each(evidence, selection, model, folds)


def cv_share_above(claim, evidence, model: str, folds: int | str, above_percent) -> Outcome:
    """Share of pairs whose worst error over the folds is above a bound, percent."""
    selection, above = select(claim, evidence), evidence.number(above_percent)
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    found = selection.outcome(100 * sum(error > above for error in errors) / len(errors))
    return replace(found, protocol=_protocol(evidence, selection, [model], folds))


def cv_rank(claim, evidence, model: str, models: list, folds: int | str) -> Outcome:
    """Rank of ``model`` by that error, 1 = smallest."""
    selection = select(claim, evidence)
    worst = {name: _worst(evidence, selection, name, folds) for name in models}
    found = selection.outcome(1 + sum(other < worst[model] for other in worst.values()))
    return replace(found, protocol=_protocol(evidence, selection, models, folds))


def cv_best_k(claim, evidence, model: str, folds: list) -> Outcome:
    """The smallest worst error over the values of K: what the paper may have printed without its K."""
    selection = select(claim, evidence)
    return min((_each(evidence, selection, model, k) for k in folds), key=lambda found: found.value)


def cv_best_rank(claim, evidence, model: str, models: list, folds: list) -> Outcome:
    """The best rank of ``model`` by that error over the values of K, 1 = smallest error."""
    return min((cv_rank(claim, evidence, model, models, k) for k in folds), key=lambda found: found.value)


def cv_over_all(claim, evidence, models: list, folds: int | str) -> Outcome:
    """Smallest ratio, over ``models``, of that error to the worst error on fitted samples."""
    selection = select(claim, evidence)
    ratios = []
    for model in models:
        fitted = aggregate(
            [error_percent(evidence, pair, model, ALL_SAMPLES) for pair in selection.pairs], "max"
        )
        if fitted == 0:
            raise Missing(f"{model} fits every sample exactly, so there is no ratio")
        ratios.append(_worst(evidence, selection, model, folds) / fitted)
    return replace(selection.outcome(min(ratios)), protocol=_protocol(evidence, selection, models, folds))


def cv_over_seeds(claim, evidence, model: str) -> Outcome:
    """The worst error over the pairs under each seed of the folds: median, least and most, percent."""
    selection = select(claim, evidence)
    by_seed: dict[float, list[float]] = {}
    for pair in selection.pairs:
        for row in evidence.records("cv", pair, model=model, protocol=SEEDS):
            by_seed.setdefault(row["seed"], []).append(_percent(pair, model, row))
    if any(len(errors) < len(selection.pairs) for errors in by_seed.values()):
        raise Missing(f"models/cv.csv does not have the same seeds of {model} for all pairs")
    worst = [max(errors) for errors in by_seed.values()]
    return selection.outcome({"median": float(np.median(worst)), "least": min(worst), "most": max(worst)})


EVALUATORS = {
    "cv_max_error": cv_max_error,
    "cv_share_above": cv_share_above,
    "cv_rank": cv_rank,
    "cv_best_k": cv_best_k,
    "cv_best_rank": cv_best_rank,
    "cv_over_all": cv_over_all,
    "cv_over_seeds": cv_over_seeds,
}
