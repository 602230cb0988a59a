"""The papers' pictures of one workload on one machine, and the numbers that choose and describe them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_4KB
from tessera.report.figures import curves, style
from tessera.report.results import Results

# Numbers that choose and describe a case: ``score(results)``, ``words(results, workload, platform)``.
#
# A score is a series over (workload, platform); the pair with the largest one is the extreme that figures
# draw beside the paper's own pair.

Score = Callable[[Results], pd.Series]
Words = Callable[[Results, str, str], str]


def _largest_by_pair(table: pd.DataFrame, column: str) -> pd.Series:
    return table.groupby(["workload", "platform"])[column].max()


def largest_error(model: str, protocol: str = "all") -> Score:
    """Largest relative error of ``model`` (equation 1), or its error at the 1GB layout."""

    def score(results: Results) -> pd.Series:
        rows = results.models("errors", analysed=False)
        return _largest_by_pair(rows[(rows["model"] == model) & (rows["protocol"] == protocol)], "max_error")

    return score


def line_r_squared(results: Results) -> pd.Series:
    """R squared of a line in C."""
    rows = results.models("rsquared", analysed=False)
    return _largest_by_pair(rows[rows["input"] == "C"], "r_squared")


def line_slope(results: Results) -> pd.Series:
    """Runtime cycles per walk cycle of the line through all layouts."""
    rows = results.models("coefficients", analysed=False)
    return _largest_by_pair(rows[(rows["model"] == "poly1") & (rows["term"] == "C")], "coefficient")


def signed_error(model: str, layout: str, sign: int) -> Score:
    """``sign`` times (prediction - runtime) / runtime of one layout."""

    def score(results: Results) -> pd.Series:
        found = results.models("predictions", analysed=False)
        found = found[(found["model"] == model) & (found["layout"] == layout)]
        real = results.simulated
        real = real[real["layout"] == layout][["workload", "platform", "runtime_cycles"]]
        both = found.merge(real, on=["workload", "platform"])
        difference = sign * (both["predicted_runtime_cycles"] / both["runtime_cycles"] - 1)
        return _largest_by_pair(both.assign(difference=difference), "difference")

    return score


def errors_in_words(*models: str, protocol: str = "all") -> Words:
    """``largest error poly1 30%, poly2 8.6%``."""

    def found(results: Results, workload: str, platform: str) -> str:
        parts = []
        for model in models:
            scores = largest_error(model, protocol)(results)
            if (workload, platform) in scores.index:
                parts.append(
                    f"{style.model_look(model).label} {style.percent_text(scores[workload, platform])}"
                )
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
        return f"{text} {style.percent_text(abs(value))} {'above' if value > 0 else 'below'} the runtime"

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
    low, high = style.percent_text(signed.min()), style.percent_text(signed.max())
    sign = "+" if signed.max() > 0 else ""
    return f"Basu's predictions are off by {low} to {sign}{high} of the runtime"


# The papers' pictures of one workload on one machine: MICRO'20 figures 3, 7-11, OPERA 2, 4, 5, 7-9.
#
# Only what a paper prints in words is published; ``printed`` names the rows of the reference tables.
# ``wanted`` identifies workloads by words of their names: the first one is the paper's own, later ones stand
# in for it.

SANDYBRIDGE, BROADWELL = "sandybridge-sim", "broadwell-sim"
_MCF = ("mcf", "network-simplex")
_OMNETPP = ("omnetpp", "event-network-small")
_XALANCBMK = ("xalancbmk", "xml-transform")


@dataclass(frozen=True)
class CaseStudy:
    """What the paper's figure shows, and how the pair beside it is chosen."""

    title: str
    paper: str  #: the paper's workload and machine
    wanted: tuple[str, ...]
    platform: str
    models: tuple[str, ...]
    rule: str  #: in words: which pair is drawn beside the paper's
    score: Score  #: the pair with the largest score is that one
    found: Words  #: the obtained numbers
    column: str = "walk_cycles"
    axis: str = "walk cycles C"
    printed: tuple[str, ...] = ()  #: locations in printed_errors (MICRO'20)
    values: tuple[tuple[str, str], ...] = ()  #: (quantity of opera_values, words with ``{}``)
    zoom: float | None = None  #: draw only layouts that run at most so many times as long as the 1GB one
    aliases: tuple[tuple[str, str], ...] = ()  #: a model's name in that paper


