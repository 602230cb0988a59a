"""MICRO'20 figures 5 and 6: errors of the models per workload, one panel per platform.

The paper draws bars side by side; nine of them for 19 workloads can't be read on a small screen, so this is
the same picture on its side: a row per workload, a mark per model, the error on the same log scale.
"""

from __future__ import annotations

import pandas as pd

from tessera.results.pair import platform_order, workload_order
from tessera.show.figures import looks, published, style
from tessera.show.results import NotDrawn, Results

_TITLES = {
    "max_error": ("Largest error per workload", "largest relative error", "Figure 5"),
    "geomean_error": ("Geometric mean error per workload", "geometric mean error", "Figure 6"),
}
_FLOOR = 1e-5  #: errors below 0.001% are drawn at the border


def table(column: str, results, reference) -> pd.DataFrame:
    """Columns: source, platform, workload, model, <column>, dropped_zero_errors, bound, provenance."""
    errors = Results.of(results).models("errors")
    errors = errors[errors["protocol"] == "all"]
    errors = errors[
        errors["model"].isin(looks.without_readings(errors["model"]))
    ]  # a tenth mark hides others
    if errors.empty:
        raise NotDrawn(f"figure of {column}", "no model was fitted (models/errors.csv has no rows)")
    rows = errors[["platform", "workload", "model", column, "dropped_zero_errors"]]
    rows = rows.assign(source="Tessera", provenance="simulated")
    paper = published.printed(reference, _TITLES[column][2])
    if len(paper):
        paper = paper.assign(source="paper", **{column: paper["value"] / 100})
        paper = paper[["source", "platform", "workload", "model", column, "bound", "provenance"]]
        rows = pd.concat([rows, paper])
    first = ["source", "platform", "workload", "model", column, "dropped_zero_errors", "bound", "provenance"]
    return rows.reindex(columns=first).reset_index(drop=True)


def draw(column: str, results, reference):
    """A row per workload, a mark per model, on a log scale."""
    results = Results.of(results)
    rows = table(column, results, reference)
    ours, paper = rows[rows["source"] == "Tessera"], rows[rows["source"] == "paper"]
    platforms, workloads = platform_order(ours["platform"]), workload_order(ours["workload"])
    figure, all_axes = style.panels(
        len(platforms),
        1,
        width=style.WIDTH,
        height=1.7 + (0.35 + 0.2 * len(workloads)) * len(platforms),
        sharex=True,
        squeeze=False,
    )
    for axes, platform in zip(all_axes[:, 0], platforms, strict=True):
        here = ours[ours["platform"] == platform]
        _panel(axes, here, column, workloads)
        for place, workload in enumerate(workloads):
            if workload not in set(here["workload"]):
                words = results.why_absent(workload, platform)
                axes.text(_FLOOR * 1.4, place, words, va="center", fontsize=8, color=style.MUTED)
        for row in paper.itertuples():
            value = getattr(row, column)
            label = f"paper: {looks.look(row.model).label} typically below {style.percent(value)}"
            axes.axvline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.1, label=label)
        axes.set_title(platform)
    all_axes[0, 0].set_xlim(_FLOOR / 1.5, max(2.0, ours[column].max() * 1.5))
    all_axes[-1, 0].set_xlabel(f"{_TITLES[column][1]} (log scale)")
    style.legend_below(figure, all_axes[:, 0], columns=4)
    style.headline(figure, _TITLES[column][0], "simulated; the paper's bars are not published as data")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, column: str, workloads: list[str]) -> None:
    places = {name: place for place, name in enumerate(workloads)}
    for model in looks.ordered(rows["model"]):
        label, colour, marker, _ = looks.look(model)
        mine = rows[rows["model"] == model]
        axes.plot(
            mine[column].clip(lower=_FLOOR),
            [places[name] for name in mine["workload"]],
            marker,
            color=colour,
            markeredgecolor=style.INK,
            markeredgewidth=0.5,
            markersize=6.5 if model == "mosmodel" else 5,
            label=label,
            zorder=5 if model == "mosmodel" else 4,
        )
    axes.set_xscale("log")
    axes.set_yticks(range(len(workloads)), workloads, fontsize=8.5)
    axes.set_ylim(len(workloads) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    style.percent_axis(axes.xaxis)
