"""Findings over all pairs: slopes above 1, fewer huge pages beating more, predictions of the 1GB run."""

from __future__ import annotations

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.loader import platform_order, workload_order
from tessera.report.figures import case_studies, figure, published, style
from tessera.report.results import NotDrawn, Results

# A row per workload, a mark per platform: how findings over all pairs are drawn.


def pairs_of_generations(results: Results, insensitive: bool = False) -> list[tuple[str, str]]:
    """Simulated pairs of the papers' generations; this machine is no platform of a paper."""
    found = results.pairs() if insensitive else results.analysed_pairs()
    return [pair for pair in found if not pair[1].startswith("host")]


def pair_panel(
    axes, rows: pd.DataFrame, column: str, *, lowest: float | None = None, highest: float | None = None
):
    """Marks of ``column`` (rows with ``workload, platform``); values beyond the bounds stop there."""
    workloads, platforms = workload_order(rows["workload"]), platform_order(rows["platform"])
    places = {name: place for place, name in enumerate(workloads)}
    shift = {name: 0.22 * (i - (len(platforms) - 1) / 2) for i, name in enumerate(platforms)}
    for platform in platforms:
        mine = rows[rows["platform"] == platform]
        colour, marker = style.platform_mark(platform)
        axes.plot(
            mine[column].clip(lower=lowest, upper=highest),
            [places[name] + shift[platform] for name in mine["workload"]],
            marker,
            color=colour,
            markeredgecolor=style.INK,
            markeredgewidth=0.7,
            markersize=6,
            label=platform,
        )
    axes.set_yticks(range(len(workloads)), workloads, fontsize=8.5)
    axes.set_ylim(len(workloads) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def pair_rows_height(rows: pd.DataFrame, panels: int = 1) -> float:
    """Inches of a figure with so many panels of these rows."""
    return 1.6 + panels * (0.5 + 0.235 * rows["workload"].nunique())


# Slope above 1 and its evidence (MICRO'20 VII-A, Table 7; OPERA 2.5.2): do walks displace program data?
#
# The slope is (R4K - R2M) / (C4K - C2M), for the published row too, where it is 165 / 76. The evidence is
# how many more of the program's own loads reach L3 with 4KB pages than with 2MB pages.


def slope_table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, slope, line_slope, extra_l3_loads, analysed, provenance."""
    results = Results.of(results)
    lines = results.models("coefficients", analysed=False)
    lines = lines[(lines["model"] == "poly1") & (lines["term"] == "C")]
    lines = lines.set_index(["workload", "platform"])["coefficient"]
    rows = []
    for workload, platform in pairs_of_generations(results, insensitive=True):
        samples = results.samples(workload, platform).set_index("layout")
        if not {ALL_4KB, ALL_2MB} <= set(samples.index):
            continue
        small, large = samples.loc[ALL_4KB], samples.loc[ALL_2MB]
        slope = _slope_of_runs(
            small["runtime_cycles"], large["runtime_cycles"], small["walk_cycles"], large["walk_cycles"]
        )
        extra = _extra_loads(small["program_l3_loads"], large["program_l3_loads"])
        line = lines.get((workload, platform), float("nan"))
        analysed = (workload, platform) not in results.dropped
        rows.append(("Tessera", workload, platform, slope, line, extra, analysed, "simulated"))
    if not rows:
        raise NotDrawn("figure finding-slope", "no pair has a 4KB and a 2MB cell")
    columns = [
        "source",
        "workload",
        "platform",
        "slope",
        "line_slope",
        "extra_l3_loads",
        "analysed",
        "provenance",
    ]
    ours = pd.DataFrame(rows, columns=columns).dropna(subset=["slope"])
    return pd.concat([ours, _published_slope(reference, columns)], ignore_index=True)


def _published_slope(reference, columns) -> pd.DataFrame:
    rows = published.published_counters(reference)
    if rows.empty:
        return pd.DataFrame(columns=columns)
    count = rows[rows["side"] == "program"].set_index(["counter", "pages"])["count"]
    slope = _slope_of_runs(
        *(count[name, p] for name in ("runtime_cycles", "walk_cycles") for p in ("4KB", "2MB"))
    )
    extra = _extra_loads(count["l3_loads", "4KB"], count["l3_loads", "2MB"])
    spot = rows.iloc[0]
    line = float("nan")
    return pd.DataFrame(
        [("paper", spot["workload"], spot["platform"], slope, line, extra, True, "published")],
        columns=columns,
    )


def _slope_of_runs(runtime_4kb: float, runtime_2mb: float, walk_4kb: float, walk_2mb: float) -> float:
    """Runtime cycles per walk cycle; not a number where the walk cycles don't fall."""
    return (runtime_4kb - runtime_2mb) / (walk_4kb - walk_2mb) if walk_4kb > walk_2mb else float("nan")


def _extra_loads(small: float, large: float) -> float:
    return small / large - 1 if large else float("nan")


_FEW_NAMES = 5  #: so many workloads all have their names beside their marks


@figure(
    "finding-slope",
    "Does a walk cycle cost more than one cycle?",
    "Runtime per walk cycle between the 4KB and the 2MB run, against the program's extra loads that "
    "reach L3 with 4KB pages: one point per pair. Published: MICRO'20 Table 7 (the measurement of OPERA"
    " Table 6).",
    page="index.html",
)
def draw_slope(results, reference):
    """A point per pair; the published one is a diamond; the level line is slope 1."""
    rows = slope_table(results, reference)
    figure, axes = style.panels(width=style.WIDTH, height=4.4)
    ours = rows[rows["source"] == "Tessera"].dropna(subset=["extra_l3_loads"])
    for platform in platform_order(ours["platform"]):
        colour, marker = style.platform_mark(platform)
        for analysed, face, label in ((True, colour, platform), (False, style.PAPER, "not TLB-sensitive")):
            mine = ours[(ours["platform"] == platform) & (ours["analysed"] == analysed)]
            if len(mine):
                axes.plot(
                    mine["extra_l3_loads"], mine["slope"], marker, markerfacecolor=face, markersize=6.5,
                    label=label,
                    markeredgecolor=style.INK if analysed else colour,
                    markeredgewidth=0.7 if analysed else 1.6,
                )  # fmt: skip
    for row in rows[rows["source"] == "paper"].itertuples():
        axes.plot(
            row.extra_l3_loads, row.slope, "D", markersize=8, markerfacecolor=style.PAPER,
            markeredgecolor=style.INK, markeredgewidth=1.5, label=f"published: {row.workload}",
        )  # fmt: skip
    for row in _worth_a_name(ours):
        axes.annotate(
            row.workload, (row.extra_l3_loads, row.slope), xytext=(9, -3),
            textcoords="offset points", fontsize=8, color=style.MUTED,
        )  # fmt: skip
    axes.axhline(1, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.1)
    axes.annotate(
        "above: a walk costs more than its cycles", (0.99, 1), xycoords=("axes fraction", "data"),
        xytext=(0, 4), textcoords="offset points", ha="right", fontsize=8, color=style.MUTED,
    )  # fmt: skip
    axes.set_xlabel("extra L3 loads of the program with 4KB pages")
    axes.set_ylabel("slope: runtime per walk cycle")
    style.percent_axis(axes.xaxis)
    style.legend_below(figure, [axes], columns=2)
    above = int((ours["slope"] > 1).sum())
    style.headline(figure, f"Slope above 1 in {above} of {len(ours)} pairs", "simulated, beside published")
    return figure, rows


def _worth_a_name(ours: pd.DataFrame) -> list:
    """The steepest pair of each workload; of many workloads only those above 1, or the steepest of all."""
    steepest = ours.sort_values("slope", ascending=False).drop_duplicates("workload")
    above = steepest[steepest["slope"] > 1]
    few = len(steepest) <= _FEW_NAMES
    return list((steepest if few else above if len(above) else steepest.head(1)).itertuples())


# Fewer huge pages beating more (OPERA 2.5.3): all-2MB against the fastest layout with fewer 2MB pages.

CLEAR_LOSS = 0.005  #: a loss above this is no sampling noise (claim opera-fewer-pages-win)


def fewer_pages_table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, loss (fraction), fastest, fastest_pages, all_pages, provenance."""
    results = Results.of(results)
    rows = []
    for workload, platform in pairs_of_generations(results):
        points = case_studies.page_count_points(results, workload, platform)
        found = case_studies.compare_all_2mb(points) if points is not None else None
        if found is not None:
            rows.append(("Tessera", workload, platform, *found, "simulated"))
    if not rows:
        raise NotDrawn("figure finding-fewer-pages", "no analysed pair has layouts with a count of 2MB pages")
    columns = [
        "source",
        "workload",
        "platform",
        "loss",
        "fastest",
        "fastest_pages",
        "all_pages",
        "provenance",
    ]
    ours = pd.DataFrame(rows, columns=columns)
    loss = published.opera_value(reference, "mcf_degradation")
    if loss is None:
        return ours
    pages = [published.opera_value(reference, f"mcf_{which}_pages") for which in ("best", "all")]
    paper = ("paper", "spec06/mcf", "sandybridge", loss / 100, "", *pages, "published")
    return pd.concat([ours, pd.DataFrame([paper], columns=columns)], ignore_index=True)


@figure(
    "finding-fewer-pages",
    "Do fewer large pages beat more?",
    "How much slower the all-2MB layout is than the fastest layout with fewer 2MB pages. Published: "
    "OPERA Figure 10's 6% for mcf on SandyBridge.",
    page="index.html",
)
def draw_fewer_pages(results, reference):
    """A row per workload; right of zero fewer pages are faster; the published value is a line."""
    rows = fewer_pages_table(results, reference)
    ours, paper = rows[rows["source"] == "Tessera"], rows[rows["source"] == "paper"]
    figure, axes = style.panels(width=style.WIDTH, height=pair_rows_height(ours))
    pair_panel(axes, ours, "loss")
    axes.axvline(0, color=style.MUTED, linewidth=1)
    for row in paper.itertuples():
        axes.axvline(
            row.loss, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.2,
            label=f"published: {row.workload} on {row.platform}, {style.percent_text(row.loss)}",
        )  # fmt: skip
    axes.set_xlabel("all-2MB slower than the fastest with fewer 2MB pages")
    style.percent_axis(axes.xaxis)
    style.legend_below(figure, [axes], columns=2)
    wins = int((ours["loss"] > CLEAR_LOSS).sum())
    title = f"Fewer 2MB pages clearly faster in {wins} of {len(ours)} pairs"
    style.headline(figure, title, "simulated, beside published")
    return figure, rows


# The 1GB run, never fitted, as test point of all pairs (MICRO'20 VII-D, Figure 11; OPERA 2.1, Figure 2).

ONE_GB_MODELS = ("yaniv", "mosmodel", "mosmodel-authors")
_ONE_GB_FLOOR = 1e-4


def one_gb_table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, model, error (fraction of the runtime), provenance, note."""
    errors = Results.of(results).models("errors")
    errors = errors[(errors["protocol"] == ALL_1GB) & errors["model"].isin(ONE_GB_MODELS)]
    if errors.empty:
        raise NotDrawn("figure finding-1gb", "no model predicted a 1GB run (models/errors.csv)")
    ours = errors.rename(columns={"max_error": "error"}).assign(
        source="Tessera", provenance="simulated", note=""
    )
    paper = published.published_figure_errors(reference, "Figure 11")
    parts = [ours]
    if len(paper):
        paper = paper.assign(error=paper["value"] / 100, source="paper", note="MICRO'20 Figure 11")
        parts.append(paper[paper["model"].isin(ONE_GB_MODELS)])
    ratio = published.opera_value(reference, "linear_deviation")
    if ratio:
        # Printed relative to the prediction; errors here are relative to the runtime (equation 1).
        note = f"OPERA Figure 2: runtime {ratio:g} times the prediction, 1 - 1/{ratio:g}"
        row = dict(workload="GUPS/4GB", platform="not named", model="yaniv", error=1 - 1 / ratio, note=note)
        parts.append(pd.DataFrame([row | dict(source="paper", provenance="published")]))
    columns = ["source", "workload", "platform", "model", "error", "provenance", "note"]
    return pd.concat(parts, ignore_index=True)[columns]


def pairs_worse_at_1gb(
    errors: pd.DataFrame, model: str = "mosmodel", other: str = "yaniv"
) -> tuple[int, int]:
    """(pairs where ``model`` has the larger error at 1GB, pairs with both errors), from models/errors.csv."""
    at_1gb = errors[(errors["protocol"] == ALL_1GB) & errors["model"].isin([model, other])]
    both = at_1gb.pivot_table(index=["workload", "platform"], columns="model", values="max_error")
    both = both.reindex(columns=[model, other]).dropna()
    return int((both[model] > both[other]).sum()), len(both)


@figure(
    "finding-1gb",
    "Which models predict 1GB pages?",
    "Error at the 1GB run: the line through the 4KB and 2MB runs (Yaniv), and Mosmodel, ours and its "
    "authors'. None was fitted to this run. The paper prints the numbers of two pairs. Log scale; errors "
    "below 0.01% are drawn at the border.",
    page="index.html",
)
def draw_one_gb(results, reference):
    """A panel per model, a row per workload; published errors are lines."""
    rows = one_gb_table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    errors = Results.of(results).models("errors")
    models = [
        name for name in ONE_GB_MODELS if style.printed_model(name) == name or name in set(ours["model"])
    ]
    figure, all_axes = style.panels(
        len(models), 1, width=style.WIDTH, height=pair_rows_height(ours, len(models)), sharex=True
    )
    dashes = ((0, (5, 3)), (0, (1, 1.5)))
    for axes, model in zip(all_axes, models, strict=True):
        mine = ours[ours["model"] == model]
        if len(mine):
            pair_panel(axes, mine, "error", lowest=_ONE_GB_FLOOR)
        printed = rows[(rows["source"] == "paper") & (rows["model"] == style.printed_model(model))]
        for row, dash in zip(printed.itertuples(), dashes, strict=False):
            words = f"{style.model_look(row.model).label}, {row.workload}, {style.percent_text(row.error)}"
            axes.axvline(
                row.error, color=style.INK, linestyle=dash, linewidth=1.3, label=f"published: {words}"
            )
        axes.set_xscale("log")
        above = int((mine["error"] > 0.01).sum())
        title = f"{style.model_look(model).label}: above 1% in {above} of {len(mine)} pairs"
        larger, pairs = pairs_worse_at_1gb(errors, model) if model != "yaniv" else (0, 0)
        axes.set_title(f"{title}, above Yaniv's in {larger} of {pairs}" if pairs else title)
        style.percent_axis(axes.xaxis)
    all_axes[0].set_xlim(_ONE_GB_FLOOR / 1.5, max(1.0, ours["error"].max() * 1.5))
    all_axes[-1].set_xlabel("error at 1GB, relative to the runtime (log scale)")
    style.legend_below(figure, all_axes, columns=2)
    style.headline(figure, "Predicting 1GB pages, all pairs", "simulated, beside published")
    return figure, rows
