"""Figures of one pair: the paper's, or what stands in for it, and beside it the most extreme pair."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.core.results.cell_tables import MANIFEST
from tessera.report.figures import cases, curves, figure, published, style
from tessera.report.figures.cases import CASES, CaseStudy
from tessera.report.results import FewerPages, NotDrawn, Results, against_fewer_pages

# A case of :mod:`.cases`: the paper's workload, and below it the most extreme pair.
#
# The papers show these as pictures; only the printed numbers are published. The upper panel is the paper's
# own workload on its own machine, simulated, or what stands in for it, whether it is TLB-sensitive here or
# not; the lower one is the analysed pair with the largest score, when that is another one.


class Pick(NamedTuple):
    """A pair and why it is drawn."""

    workload: str
    platform: str
    why: str


def choose_case_pairs(name: str, results: Results) -> list[Pick]:
    """The paper's pair if the run has it, and the extreme one if it is another; at least one."""
    case = CASES[name]
    fitted = set(results.models("predictions", analysed=False)["model"])
    if fitted and not fitted & set(case.models):
        raise NotDrawn(
            f"figure {name}",
            f"none of its models was fitted: {', '.join(case.models)}",
            "name them under `models` in the configuration",
        )
    picks = [pick for pick in (_pair_of_the_paper(case, results), _extreme_pair(case, results)) if pick]
    if not picks:
        raise NotDrawn(f"figure {name}", "no good cell with a runtime in cycles of a TLB-sensitive workload")
    return picks[:1] if len({pick[:2] for pick in picks}) == 1 else picks


def _pair_of_the_paper(case: CaseStudy, results: Results) -> Pick | None:
    for word in case.wanted:
        for workload, platform in results.pairs():
            parts = workload.lower().replace("_", "-").split("-")
            if platform == case.platform and set(word.split("-")) <= set(parts):
                how = "as" if word == case.wanted[0] else "stands in for"
                return Pick(workload, platform, f"{how} the paper's {case.paper}")
    return None


def _extreme_pair(case: CaseStudy, results: Results) -> Pick | None:
    analysed = set(results.analysed_pairs())
    scores = case.score(results)
    scores = scores[[pair in analysed for pair in scores.index]].dropna()
    return Pick(*scores.idxmax(), f"the pair with the {case.rule}") if len(scores) else None


def case_table(name: str, results, reference) -> pd.DataFrame:
    """Samples and predictions of the pairs, with ``choice, obtained, figure, printed`` at the end."""
    results, case = Results.of(results), CASES[name]
    parts = []
    for pick in choose_case_pairs(name, results):
        rows = curves.table(results, pick.workload, pick.platform)
        rows = rows[rows["series"].isin(("samples", *case.models))]
        if case.zoom:
            rows = _zoomed_near_1gb(name, rows, case.zoom)
        obtained = case.found(results, pick.workload, pick.platform)
        parts.append(rows.assign(choice=pick.why, obtained=obtained))
    return pd.concat(parts, ignore_index=True).assign(figure=name, printed=printed_in_words(case, reference))


def _zoomed_near_1gb(name: str, rows: pd.DataFrame, times: float) -> pd.DataFrame:
    samples = rows[rows["series"] == "samples"].set_index("layout")["runtime_cycles"]
    if ALL_1GB not in samples:
        raise NotDrawn(f"figure {name}", "the 1gb layout has no good cell")
    shown = samples[samples <= times * samples[ALL_1GB]].index
    # The two anchors define the line; without them a reader can't see where it comes from.
    return rows[rows["layout"].isin({*shown, ALL_2MB})]