MICRO20_CASES = {
    "fig3": CaseStudy(
        "A linear model against Mosmodel", "spec06/mcf on SandyBridge", _MCF, SANDYBRIDGE,
        ("yaniv", "poly1", "mosmodel"), "largest error of poly1",
        largest_error("poly1"), errors_in_words("yaniv", "poly1", "mosmodel"), printed=("Figure 3",),
    ),
    "fig7": CaseStudy(
        "What the Basu model predicts", "gapbs/sssp-twitter on SandyBridge", ("sssp-twitter", "sssp"),
        SANDYBRIDGE, ("basu",), "largest error of Basu", largest_error("basu"), basu_in_words,
        column="stlb_misses", axis="TLB misses M", printed=("Figure 7",),
    ),
    "fig8": CaseStudy(
        "How well does a straight line describe a workload?",
        "spec06/omnetpp, machine not named", _OMNETPP, SANDYBRIDGE,
        ("poly1",), "largest error of poly1", largest_error("poly1"),
        together(
            number_in_words(line_r_squared, "R\u00b2 of the line"), errors_in_words("poly1")
        ),
    ),
    "fig9": CaseStudy(
        "The slope of runtime against walk cycles", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("poly1",), "largest slope", line_slope, number_in_words(line_slope, "slope"),
    ),
    "fig10": CaseStudy(
        "A line, a parabola and a cubic in walk cycles", "gups/16GB on SandyBridge", ("gups-16gb", "gups"),
        SANDYBRIDGE, ("poly1", "poly2", "poly3"), "largest error of poly1", largest_error("poly1"),
        errors_in_words("poly1", "poly2", "poly3"), printed=("VII-B text", "Figure 10"),
    ),
    "fig11": CaseStudy(
        "Predicting 1GB pages", "gapbs/pr-twitter on SandyBridge", ("pr-twitter", "pr", "pagerank"),
        SANDYBRIDGE, ("yaniv", "mosmodel", "mosmodel-authors"), "largest error of Yaniv at 1GB",
        largest_error("yaniv", ALL_1GB),
        errors_in_words("yaniv", "mosmodel", "mosmodel-authors", protocol=ALL_1GB),
        printed=("Figure 11",),
    ),
}  # fmt: skip

_PHAM = (("alam", "Pham in OPERA, Alam in MICRO'20"),)
_OPERA_GUPS = ("gups-4gb", "gups-8gb", "gups")
OPERA_CASES = {
    "opera-fig2": CaseStudy(
        "Linear prediction of the 1GB run", "GUPS/4GB, machine not named", _OPERA_GUPS, SANDYBRIDGE,
        ("yaniv", "poly3"), "longest 1GB run for its linear prediction",
        signed_error("yaniv", ALL_1GB, -1),
        ratio_in_words("yaniv", ALL_1GB, "the 1GB run takes"),
        values=(("linear_deviation", "the 1GB run takes {} times its linear prediction"),), zoom=2.0,
    ),
    "opera-fig4": CaseStudy(
        "Does R = C + \u03b2 predict too much?", "graph500/4GB on SandyBridge", ("graph500-4gb", "graph500"),
        SANDYBRIDGE, ("alam",), "4KB run predicted most too high",
        signed_error("alam", ALL_4KB, 1),
        signed_in_words("alam", ALL_4KB, "prediction of the 4KB run"),
        values=(("pham_overestimate_graph500", "prediction of the 4KB run {}% above the runtime"),),
        aliases=_PHAM,
    ),
    "opera-fig5": CaseStudy(
        "Does R = C + \u03b2 predict too little?", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("alam",), "4KB run predicted most too low", signed_error("alam", ALL_4KB, -1),
        signed_in_words("alam", ALL_4KB, "prediction of the 4KB run"),
        values=(("pham_underestimate_xalancbmk", "the 4KB run takes {}% longer than predicted"),),
        aliases=_PHAM,
    ),
    "opera-fig7": CaseStudy(
        "Does a line describe this workload?", "spec06/omnetpp, machine not named", _OMNETPP, SANDYBRIDGE,
        ("poly1",), "largest error of poly1", largest_error("poly1"), errors_in_words("poly1"),
    ),
    "opera-fig8": CaseStudy(
        "Three polynomials", "spec06/mcf, machine not named", _MCF, SANDYBRIDGE,
        ("poly1", "poly2", "poly3"), "largest error of poly1", largest_error("poly1"),
        errors_in_words("poly1", "poly2", "poly3"),
        values=(("poly3_max_error_mcf", "largest error of poly3 below {}%"),),
    ),
    "opera-fig9": CaseStudy(
        "Is the slope above 1?", "spec17/xalancbmk on Broadwell", _XALANCBMK, BROADWELL,
        ("poly1",), "largest slope", line_slope, number_in_words(line_slope, "slope"),
        values=(("slope", "slope {}"),),
    ),
}  # fmt: skip

CASES: dict[str, CaseStudy] = MICRO20_CASES | OPERA_CASES
