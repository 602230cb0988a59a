"""Sign and place of prediction errors (``models/predictions.csv`` against the cells).

Optimism is (R - predicted) / R: positive where a model promises a shorter runtime than is true.
"""

from __future__ import annotations

from math import nan

import pandas as pd

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.judge.claims.selection import select
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.pair import Pair

#: columns of the cells that say where a prediction lies; few, since each pair has a table of each model
COUNTS = ["runtime_cycles", "stlb_misses", "walk_cycles"]


def predicted(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
    """:data:`COUNTS`, ``predicted`` and ``optimism`` (a fraction) of ``model``; not to be changed."""
    return evidence.once(("predicted", pair, model), lambda: _predicted(evidence, pair, model))


def _predicted(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
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


def fitted(evidence: Evidence, pair: Pair, model: str) -> pd.DataFrame:
    """The same without the 1GB test point."""
    return evidence.once(
        ("fitted", pair, model),
        lambda: without(predicted(evidence, pair, model), ALL_1GB),
    )


def without(table: pd.DataFrame, layout: str) -> pd.DataFrame:
    """The rows of the other layouts."""
    return table[table.index != layout]


def _at(evidence: Evidence, pair: Pair, model: str, layout: str) -> pd.Series:
    table = predicted(evidence, pair, model)
    if layout not in table.index:
        raise Missing(f"{pair}: layout {layout} has no runtime or no prediction by {model}")
    return table.loc[layout]


def optimism_at_fewest_misses(claim, evidence, model: str, how: str) -> Outcome:
    """Optimism at the fitted layout with the fewest misses, percent."""

    def of(pair: Pair) -> float:
        table = fitted(evidence, pair, model)
        return 100 * float(table.loc[table["stlb_misses"].idxmin(), "optimism"])

    return select(claim, evidence).each(of, how)


def misses_at_worst_error(claim, evidence, model: str, how: str) -> Outcome:
    """Where in the range of misses (0 fewest, 1 most) the model errs most."""

    def of(pair: Pair) -> float:
        table = fitted(evidence, pair, model)
        misses = table["stlb_misses"]
        if misses.max() == misses.min():
            raise Missing(f"{pair}: all layouts have the same number of misses")
        worst = misses[table["optimism"].abs().idxmax()]
        return float((worst - misses.min()) / (misses.max() - misses.min()))

    return select(claim, evidence).each(of, how)


def optimistic_pairs(claim, evidence, model: str) -> Outcome:
    """Share of pairs where the median prediction is too low, percent; the 4KB anchor left out."""
    selection = select(claim, evidence)
    optimistic = [
        without(fitted(evidence, pair, model), ALL_4KB)["optimism"].median() for pair in selection.pairs
    ]
    return selection.outcome(100 * sum(value > 0 for value in optimistic) / len(optimistic))


def negative_share(claim, evidence, model: str, above_percent) -> Outcome:
    """Of the predictions that err by more than ``above_percent``, how many are negative, percent."""
    selection, above = select(claim, evidence), evidence.number(above_percent) / 100
    tables = [fitted(evidence, pair, model) for pair in selection.pairs]
    wrong = pd.concat([table[table["optimism"].abs() > above] for table in tables])
    if wrong.empty:
        raise Missing(f"{model} has no error above {100 * above:g}%")
    return selection.outcome(100 * float((wrong["predicted"] < 0).mean()))


def largest_error_between(claim, evidence, models: list) -> Outcome:
    """Largest error, percent, at layouts whose walk cycles lie between those of all-2MB and all-4KB."""

    def of(pair: Pair) -> float:
        low, high = (evidence.cell(pair, name, "walk_cycles") for name in (ALL_2MB, ALL_4KB))
        tables = [fitted(evidence, pair, model) for model in models]
        between = [table.loc[table["walk_cycles"].between(low, high), "optimism"] for table in tables]
        if any(errors.empty for errors in between):
            raise Missing(f"{pair}: no layout has walk cycles between those of the 2MB and the 4KB run")
        return max(100 * float(errors.abs().max()) for errors in between)

    return select(claim, evidence).each(of, "max")


def runtime_over_prediction(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """Runtime of one layout over its prediction."""
    return select(claim, evidence).each(
        lambda pair: _runtime_over_prediction(evidence, pair, model, layout), how
    )


def _runtime_over_prediction(evidence: Evidence, pair: Pair, model: str, layout: str) -> float:
    row = _at(evidence, pair, model, layout)
    if row["predicted"] <= 0:
        raise Missing(f"{pair}: {model} predicts a runtime of 0 or less")
    return float(row["runtime_cycles"] / row["predicted"])


def prediction_shortfall(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """By how much the runtime of one layout exceeds its prediction, percent of the prediction."""
    return select(claim, evidence).each(
        lambda pair: 100 * (_runtime_over_prediction(evidence, pair, model, layout) - 1), how
    )


def prediction_excess(claim, evidence, model: str, layout: str, how: str) -> Outcome:
    """By how much the prediction of one layout is too high, percent of the runtime."""
    return select(claim, evidence).each(
        lambda pair: -100 * float(_at(evidence, pair, model, layout)["optimism"]), how
    )


def predictions_differ(claim, evidence, first: str, second: str, layout: str, how: str) -> Outcome:
    """Distance of two models' predictions of one layout, percent of its runtime."""

    def of(pair: Pair) -> float:
        one, other = (_at(evidence, pair, model, layout) for model in (first, second))
        return 100 * abs(float(one["predicted"] - other["predicted"])) / float(one["runtime_cycles"])

    return select(claim, evidence).each(of, how)


EVALUATORS = {
    "optimism_at_fewest_misses": optimism_at_fewest_misses,
    "misses_at_worst_error": misses_at_worst_error,
    "optimistic_pairs": optimistic_pairs,
    "negative_share": negative_share,
    "largest_error_between": largest_error_between,
    "runtime_over_prediction": runtime_over_prediction,
    "prediction_shortfall": prediction_shortfall,
    "prediction_excess": prediction_excess,
    "predictions_differ": predictions_differ,
}