@figure(
    "fig3",
    "A linear model against Mosmodel",
    "Runtime against walk cycles, with the linear models and with Mosmodel's predictions. Top: the "
    "paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish "
    "its curve as data.",
    argument="fig3",
)
@figure(
    "fig7",
    "What the Basu model predicts",
    "Runtime against TLB misses, with the line of the Basu model, which is fitted to one point. Top: the "
    "paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish "
    "its curve as data.",
    argument="fig7",
)
@figure(
    "fig8",
    "How well does a straight line describe a workload?",
    "Runtime against walk cycles for a workload that a line describes well, and for the workload that it "
    "describes worst. The paper does not publish its curve as data.",
    argument="fig8",
)
@figure(
    "fig9",
    "The slope of runtime against walk cycles",
    "A slope above 1 means that one walk cycle adds more than one cycle to the runtime. Top: the paper's "
    "pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not publish its "
    "curve as data.",
    argument="fig9",
)
@figure(
    "fig10",
    "A line, a parabola and a cubic in walk cycles",
    "The best line, parabola and cubic in walk cycles. The paper does not publish its curves as data. If"
    " the line's error is largest for the paper's pair, the figure shows only that pair.",
    argument="fig10",
)
@figure(
    "fig11",
    "Predicting 1GB pages",
    "No model was fitted to the 1GB layout: the models predict its runtime from its H, M and C. Top: "
    "the paper's pair or its stand-in. Bottom: the most extreme pair of this run. The paper does not "
    "publish its curve as data.",
    argument="fig11",
)
@figure(
    "opera-fig2",
    "The 1GB run and its linear prediction",
    "OPERA Figure 2: runtime against walk cycles near zero, with the line through the 4KB and 2MB runs "
    "and the cubic in C. The 1GB run lies above the line: a design that removes all walks gains less "
    "than the line predicts.",
    argument="opera-fig2",
)
@figure(
    "opera-fig4",
    "Does R = C + \u03b2 predict too much?",
    "OPERA Figure 4: the model that adds every walk cycle to the runtime (Pham there, Alam in "
    "MICRO'20), fitted to the 2MB run, against all layouts. Walks overlap with other work, so the "
    "predicted runtime of the 4KB run is too high.",
    argument="opera-fig4",
)
@figure(
    "opera-fig5",
    "Does R = C + \u03b2 predict too little?",
    "OPERA Figure 5: the same model for a workload where one walk cycle adds more than one cycle.",
    argument="opera-fig5",
)
@figure(
    "opera-fig7",
    "Does a line describe this workload?",
    "OPERA Figure 7: runtime against walk cycles with the best line through all layouts.",
    argument="opera-fig7",
)
@figure(
    "opera-fig8",
    "Polynomials of degree one to three",
    "OPERA Figure 8: the best line, parabola and cubic in walk cycles through all layouts.",
    argument="opera-fig8",
)
@figure(
    "opera-fig9",
    "Is the slope above 1?",
    "OPERA Figure 9: the best line through all layouts of the paper's workload, and the steepest line "
    "of this run. With a slope above 1, removing a walk saves more cycles than the walk takes.",
    argument="opera-fig9",
)
def draw_case(name: str, results, reference):
    """A panel per pair: samples, the case's models, and in words what was obtained and what is printed."""
    results, case = Results.of(results), CASES[name]
    rows = case_table(name, results, reference)
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


def printed_in_words(case: CaseStudy, reference) -> str:
    """The paper's printed numbers: ``Yaniv 10%, Mosmodel 1%; the curve is not published as data``."""
    bounds = {"equal": "", "below": "below "}
    parts = [
        f"{style.model_look(row.model).label} {bounds.get(row.bound, row.bound + ' ')}{row.value:g}%"
        + (" too low" if row.statistic == "optimism" else "")
        for location in case.printed
        for row in published.published_figure_errors(reference, location).itertuples()
        if row.model in style.PAPER_MODELS
    ]
    for quantity, words in case.values:
        number = published.opera_value(reference, quantity)
        if number is not None:
            parts.append(words.format(f"{number:g}"))
    return "; ".join([", ".join(parts)] * bool(parts) + ["the curve is not published as data"])


# MICRO'20 table 7 and OPERA table 6 (one measurement): counters of a workload with 4KB and 2MB pages.
#
# With 4KB pages the walker's own loads come on top, and page tables evict program data. Drawn for the pairs
# of figure 9: what stands in for the paper's xalancbmk on Broadwell, the published numbers, and the steepest
# pair.

