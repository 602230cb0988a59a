"""What sampling gets wrong: errors of differences between layouts, and of totals, by sampling method.

An error of a difference is relative to the full gain (4KB to 2MB pages). Whiskers are 95% intervals of the
estimate; only systematic samples have one.
"""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.schema.studies import SAMPLING
from tessera.show.figures import style
from tessera.show.results import Results

#: method, contents of TLBs and caches -> label; the order of the rows
LABELS = {
    ("systematic", "perfect"): "systematic, perfect contents",
    ("clustered", "perfect"): "clustered",
    ("blind-middle", "perfect"): "blind, middle part",
    ("blind-first", "perfect"): "blind, first part",
}
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
COLOURS = (style.BLUE, style.VERMILLION, style.GREEN, style.ORANGE, style.PURPLE, style.SKY, style.GREY)


def table(results) -> pd.DataFrame:
    """A row per workload, method, layout: error, difference_error and their half-widths, as fractions."""
    rows = Results.of(results).needed(SAMPLING, "sampling", why="no sampling study was made")
    rows = rows[rows["quantity"] == "R"].copy()
    rows["label"] = [label(m, w) for m, w in zip(rows["method"], rows["warmup"], strict=True)]
    rows["error_ci95"] = rows["ci95"] / rows["truth"]
    rows["difference_error_ci95"] = rows["difference_ci95"] / rows.groupby("workload")[
        "true_difference"
    ].transform(lambda part: part[rows.loc[part.index, "layout"] == ALL_2MB].abs().max())
    columns = ["workload", "platform", "label", "layout", "error", "error_ci95"]
    columns += ["difference_error", "difference_error_ci95", "timed_instructions", "intervals", "provenance"]
    return rows[columns].reset_index(drop=True)


def label(method: str, warmup: str) -> str:
    """A method as people read it; plans carry their warm-up."""
    if (method, warmup) in LABELS:
        return LABELS[method, warmup]
    return f"systematic, warmed by {int(warmup.split()[0]) / 1e6:g} M accesses"


def draw(results, reference):
    """A column per workload; above: differences between layouts, below: totals."""
    rows = table(results)
    workloads = list(dict.fromkeys(rows["workload"]))
    own = [name for name in dict.fromkeys(rows["label"]) if name not in LABELS.values()]
    labels = [*own, *(name for name in LABELS.values() if name in set(rows["label"]))]
    figure, all_axes = style.panels(
        2,
        len(workloads),
        width=max(7.6, 1.9 + 2.9 * len(workloads)),
        height=1.6 + 0.5 * len(labels),
        sharey=True,
        squeeze=False,
    )
    layouts = list(dict.fromkeys(rows["layout"]))
    kinds = (("difference_error", "of differences, share of the gain"), ("error", "of the runtime"))
    for line, (column, words) in enumerate(kinds):
        for axes, workload in zip(all_axes[line], workloads, strict=True):
            part = rows[rows["workload"] == workload]
            _strip(axes, part, column, labels, layouts)
            if line == 0:
                axes.set_title(workload)
        # One label a line: beside each other they would meet.
        all_axes[line, len(workloads) // 2].set_xlabel(f"error {words}")
    for axes in all_axes[:, 0]:
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
    handles, names = all_axes[1, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    style.headline(figure, f"Errors of sampling on {rows['platform'].iloc[0]}", "simulated")
    return figure, rows


def _strip(axes, rows: pd.DataFrame, column: str, labels: list[str], layouts: list[str]) -> None:
    for number, layout in enumerate(layouts):
        if layout == ALL_4KB and column == "difference_error":
            continue  # the base differs from itself by nothing
        part = rows[rows["layout"] == layout]
        shift = 0.14 * (number - (len(layouts) - 1) / 2)
        axes.errorbar(
            part[column],
            [labels.index(name) + shift for name in part["label"]],
            xerr=part[f"{column}_ci95"].fillna(0),
            fmt=MARKERS[number % len(MARKERS)],
            markersize=5,
            markerfacecolor=COLOURS[number % len(COLOURS)],
            markeredgecolor=style.INK,
            markeredgewidth=0.6,
            ecolor=style.MUTED,
            elinewidth=0.9,
            label=layout,
        )
    axes.axvline(0, color=style.MUTED, linewidth=1)
    style.percent_axis(axes.xaxis)
