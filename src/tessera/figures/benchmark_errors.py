"""MICRO'20 figures 5 and 6: errors of the nine models per workload, one panel per platform."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.figures import published, style
from tessera.figures.tables import NotDrawn, Results, platform_order, workload_order

_TITLES = {
    "max_error": ("Largest error per workload", "largest relative error", "Figure 5"),
    "geomean_error": ("Geometric mean error per workload", "geometric mean error", "Figure 6"),
}
_FLOOR = 1e-5  #: errors below 0.001% are drawn at the border


def table(column: str, results) -> pd.DataFrame:
    """Columns: platform, workload, model, <column>, dropped_zero_errors, provenance."""
    errors = Results.of(results).errors
    errors = errors[(errors["protocol"] == "all") & errors["model"].isin(style.MODELS)]
    if errors.empty:
        raise NotDrawn(f"figure of {column}", "no model was fitted (models/errors.csv has no rows)")
    rows = errors[["platform", "workload", "model", column, "dropped_zero_errors"]]
    return rows.assign(provenance="simulated").reset_index(drop=True)


def draw(column: str, results, reference):
    """Grouped bars on a log scale."""
    results = Results.of(results)
    rows = table(column, results)
    platforms = platform_order(rows["platform"])
    workloads = workload_order(rows["workload"])
    width = max(7.6, 0.62 * len(workloads) + 1.6)
    figure, all_axes = style.panels(
        len(platforms),
        1,
        width=width,
        height=1.2 + 2.2 * len(platforms),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    lines = [
        (row.value / 100, f"paper: {style.MODELS[row.model][0]} typically below {row.value:g}%")
        for row in published.printed(reference, _TITLES[column][2]).itertuples()
    ]
    step = 0.86 / len(style.MODELS)
    places = np.arange(len(workloads))
    for axes, platform in zip(all_axes[:, 0], platforms, strict=True):
        here = rows[rows["platform"] == platform]
        for index, (model, (label, colour, _, _)) in enumerate(style.MODELS.items()):
            values = here[here["model"] == model].set_index("workload")[column].reindex(workloads)
            heights = values.clip(lower=_FLOOR)
            axes.bar(
                places - 0.43 + (index + 0.5) * step,
                heights,
                width=step,
                color=colour,
                edgecolor=style.INK,
                linewidth=0.3,
                label=label,
            )
        for place, workload in zip(places, workloads, strict=True):
            if workload not in set(here["workload"]):
                axes.text(
                    place,
                    _FLOOR * 2,
                    results.why_absent(workload, platform),
                    rotation=90,
                    ha="center",
                    va="bottom",
                    fontsize=7.5,
                    color=style.MUTED,
                )
        for value, words in lines:
            axes.axhline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.1, label=words)
        axes.set_yscale("log")
        axes.set_ylim(_FLOOR, max(2.0, rows[column].max() * 1.3))
        axes.set_xlim(-0.6, len(workloads) - 0.4)
        axes.set_title(platform)
        axes.grid(False, axis="x")
        style.percent_axis(axes.yaxis)
    middle = all_axes[len(platforms) // 2, 0]
    middle.set_ylabel(f"{_TITLES[column][1]} (log scale)")
    all_axes[-1, 0].set_xticks(places, workloads, rotation=35, ha="right", rotation_mode="anchor")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, columnspacing=1.0, handlelength=1.0)
    style.headline(figure, _TITLES[column][0], "simulated")
    return figure, rows
