"""MICRO'20 figures 3, 7, 8, 9, 10 and 11: one workload on one platform, as a table of cases.

The paper shows these as pictures; only the numbers in :attr:`Case.printed` are published. Each case is drawn
for the paper's own workload where we have one of that name on that platform, else for the pair that
:attr:`Case.rule` selects from the obtained tables; the figure says which of the two it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from tessera.figures import curves, published, style
from tessera.figures.tables import NotDrawn, Results


@dataclass(frozen=True)
class Case:
    """What the paper's figure shows and how its counterpart is chosen."""

    title: str
    paper: str  #: the paper's workload and machine
    printed: tuple[str, ...]  #: where the paper prints numbers about it (``location`` of printed_errors)
    wanted: tuple[str, ...]  #: words that identify that workload by name, best first
    platform: str
    column: str
    words: str
    models: tuple[str, ...]
    rule: str  #: how a pair is chosen otherwise
    score: Callable[[Results], pd.Series]  #: (workload, platform) -> number; the largest wins
    found: Callable[[Results, str, str], str]  #: the obtained numbers in words


def _by_pair(table: pd.DataFrame, column: str) -> pd.Series:
    return table.groupby(["workload", "platform"])[column].max()


def _error(model: str, protocol: str = "all") -> Callable[[Results], pd.Series]:
    def score(results: Results) -> pd.Series:
        rows = results.errors
        return _by_pair(rows[(rows["model"] == model) & (rows["protocol"] == protocol)], "max_error")

    return score


def _r_squared(results: Results) -> pd.Series:
    return _by_pair(results.rsquared[results.rsquared["input"] == "C"], "r_squared")


def _slope(results: Results) -> pd.Series:
    rows = results.coefficients
    return _by_pair(rows[(rows["model"] == "poly1") & (rows["term"] == "C")], "coefficient")


def _errors_in_words(*models: str, protocol: str = "all"):
    def found(results: Results, workload: str, platform: str) -> str:
        parts = []
        for model in models:
            scores = _error(model, protocol)(results)
            if (workload, platform) in scores.index:
                label = style.MODELS[model][0]
                parts.append(f"{label} {style.percent(scores[workload, platform])}")
        what = "error at 1GB" if protocol == "1gb" else "largest error"
        return f"obtained: {what} {', '.join(parts)}" if parts else ""

    return found


def _basu_in_words(results: Results, workload: str, platform: str) -> str:
    rows = curves.table(results, workload, platform)
    real = rows[rows["series"] == "samples"].set_index("layout")["runtime_cycles"]
    basu = rows[rows["series"] == "basu"].set_index("layout")["runtime_cycles"]
    signed = ((basu - real) / real).drop("1gb", errors="ignore").dropna()
    if signed.empty:
        return ""
    low, high = style.percent(signed.min()), style.percent(signed.max())
    return f"obtained: Basu between {low} and +{high} of the runtime"


def _number_in_words(score, text: str):
    def found(results: Results, workload: str, platform: str) -> str:
        scores = score(results)
        known = (workload, platform) in scores.index
        return f"obtained: {text} {scores[workload, platform]:.2f}" if known else ""

    return found


#: open programs in the place of licensed ones
STAND_INS = ("network-simplex", "event-network-small", "event-network-large", "xml-transform")
_C = ("walk_cycles", "walk cycles C")
_SB, _BW = "sandybridge-sim", "broadwell-sim"
CASES: dict[str, Case] = {
    "fig3": Case(
        "A linear model against Mosmodel",
        "spec06/mcf on SandyBridge",
        ("Figure 3",),
        ("mcf", "network-simplex"),
        _SB,
        *_C,
        ("yaniv", "poly1", "mosmodel"),
        "largest poly1 error",
        _error("poly1"),
        _errors_in_words("yaniv", "poly1", "mosmodel"),
    ),
    "fig7": Case(
        "What the Basu model predicts",
        "gapbs/sssp-twitter on SandyBridge",
        ("Figure 7",),
        ("sssp-twitter", "sssp"),
        _SB,
        "stlb_misses",
        "TLB misses M",
        ("basu",),
        "largest Basu error",
        _error("basu"),
        _basu_in_words,
    ),
    "fig8": Case(
        "Where a straight line is enough",
        "spec06/omnetpp",
        (),
        ("omnetpp", "event-network-small"),
        _SB,
        *_C,
        ("poly1",),
        "largest R\u00b2 in C",
        _r_squared,
        _number_in_words(_r_squared, "R\u00b2 in C"),
    ),
    "fig9": Case(
        "The slope of runtime against walk cycles",
        "spec17/xalancbmk on Broadwell",
        (),
        ("xalancbmk", "xml-transform"),
        _BW,
        *_C,
        ("poly1",),
        "largest slope of poly1",
        _slope,
        _number_in_words(_slope, "slope"),
    ),
    "fig10": Case(
        "Where a straight line is not enough",
        "gups/16GB on SandyBridge",
        ("VII-B text", "Figure 10"),
        ("gups-16gb", "gups"),
        _SB,
        *_C,
        ("poly1", "poly2", "poly3"),
        "largest poly1 error",
        _error("poly1"),
        _errors_in_words("poly1", "poly2", "poly3"),
    ),
    "fig11": Case(
        "Predicting 1GB pages",
        "gapbs/pr-twitter on SandyBridge",
        ("Figure 11",),
        ("pr-twitter", "pr", "pagerank"),
        _SB,
        *_C,
        ("yaniv", "mosmodel"),
        "largest Yaniv error at 1GB",
        _error("yaniv", "1gb"),
        _errors_in_words("yaniv", "mosmodel", protocol="1gb"),
    ),
}


