"""Predictions of the 1GB run, which no model was fitted to (MICRO'20 section VII-D), in percent."""

from __future__ import annotations

from tessera.judge.claims.evaluators.model_errors import error_percent
from tessera.judge.claims.evaluators.model_rules import judged
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import aggregate, select
from tessera.layouts.names import ALL_1GB
from tessera.results.pair import Pair


def error_1gb(claim, evidence, model: str, how: str) -> Outcome:
    """``how`` over the pairs of the error at the 1GB layout."""
    return select(claim, evidence).each(lambda pair: error_percent(evidence, pair, model, ALL_1GB), how)


def largest_error_1gb(claim, evidence, models: list, how: str) -> Outcome:
    """The largest of these errors among ``models``."""
    return max((error_1gb(claim, evidence, model, how) for model in models), key=lambda found: found.value)


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
    return judged(evidence, max(differences), sorted(pairs))


def error_1gb_ratio(claim, evidence, model: str, base: str) -> Outcome:
    """Worst such error of ``model`` over the worst of ``base``."""
    selection = select(claim, evidence)
    worst = {
        name: aggregate([error_percent(evidence, pair, name, ALL_1GB) for pair in selection.pairs], "max")
        for name in (model, base)
    }
    if worst[base] == 0:
        raise Missing(f"{base} predicts every 1GB run exactly, so there is no ratio")
    return selection.outcome(worst[model] / worst[base])


def error_1gb_advantage(claim, evidence, model: str, base: str, how: str) -> Outcome:
    """By how many percentage points the error of ``model`` at the 1GB layout is below that of ``base``."""
    return select(claim, evidence).each(
        lambda pair: (
            error_percent(evidence, pair, base, ALL_1GB) - error_percent(evidence, pair, model, ALL_1GB)
        ),
        how,
    )


def rescued_pairs(claim, evidence, model: str, base: str, good_percent, bad_percent) -> Outcome:
    """Pairs whose 1GB run ``model`` predicts within ``good_percent``, ``base`` not within ``bad_percent``."""
    selection = select(claim, evidence)
    good, bad = evidence.number(good_percent), evidence.number(bad_percent)
    rescued = [
        error_percent(evidence, pair, base, ALL_1GB) >= bad
        and error_percent(evidence, pair, model, ALL_1GB) <= good
        for pair in selection.pairs
    ]
    return selection.outcome(sum(rescued))


EVALUATORS = {
    "error_1gb": error_1gb,
    "largest_error_1gb": largest_error_1gb,
    "predictions_1gb_differ": predictions_1gb_differ,
    "error_1gb_ratio": error_1gb_ratio,
    "error_1gb_advantage": error_1gb_advantage,
    "rescued_pairs": rescued_pairs,
}