#: counter -> (title, unit when counts are billions)
COUNTERS = {
    "runtime_cycles": "runtime",
    "walk_cycles": "walk cycles",
    "tlb_misses": "TLB misses",
    "l1d_loads": "L1d loads",
    "l2_loads": "L2 loads",
    "l3_loads": "L3 loads",
}
SIDES = ("program", "walker")
_COUNTER_LAYOUTS = {name: PAGE_SIZE_OF[name] for name in (ALL_4KB, ALL_2MB)}
_COUNTER_COLUMNS = [
    "source",
    "provenance",
    "workload",
    "platform",
    "choice",
    "pages",
    "side",
    "counter",
    "count",
]


def counters_table(results, reference) -> pd.DataFrame:
    """Columns of :data:`_COUNTER_COLUMNS`: one count a row; the paper's rows have the source ``paper``."""
    results = Results.of(results)
    picks = choose_case_pairs("fig9", results)
    rows = [row for pick in picks for row in _counters_of_pair(results, pick)]
    ours = pd.DataFrame(rows, columns=_COUNTER_COLUMNS)
    if ours.loc[ours["counter"].str.endswith("_loads"), "count"].isna().all():
        raise NotDrawn("figure table7", f"{picks[0].workload} on {picks[0].platform} has no load counts")
    paper = published.published_counters(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", choice="as printed")
    return pd.concat([ours, paper]).reindex(columns=_COUNTER_COLUMNS).reset_index(drop=True)


def _counters_of_pair(results: Results, pick) -> list[tuple]:
    samples = results.samples(pick.workload, pick.platform).set_index("layout")
    rows = []
    for layout, pages in _COUNTER_LAYOUTS.items():
        if layout not in samples.index:
            raise NotDrawn("figure table7", f"{pick.workload} on {pick.platform} has no good {layout} cell")
        cell = samples.loc[layout]
        counts = {("program", name): cell[name] for name in ("runtime_cycles", "walk_cycles")}
        counts["program", "tlb_misses"] = cell["stlb_misses"]
        for side in SIDES:
            counts |= {(side, name): cell[f"{side}_{name}"] for name in COUNTERS if name.endswith("_loads")}
        about = ("Tessera", "simulated", pick.workload, pick.platform, pick.why, pages)
        rows += [(*about, side, name, count) for (side, name), count in counts.items()]
    return rows


@figure(
    "table7",
    "Cache loads of the program and of the page walker",
    "Runtime, walk cycles, TLB misses and loads of the program and of the page walker that reached each"
    " level, with 4KB and with 2MB pages: the paper's xalancbmk as printed (MICRO'20 Table 7, the same "
    "measurement as OPERA Table 6), its stand-in, and the pair with the largest slope.",
)
def draw_counters(results, reference):
    """A row of panels per pair, published ones in the middle; bars: program below, walker above."""
    rows = counters_table(results, reference)
    groups = [group for _, group in rows.groupby(["source", "workload", "platform"], sort=False)]
    groups.sort(key=lambda g: (g["choice"].iloc[0].startswith("the pair"), g["source"].iloc[0] == "paper"))
    figure = style.empty_figure(width=style.WIDTH, height=0.7 + 3.4 * len(groups))
    parts = figure.subfigures(len(groups), 1, squeeze=False)[:, 0]
    for part, mine in zip(parts, groups, strict=True):
        spot = mine.iloc[0]
        with style.context():
            words = style.wrapped(
                f"{spot['provenance']}: {spot['workload']} on {spot['platform']}, {spot['choice']}"
            )
            part.suptitle(words, x=0.02, ha="left", fontsize=9)
            all_axes = part.subplots(2, 3).ravel()
        for axes, (counter, title) in zip(all_axes, COUNTERS.items(), strict=True):
            here = mine[mine["counter"] == counter]
            scale, unit = style.count_unit(here["count"].max())
            _counter_bars(axes, here, scale)
            axes.set_title(f"{title} ({unit})", fontsize=8.5)
    style.legend_below(figure, all_axes)
    style.headline(figure, "Counters with 4KB and with 2MB pages", "simulated, beside published")
    return figure, rows


def _counter_bars(axes, rows: pd.DataFrame, scale: float) -> None:
    wide = rows.pivot_table(index="pages", columns="side", values="count", dropna=False) / scale
    wide = wide.reindex(index=list(_COUNTER_LAYOUTS.values()), columns=list(SIDES)).fillna(0)
    places = range(len(wide))
    axes.bar(places, wide["program"], width=0.6, color=style.SKY, edgecolor=style.INK, label="program")
    axes.bar(
        places,
        wide["walker"],
        width=0.6,
        bottom=wide["program"],
        color=style.VERMILLION,
        edgecolor=style.INK,
        hatch="///",
        label="page walker",
    )
    for place, total in zip(places, wide.sum(axis=1), strict=True):
        axes.annotate(
            f"{total:.4g}", (place, total), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_xticks(list(places), list(wide.index))
    axes.set_yticks([])
    axes.set_ylim(0, max(wide.sum(axis=1).max() * 1.25, 1e-12))
    axes.set_xlim(-0.7, 1.7)
    axes.grid(False)


# OPERA figure 10: runtime against walk cycles, with the number of 2MB pages (mcf, SandyBridge).
#
# Every layout is drawn; those with room for it get their number. The lower panel shows the fastest ones
# closer.

_CLOSE_TO_FASTEST = 0.12  #: of the range of runtimes is shown in the lower panel
_PAGE_COUNT_COLUMNS = ["layout", "pages_2mb", "walk_cycles", "stlb_misses", "runtime_cycles"]


def page_count_points(results: Results, workload: str, platform: str) -> pd.DataFrame | None:
    """Columns of :data:`_PAGE_COUNT_COLUMNS` for the fitted layouts; None without a manifest or cells."""
    manifest = results.read(MANIFEST, workload, platform, expected=False)
    rows = results.samples(workload, platform).merge(manifest[["layout", "pages_2mb"]], on="layout")
    rows = rows[rows["layout"] != ALL_1GB]
    return rows[_PAGE_COUNT_COLUMNS].reset_index(drop=True) if len(rows) else None


def compare_all_2mb(rows: pd.DataFrame) -> FewerPages | None:
    """What all-2MB loses, from the rows of :func:`page_count_points`."""
    by_name = rows.set_index("layout")
    return against_fewer_pages(by_name["runtime_cycles"], by_name["pages_2mb"])


def choose_page_count_pair(results: Results) -> tuple[str, str, str]:
    """The paper's pair or its stand-in, else the analysed pair that loses most with all pages."""
    for workload, platform in results.pairs():
        if platform == cases.SANDYBRIDGE and (workload == "network-simplex" or "mcf" in workload.split("-")):
            return workload, platform, "stands in for the paper's spec06/mcf on SandyBridge"
    losses = {}
    for pair in results.analysed_pairs():
        rows = page_count_points(results, *pair)
        found = compare_all_2mb(rows) if rows is not None else None
        if found:
            losses[pair] = found.loss
    if not losses:
        raise NotDrawn("figure opera-fig10", "no pair has layouts with a count of 2MB pages")
    return *max(losses, key=losses.get), "the pair where all-2MB loses most"


def page_count_table(results, reference) -> pd.DataFrame:
    """Every layout with its pages and counters; ``fastest`` marks the fastest with fewer than all pages."""
    results = Results.of(results)
    workload, platform, why = choose_page_count_pair(results)
    rows = page_count_points(results, workload, platform)
    found = compare_all_2mb(rows) if rows is not None else None
    if found is None:
        raise NotDrawn("figure opera-fig10", f"{workload} on {platform} lacks the all-2MB layout")
    return rows.assign(
        fastest=rows["layout"] == found.fastest, workload=workload, platform=platform, choice=why,
        loss_of_all_2mb=found.loss, printed=_printed_page_counts(reference), provenance="simulated",
    )  # fmt: skip


def _printed_page_counts(reference) -> str:
    names = ("mcf_best_pages", "mcf_all_pages", "mcf_degradation")
    best, everything, loss = (published.opera_value(reference, name) for name in names)
    words = f"{everything:g} pages of 2MB are {loss:g}% slower than {best:g}; " if best else ""
    return f"{words}the curve is not published as data"


@figure(
    "opera-fig10",
    "Is the layout with the most large pages the fastest?",
    "OPERA Figure 10: runtime against walk cycles of the growing layouts and of the fastest layout. The "
    "numbers are the 2MB pages in use. In OPERA, 87 pages are 6% faster than all 832.",
)
def draw_page_counts(results, reference):
    """Runtime against walk cycles: all layouts above, the fastest below."""
    rows = page_count_table(results, reference)
    spot = rows.iloc[0]
    figure, (whole, close) = style.panels(2, 1, width=style.WIDTH, height=7.2)
    low, high = rows["runtime_cycles"].min(), rows["runtime_cycles"].max()
    scale, unit = style.count_unit(high)
    for axes, shown in (
        (whole, rows),
        (close, rows[rows["runtime_cycles"] <= low + _CLOSE_TO_FASTEST * (high - low)]),
    ):
        _page_count_panel(axes, shown, scale)
        axes.set_ylabel(f"runtime (cycles, {unit})")
    loss = spot["loss_of_all_2mb"]
    obtained = f"{style.percent_text(abs(loss))} {'slower' if loss > 0 else 'faster'}"
    words = style.wrapped(
        f"{spot['workload']} on {spot['platform']}: {spot['choice']}; labels are 2MB pages",
        f"obtained: all 2MB pages are {obtained} than the best with fewer", f"paper: {spot['printed']}",
    )  # fmt: skip
    whole.set_title(words, fontsize=8.5, color=style.MUTED)
    close.set_title("the fastest layouts", fontsize=8.5, color=style.MUTED)
    style.legend_below(figure, [whole])
    style.headline(figure, "Is the layout with the most large pages the fastest?", "simulated")
    return figure, rows


def _page_count_panel(axes, rows: pd.DataFrame, y_scale: float) -> None:
    x_scale, x_unit = style.count_unit(rows["walk_cycles"].max())
    x, y = rows["walk_cycles"] / x_scale, rows["runtime_cycles"] / y_scale
    for part, marker, face, size, words in (
        (~rows["fastest"] & (rows["layout"] != ALL_2MB), "o", style.PAPER, 5.5, "layouts"),
        (rows["layout"] == ALL_2MB, "s", style.BLUE, 8, "all 2MB pages"),
        (rows["fastest"], "*", style.ORANGE, 13, "fastest with fewer"),
    ):
        axes.plot(
            x[part], y[part], marker, markerfacecolor=face, markeredgecolor=style.INK, markersize=size,
            label=words, zorder=3 + size / 10,
        )  # fmt: skip
    middle = (x.max() + x.min()) / 2
    for place in _labels_with_room(rows, x, y):
        left = x[place] > middle
        axes.annotate(
            f"{rows.loc[place, 'pages_2mb']:g}", (x[place], y[place]), xytext=(-9 if left else 9, -3),
            textcoords="offset points", ha="right" if left else "left", fontsize=8.5, zorder=7,
        )  # fmt: skip
    axes.set_xlabel(f"walk cycles C ({x_unit})")


def _labels_with_room(rows: pd.DataFrame, x: pd.Series, y: pd.Series) -> list:
    """Rows whose labels don't meet: the fastest, all-2MB and all-4KB first, then in order of pages."""
    first = rows["fastest"] * 3 + (rows["layout"] == ALL_2MB) * 2 + (rows["layout"] == ALL_4KB)
    order = rows.assign(first=-first).sort_values(["first", "pages_2mb"]).index
    width, tall = (x.max() - x.min()) or 1, (y.max() - y.min()) or 1
    chosen: list = []
    for place in order:
        near = [abs(x[place] - x[o]) < 0.1 * width and abs(y[place] - y[o]) < 0.075 * tall for o in chosen]
        if not any(near):
            chosen.append(place)
    return chosen
