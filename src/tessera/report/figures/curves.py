"""Runtime of every layout against walk cycles and TLB misses, with the models' predictions.

A model's curve joins its predictions for the same layouts, in order of the x axis: for a polynomial in C this
is the polynomial itself. Models with other inputs are marks: what they predict at the layout's (H, M, C).
"""

from __future__ import annotations

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.core.results.loader import Pair
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

#: (column, words, models of the paper drawn on that axis; others are drawn on both)
AXES = (
    ("walk_cycles", "walk cycles C", ("basu", "yaniv", "poly1", "poly3", "mosmodel")),
    ("stlb_misses", "TLB misses M", ("basu", "gandhi", "mosmodel")),
)
#: intervals wider than this share of the range of runtimes are said in words
_WIDE = 0.25
#: offsets of the anchors' names in points: 2MB and 1GB often share a place
_ABOVE = {ALL_4KB: 5, ALL_2MB: -11, ALL_1GB: 6}


def table(results, workload: str, platform: str, models=None) -> pd.DataFrame:
    """Columns: layout, series (``samples`` or a model), runtime_cycles, H, M, C, provenance.

    ``models``: the named ones; all that were fitted if it is None.
    """
    results = Results.of(results)
    samples = results.samples(workload, platform)
    if samples.empty:
        raise NotDrawn(f"curves of {workload} on {platform}", "no good cell with a runtime in cycles")
    inputs = ["layout", "stlb_hits", "stlb_misses", "walk_cycles"]
    provenance = samples["runtime_provenance"].iloc[0] or "simulated"
    rows = [samples[[*inputs, "runtime_cycles", "runtime_cycles_ci95"]].assign(series="samples")]
    found = Pair(workload, platform).rows(results.models("predictions", analysed=False))
    if models is not None:
        found = found[found["model"].isin(models)]
    joined = found.merge(samples[inputs], on="layout")
    joined = joined.rename(columns={"predicted_runtime_cycles": "runtime_cycles", "model": "series"})
    rows.append(joined[[*inputs, "runtime_cycles", "series"]])
    tidy = pd.concat(rows, ignore_index=True).assign(workload=workload, platform=platform)
    tidy["provenance"] = provenance
    first = ["workload", "platform", "series", "layout", "runtime_cycles", "runtime_cycles_ci95"]
    return tidy[[*first, *inputs[1:], "provenance"]]


@figure(
    "curves",
    "Runtime and the models' curves",
    "Every layout's runtime against walk cycles and against TLB misses, with what the models "
    "predict for the same layouts.",
    per_pair=True,
)
def draw(results, reference, workload: str, platform: str):
    """Two panels, one above the other: against C and against M."""
    rows = table(results, workload, platform)
    others = style.models_beyond_the_paper(set(rows["series"]) - {"samples"})
    drawn = {model for _, _, models in AXES for model in models} | {"samples", *others}
    rows = rows[rows["series"].isin(drawn)].reset_index(drop=True)
    figure, both = style.panels(2, 1, width=style.WIDTH, height=6.6)
    for axes, (column, words, models) in zip(both, AXES, strict=True):
        panel(axes, rows, column, words, (*models, *others))
    style.legend_below(figure, both, columns=4)
    style.headline(
        figure, f"{workload} on {platform}, effective n = {effective_n(rows)}", rows["provenance"].iloc[0]
    )
    return figure, rows


def effective_n(rows: pd.DataFrame) -> int:
    """Distinct (H, M, C) rows that models are fitted to."""
    fitted = rows[(rows["series"] == "samples") & (rows["layout"] != ALL_1GB)]
    return len(fitted.drop_duplicates(["stlb_hits", "stlb_misses", "walk_cycles"]))


