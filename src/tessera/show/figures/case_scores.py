"""Numbers that choose and describe a case: ``score(results)``, ``words(results, workload, platform)``.

A score is a series over (workload, platform); the pair with the largest one is the extreme that figures draw
beside the paper's own pair.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from tessera.layouts.names import ALL_1GB
from tessera.show.figures import curves, looks, style
from tessera.show.results import Results

Score = Callable[[Results], pd.Series]
Words = Callable[[Results, str, str], str]


def _by_pair(table: pd.DataFrame, column: str) -> pd.Series:
    return table.groupby(["workload", "platform"])[column].max()


def error(model: str, protocol: str = "all") -> Score:
    """Largest relative error of ``model`` (equation 1), or its error at the 1GB layout."""

    def score(results: Results) -> pd.Series:
        rows = results.models("errors", analysed=False)
        return _by_pair(rows[(rows["model"] == model) & (rows["protocol"] == protocol)], "max_error")

    return score


def r_squared(results: Results) -> pd.Series:
    """R squared of a line in C."""
    rows = results.models("rsquared", analysed=False)
    return _by_pair(rows[rows["input"] == "C"], "r_squared")


def slope(results: Results) -> pd.Series:
    """Runtime cycles per walk cycle of the line through all layouts."""
    rows = results.models("coefficients", analysed=False)
    return _by_pair(rows[(rows["model"] == "poly1") & (rows["term"] == "C")], "coefficient")


def signed_error(model: str, layout: str, sign: int) -> Score:
    """``sign`` times (prediction - runtime) / runtime of one layout."""

    def score(results: Results) -> pd.Series:
        found = results.models("predictions", analysed=False)
        found = found[(found["model"] == model) & (found["layout"] == layout)]
        real = results.simulated
        real = real[real["layout"] == layout][["workload", "platform", "runtime_cycles"]]
        both = found.merge(real, on=["workload", "platform"])
        difference = sign * (both["predicted_runtime_cycles"] / both["runtime_cycles"] - 1)
        return _by_pair(both.assign(difference=difference), "difference")

    return score


def errors_in_words(*models: str, protocol: str = "all") -> Words:
    """``largest error poly1 30%, poly2 8.6%``."""

    def found(results: Results, workload: str, platform: str) -> str:
        parts = []
        for model in models:
            scores = error(model, protocol)(results)
            if (workload, platform) in scores.index:
                parts.append(f"{looks.look(model).label} {style.percent(scores[workload, platform])}")
        what = "error at 1GB" if protocol == ALL_1GB else "largest error"
        return f"{what} {', '.join(parts)}" if parts else "no model was fitted"

    return found


def number_in_words(score: Score, text: str) -> Words:
    """``text`` and the score with two digits."""

    def found(results: Results, workload: str, platform: str) -> str:
        scores = score(results)
        known = (workload, platform) in scores.index
        return f"{text} {scores[workload, platform]:.2f}" if known else f"{text} unknown"

    return found


def signed_in_words(model: str, layout: str, text: str) -> Words:
    """Where one layout's prediction lies: ``18% above the runtime``."""

    def found(results: Results, workload: str, platform: str) -> str:
        scores = signed_error(model, layout, 1)(results)
        if (workload, platform) not in scores.index:
            return "no prediction"
        value = scores[workload, platform]
        return f"{text} {style.percent(abs(value))} {'above' if value > 0 else 'below'} the runtime"

    return found


def ratio_in_words(model: str, layout: str, text: str) -> Words:
    """How many times its prediction one layout's runtime is."""

    def found(results: Results, workload: str, platform: str) -> str:
        scores = signed_error(model, layout, 1)(results)
        if (workload, platform) not in scores.index:
            return "no prediction"
        predicted = 1 + scores[workload, platform]
        return (
            f"{text} {1 / predicted:.2f} times its prediction" if predicted > 0 else "prediction below zero"
        )

    return found


def together(*words: Words) -> Words:
    """Several words about one pair."""

    def found(results: Results, workload: str, platform: str) -> str:
        return "; ".join(one(results, workload, platform) for one in words)

    return found


def basu_in_words(results: Results, workload: str, platform: str) -> str:
    """Range of Basu's signed errors over the fitted layouts."""
    rows = curves.table(results, workload, platform)
    real = rows[rows["series"] == "samples"].set_index("layout")["runtime_cycles"]
    basu = rows[rows["series"] == "basu"].set_index("layout")["runtime_cycles"]
    signed = ((basu - real) / real).drop(ALL_1GB, errors="ignore").dropna()
    if signed.empty:
        return "no prediction"
    low, high = style.percent(signed.min()), style.percent(signed.max())
    sign = "+" if signed.max() > 0 else ""
    return f"Basu's predictions are off by {low} to {sign}{high} of the runtime"
