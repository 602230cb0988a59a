"""Runtime of every layout against walk cycles and TLB misses, with the models' predictions.

A model's curve joins its predictions for the same layouts, in order of the x axis: for a polynomial in C this
is the polynomial itself; for models with several inputs it shows what they predict at the measured (H, M, C).
"""

from __future__ import annotations

import pandas as pd

from tessera.figures import style
from tessera.figures.tables import ANCHORS, NotDrawn, Results

#: (column, words, models drawn on that axis)
AXES = (
    ("walk_cycles", "walk cycles C", ("basu", "yaniv", "poly1", "poly3", "mosmodel")),
    ("stlb_misses", "TLB misses M", ("basu", "gandhi", "mosmodel")),
)


def table(results, workload: str, platform: str, models=tuple(style.MODELS)) -> pd.DataFrame:
    """Columns: layout, series (``simulated`` or a model), runtime_cycles, H, M, C, provenance."""
    results = Results.of(results)
    samples = results.samples(workload, platform)
    if samples.empty:
        raise NotDrawn(f"curves of {workload} on {platform}", "no good cell with a runtime in cycles")
    inputs = ["layout", "stlb_hits", "stlb_misses", "walk_cycles"]
    provenance = samples["runtime_provenance"].iloc[0] or "simulated"
    rows = [samples[[*inputs, "runtime_cycles", "runtime_cycles_ci95"]].assign(series="samples")]
    found = results.predictions
    found = found[(found["workload"] == workload) & (found["platform"] == platform)]
    found = found[found["model"].isin(models)]
    joined = found.merge(samples[inputs], on="layout")
    joined = joined.rename(columns={"predicted_runtime_cycles": "runtime_cycles", "model": "series"})
    rows.append(joined[[*inputs, "runtime_cycles", "series"]])
    tidy = pd.concat(rows, ignore_index=True).assign(workload=workload, platform=platform)
    tidy["provenance"] = provenance
    first = ["workload", "platform", "series", "layout", "runtime_cycles", "runtime_cycles_ci95"]
    return tidy[[*first, *inputs[1:], "provenance"]]


def draw(results, reference, workload: str, platform: str):
    """Two panels: against C and against M."""
    rows = table(results, workload, platform, {model for _, _, models in AXES for model in models})
    figure, (left, right) = style.panels(1, 2, width=9.6, height=4.1, sharey=True)
    for axes, (column, words, models) in zip((left, right), AXES, strict=True):
        panel(axes, rows, column, words, models)
    right.set_ylabel("")
    handles, labels = left.get_legend_handles_labels()
    more = [pair for pair in zip(*right.get_legend_handles_labels(), strict=True) if pair[1] not in labels]
    figure.legend(
        handles + [h for h, _ in more],
        labels + [t for _, t in more],
        loc="outside lower center",
        ncols=7,
        columnspacing=1.2,
    )
    style.headline(figure, f"{workload} on {platform}", rows["provenance"].iloc[0])
    return figure, rows


def panel(axes, rows: pd.DataFrame, column: str, words: str, models) -> None:
    """Samples, anchors and the models' curves on one pair of axes."""
    samples = rows[rows["series"] == "samples"].sort_values(column)
    x_scale, x_unit = style.count_unit(rows[column].max())
    y_scale, y_unit = style.count_unit(samples["runtime_cycles"].max())
    for model in models:
        label, colour, _, dash = style.MODELS[model]
        line = rows[rows["series"] == model].sort_values(column)
        if len(line):
            axes.plot(
                line[column] / x_scale,
                line["runtime_cycles"] / y_scale,
                dash,
                color=colour,
                label=label,
                zorder=3 if model != "mosmodel" else 3.5,
            )
    fitted = samples[samples["layout"] != "1gb"]
    bars = fitted["runtime_cycles_ci95"].fillna(0) / y_scale
    axes.errorbar(
        fitted[column] / x_scale,
        fitted["runtime_cycles"] / y_scale,
        yerr=bars,
        fmt="o",
        markersize=4.6,
        markerfacecolor=style.PAPER,
        markeredgecolor=style.INK,
        ecolor=style.MUTED,
        markeredgewidth=1.0,
        elinewidth=0.8,
        zorder=4,
        label="layouts",
    )
    test = samples[samples["layout"] == "1gb"]
    if len(test):
        axes.plot(
            test[column] / x_scale,
            test["runtime_cycles"] / y_scale,
            "*",
            markersize=12,
            markerfacecolor=style.ORANGE,
            markeredgecolor=style.INK,
            zorder=5,
            label="1GB (test point)",
        )
    for layout, name in ANCHORS.items():
        spot = samples[samples["layout"] == layout]
        if len(spot):
            axes.annotate(
                name,
                (spot[column].iloc[0] / x_scale, spot["runtime_cycles"].iloc[0] / y_scale),
                xytext=(5, -11 if layout != "1gb" else 7),
                textcoords="offset points",
                fontsize=8,
                color=style.MUTED,
            )
    axes.set_xlabel(f"{words} ({x_unit})")
    axes.set_ylabel(f"runtime (cycles, {y_unit})")
    _limits(axes, rows, models, samples, y_scale)


def _limits(axes, rows: pd.DataFrame, models, samples: pd.DataFrame, scale: float) -> None:
    """Keep the samples readable: a wild prediction may leave the picture (its value is in the data)."""
    low, high = samples["runtime_cycles"].min() / scale, samples["runtime_cycles"].max() / scale
    span = (high - low) or high or 1.0
    drawn = rows[rows["series"].isin(models)]["runtime_cycles"] / scale
    bottom = max(low - 1.2 * span, drawn.min() if len(drawn) else low)
    top = min(high + 1.2 * span, drawn.max() if len(drawn) else high)
    axes.set_ylim(min(bottom, low) - 0.08 * span, max(top, high) + 0.08 * span)
