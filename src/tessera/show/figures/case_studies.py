"""Draws a case of :mod:`.cases`: the paper's workload, and below it the most extreme pair.

The papers show these as pictures; only the printed numbers are published. The upper panel is the paper's own
workload on its own machine, simulated, or what stands in for it, whether it is TLB-sensitive here or not; the
lower one is the analysed pair with the largest score, when that is another one.
"""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from tessera.layouts.names import ALL_1GB, ALL_2MB
from tessera.show.figures import curves, looks, published, style
from tessera.show.figures.cases import CASES, Case
from tessera.show.results import NotDrawn, Results


class Pick(NamedTuple):
    """A pair and why it is drawn."""

    workload: str
    platform: str
    why: str


def choose(name: str, results: Results) -> list[Pick]:
    """The paper's pair if the run has it, and the extreme one if it is another; at least one."""
    case = CASES[name]
    fitted = set(results.models("predictions", analysed=False)["model"])
    if fitted and not fitted & set(case.models):
        raise NotDrawn(
            f"figure {name}",
            f"none of its models was fitted: {', '.join(case.models)}",
            "name them under `models` in the configuration",
        )
    picks = [pick for pick in (_of_the_paper(case, results), _extreme(case, results)) if pick]
    if not picks:
        raise NotDrawn(f"figure {name}", "no good cell with a runtime in cycles of a TLB-sensitive workload")
    return picks[:1] if len({pick[:2] for pick in picks}) == 1 else picks


def _of_the_paper(case: Case, results: Results) -> Pick | None:
    for word in case.wanted:
        for workload, platform in results.pairs():
            parts = workload.lower().replace("_", "-").split("-")
            if platform == case.platform and set(word.split("-")) <= set(parts):
                how = "as" if word == case.wanted[0] else "stands in for"
                return Pick(workload, platform, f"{how} the paper's {case.paper}")
    return None


def _extreme(case: Case, results: Results) -> Pick | None:
    analysed = set(results.analysed_pairs())
    scores = case.score(results)
    scores = scores[[pair in analysed for pair in scores.index]].dropna()
    return Pick(*scores.idxmax(), f"the pair with the {case.rule}") if len(scores) else None


def table(name: str, results, reference) -> pd.DataFrame:
    """Samples and predictions of the pairs, with ``choice, obtained, figure, printed`` at the end."""
    results, case = Results.of(results), CASES[name]
    parts = []
    for pick in choose(name, results):
        rows = curves.table(results, pick.workload, pick.platform)
        rows = rows[rows["series"].isin(("samples", *case.models))]
        if case.zoom:
            rows = _zoomed(name, rows, case.zoom)
        obtained = case.found(results, pick.workload, pick.platform)
        parts.append(rows.assign(choice=pick.why, obtained=obtained))
    return pd.concat(parts, ignore_index=True).assign(figure=name, printed=printed_in_words(case, reference))


def _zoomed(name: str, rows: pd.DataFrame, times: float) -> pd.DataFrame:
    samples = rows[rows["series"] == "samples"].set_index("layout")["runtime_cycles"]
    if ALL_1GB not in samples:
        raise NotDrawn(f"figure {name}", "the 1gb layout has no good cell")
    shown = samples[samples <= times * samples[ALL_1GB]].index
    # The two anchors define the line; without them a reader can't see where it comes from.
    return rows[rows["layout"].isin({*shown, ALL_2MB})]


def draw(name: str, results, reference):
    """A panel per pair: samples, the case's models, and in words what was obtained and what is printed."""
    results, case = Results.of(results), CASES[name]
    rows = table(name, results, reference)
    if name == "fig11" and ALL_1GB not in set(rows.loc[rows["series"] == "samples", "layout"]):
        raise NotDrawn("figure fig11", "the 1gb layout has no good cell")
    picks = [Pick(*key) for key in rows[["workload", "platform", "choice"]].drop_duplicates().to_numpy()]
    figure, all_axes = style.panels(
        len(picks), 1, width=style.WIDTH, height=0.9 + 3.3 * len(picks), squeeze=False
    )
    printed = rows["printed"].iloc[0]
    for axes, pick in zip(all_axes[:, 0], picks, strict=True):
        mine = rows[(rows["workload"] == pick.workload) & (rows["platform"] == pick.platform)]
        curves.panel(axes, mine, case.column, case.axis, case.models, dict(case.aliases))
        words = [f"{pick.workload} on {pick.platform}: {pick.why}", f"obtained: {mine['obtained'].iloc[0]}"]
        if (pick.workload, pick.platform) in results.dropped:
            words.append(f"not analysed: {results.dropped[pick.workload, pick.platform]}")
        if pick is picks[0]:
            words.append(f"paper: {printed}")
        axes.set_title(style.wrapped(*words), fontsize=8.5, color=style.MUTED)
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, case.title, rows["provenance"].iloc[0])
    return figure, rows


def printed_in_words(case: Case, reference) -> str:
    """The paper's printed numbers: ``Yaniv 10%, Mosmodel 1%; the curve is not published as data``."""
    bounds = {"equal": "", "below": "below "}
    parts = [
        f"{looks.look(row.model).label} {bounds.get(row.bound, row.bound + ' ')}{row.value:g}%"
        + (" too low" if row.statistic == "optimism" else "")
        for location in case.printed
        for row in published.printed(reference, location).itertuples()
        if row.model in looks.PAPER
    ]
    for quantity, words in case.values:
        number = published.opera_value(reference, quantity)
        if number is not None:
            parts.append(words.format(f"{number:g}"))
    return "; ".join([", ".join(parts)] * bool(parts) + ["the curve is not published as data"])