def panel(axes, rows: pd.DataFrame, column: str, words: str, models, aliases=None) -> None:
    """Samples, anchors and the models' predictions on one pair of axes.

    A model whose only input is on the x axis is a line; one with other inputs is a mark at each layout, since
    a line through them would zigzag for no reason that the picture shows.
    """
    samples = rows[rows["series"] == "samples"].sort_values(column)
    x_scale, x_unit = style.count_unit(rows[column].max())
    y_scale, y_unit = style.count_unit(samples["runtime_cycles"].max())
    for model in models:
        label, colour, marker, dash = style.model_look(model)
        label = (aliases or {}).get(model, label)
        line = rows[rows["series"] == model].sort_values(column)
        if line.empty:
            continue
        x, y = line[column] / x_scale, line["runtime_cycles"] / y_scale
        if style.only_input(model) == column:
            axes.plot(x, y, dash, color=colour, label=label, zorder=3)
        else:
            axes.plot(x, y, marker, color=colour, markersize=3.2, label=label, zorder=4.5)
        test = line[line["layout"] == ALL_1GB]
        axes.plot(
            test[column] / x_scale, test["runtime_cycles"] / y_scale, marker, color=colour,
            markeredgecolor=style.INK, markersize=8, zorder=6,
        )  # fmt: skip
    _samples(axes, samples, column, x_scale, y_scale)
    _anchors(axes, samples, column, x_scale, y_scale)
    axes.set_xlabel(f"{words} ({x_unit})")
    axes.set_ylabel(f"runtime (cycles, {y_unit})")
    _limits(axes, rows, models, samples, y_scale)


def _samples(axes, samples: pd.DataFrame, column: str, x_scale: float, y_scale: float) -> None:
    fitted = samples[samples["layout"] != ALL_1GB]
    x, y = fitted[column] / x_scale, fitted["runtime_cycles"] / y_scale
    bars = fitted["runtime_cycles_ci95"].fillna(0) / y_scale
    look = dict(markersize=6, markerfacecolor=style.PAPER, markeredgecolor=style.INK, markeredgewidth=1.0)
    wide = bars.median() > _WIDE * ((y.max() - y.min()) or 1)
    if wide:
        # The layouts share their samples, so differences are far sharper than each interval: bars that
        # leave the picture would hide that and the points.
        axes.plot(x, y, "o", zorder=4, label="layouts", **look)
        half = style.percent_text(float((bars / y).median()))
        axes.annotate(
            f"95% interval of each runtime: \u00b1{half} (common to all layouts)",
            (0.985, 0.03), xycoords="axes fraction", ha="right", fontsize=7.5, color=style.MUTED,
        )  # fmt: skip
    else:
        axes.errorbar(
            x, y, yerr=bars, fmt="o", ecolor=style.MUTED, elinewidth=0.8, zorder=4, label="layouts", **look
        )
    test = samples[samples["layout"] == ALL_1GB]
    if len(test):
        axes.plot(
            test[column] / x_scale, test["runtime_cycles"] / y_scale, "*", markersize=12,
            markerfacecolor=style.ORANGE, markeredgecolor=style.INK, zorder=5, label="1GB (test point)",
        )  # fmt: skip


def _anchors(axes, samples: pd.DataFrame, column: str, x_scale: float, y_scale: float) -> None:
    """Names beside the runs with one page size; to the left at the right border, else to the right."""
    middle = samples[column].max() / x_scale / 2
    for layout, name in PAGE_SIZE_OF.items():
        spot = samples[samples["layout"] == layout]
        if len(spot):
            x, y = spot[column].iloc[0] / x_scale, spot["runtime_cycles"].iloc[0] / y_scale
            right = x > middle
            axes.annotate(
                name, (x, y), xytext=(-9 if right else 10, _ABOVE[layout]), textcoords="offset points",
                ha="right" if right else "left", fontsize=8.5, fontweight="bold", color=style.INK, zorder=7,
                bbox=dict(facecolor=style.PAPER, edgecolor="none", alpha=0.75, pad=0.5),
            )  # fmt: skip


def _limits(axes, rows: pd.DataFrame, models, samples: pd.DataFrame, scale: float) -> None:
    """Keep the samples readable: a wild prediction may leave the picture (its value is in the data)."""
    low, high = samples["runtime_cycles"].min() / scale, samples["runtime_cycles"].max() / scale
    span = (high - low) or high or 1.0
    drawn = rows[rows["series"].isin(models)]["runtime_cycles"] / scale
    bottom = max(low - 1.2 * span, drawn.min() if len(drawn) else low)
    top = min(high + 1.2 * span, drawn.max() if len(drawn) else high)
    axes.set_ylim(min(bottom, low) - 0.16 * span, max(top, high) + 0.08 * span)