def choose(name: str, results: Results) -> tuple[str, str, str]:
    """(workload, platform, why this pair) of a case."""
    case, pairs = CASES[name], results.analysed_pairs()
    if not pairs:
        raise NotDrawn(f"figure {name}", "no good cell with a runtime in cycles of a TLB-sensitive workload")
    for word in case.wanted:
        for workload, platform in pairs:
            parts = workload.lower().replace("_", "-").split("-")
            if platform == case.platform and set(word.split("-")) <= set(parts):
                how = "standing in for" if word in STAND_INS else "nearest by name to"
                return workload, platform, f"{how} the paper's {case.paper}"
    scores = case.score(results)
    scores = scores[[pair in set(pairs) for pair in scores.index]].dropna()
    here = scores[scores.index.get_level_values("platform") == case.platform]
    scores = here if len(here) else scores
    if scores.empty:
        raise NotDrawn(f"figure {name}", f"nothing to choose a workload by ({case.rule})")
    return *scores.idxmax(), f"for the paper's {case.paper} ({case.rule})"


def draw(name: str, results, reference):
    """One panel: samples, the case's models, and in figure 11 their predictions for 1GB pages."""
    results, case = Results.of(results), CASES[name]
    workload, platform, why = choose(name, results)
    rows = curves.table(results, workload, platform)
    rows = rows[rows["series"].isin(("samples", *case.models))]
    figure, axes = style.panels(width=7.6, height=4.4)
    curves.panel(axes, rows, case.column, case.words, case.models)
    if name == "fig11":
        _test_point(axes, rows, case)
    axes.legend(loc="best")
    printed = printed_in_words(case, reference)
    words = f"{case.found(results, workload, platform)}\npaper: {printed}the curve is not published as data"
    axes.set_title(f"{workload} on {platform}, {why}\n{words}", fontsize=8.5, color=style.MUTED)
    style.headline(figure, case.title, rows["provenance"].iloc[0])
    return figure, rows.assign(figure=name, choice=why, printed=printed.rstrip("; "))


def printed_in_words(case: Case, reference) -> str:
    """The paper's printed numbers about a case: ``Yaniv 10%, Mosmodel 1%; ``."""
    bounds = {"equal": "", "below": "below "}
    parts = [
        f"{style.MODELS[row.model][0]} {bounds.get(row.bound, row.bound + ' ')}{row.value:g}%"
        + (" too low" if row.statistic == "optimism" else "")
        for location in case.printed
        for row in published.printed(reference, location).itertuples()
        if row.model in style.MODELS
    ]
    return ", ".join(parts) + "; " if parts else ""


def _test_point(axes, rows: pd.DataFrame, case: Case) -> None:
    test = rows[rows["layout"] == "1gb"]
    if not (test["series"] == "samples").any():
        raise NotDrawn("figure fig11", "the 1gb layout has no good cell")
    x_scale, _ = style.count_unit(rows[case.column].max())
    y_scale, _ = style.count_unit(rows[rows["series"] == "samples"]["runtime_cycles"].max())
    for model in case.models:
        spot = test[test["series"] == model]
        label, colour, marker, _ = style.MODELS[model]
        axes.plot(
            spot[case.column] / x_scale,
            spot["runtime_cycles"] / y_scale,
            marker,
            color=colour,
            markeredgecolor=style.INK,
            markersize=9,
            zorder=6,
            label=f"{label} at 1GB",
        )
