"""Cross-validation errors (``models/cv.csv``), in percent; the largest over the pairs in scope."""

from __future__ import annotations

from tessera.judge.claims.evaluators.model_errors import ALL_SAMPLES, error_percent
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import Selection, aggregate, select
from tessera.results.pair import Pair


def _cv_percent(evidence: Evidence, pair: Pair, model: str, folds: int) -> float:
    rows = evidence.records("cv", pair, model=model, folds=folds)
    errors = [row["max_error"] for row in rows]
    if any(error != error for error in errors):
        messages = [row["message"] for row in rows if row["message"]]
        raise Missing(f"{pair}: {model} has no {folds}-fold error: {'; '.join(messages)}")
    return 100 * float(max(errors))


def _worst(evidence: Evidence, selection: Selection, model: str, folds: int) -> float:
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    return aggregate(errors, "max")


def _each(evidence: Evidence, selection: Selection, model: str, folds: int) -> Outcome:
    return selection.each(lambda pair: _cv_percent(evidence, pair, model, folds), "max")


def cv_max_error(claim, evidence, model: str, folds: int, samples_from=None) -> Outcome:
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


def cv_share_above(claim, evidence, model: str, folds: int, above_percent) -> Outcome:
    """Share of pairs whose worst error over the folds is above a bound, percent."""
    selection, above = select(claim, evidence), evidence.number(above_percent)
    errors = [_cv_percent(evidence, pair, model, folds) for pair in selection.pairs]
    return selection.outcome(100 * sum(error > above for error in errors) / len(errors))


def cv_rank(claim, evidence, model: str, models: list, folds: int) -> Outcome:
    """Rank of ``model`` by that error, 1 = smallest."""
    selection = select(claim, evidence)
    worst = {name: _worst(evidence, selection, name, folds) for name in models}
    return selection.outcome(1 + sum(other < worst[model] for other in worst.values()))


def cv_best_k(claim, evidence, model: str, folds: list) -> Outcome:
    """The smallest worst error over the values of K: what the paper may have printed without its K."""
    selection = select(claim, evidence)
    return min((_each(evidence, selection, model, k) for k in folds), key=lambda found: found.value)


def cv_best_rank(claim, evidence, model: str, models: list, folds: list) -> Outcome:
    """The best rank of ``model`` by that error over the values of K, 1 = smallest error."""
    return min((cv_rank(claim, evidence, model, models, k) for k in folds), key=lambda found: found.value)


def cv_over_all(claim, evidence, models: list, folds: int) -> Outcome:
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
    return selection.outcome(min(ratios))


EVALUATORS = {
    "cv_max_error": cv_max_error,
    "cv_share_above": cv_share_above,
    "cv_rank": cv_rank,
    "cv_best_k": cv_best_k,
    "cv_best_rank": cv_best_rank,
    "cv_over_all": cv_over_all,
}
