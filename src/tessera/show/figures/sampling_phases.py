"""Why sampling can go wrong: cycles per instruction along the window, and what each method sees of it."""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.schema.studies import INTERVALS
from tessera.show.figures import style
from tessera.show.results import Results

LINES = {ALL_4KB: ("4KB pages", style.BLUE, "-"), ALL_2MB: ("2MB pages", style.ORANGE, "-")}
METHODS = {
    "systematic": ("systematic", style.GREEN, "|"),
    "clustered": ("clustered", style.PURPLE, "x"),
    "blind-middle": ("blind, middle", style.VERMILLION, "."),
    "blind-first": ("blind, first", style.INK, "."),
}


def table(results) -> pd.DataFrame:
    """A row per workload, interval and layout: cycles and walk cycles per instruction, and its methods."""
    rows = Results.of(results).needed(INTERVALS, "sampling-phases", why="no sampling study was made")
    rows = rows[rows["layout"].isin(LINES)]
    rows = rows.assign(
        cycles_per_instruction=rows["runtime_cycles"] / rows["instructions"],
        walk_cycles_per_instruction=rows["walk_cycles"] / rows["instructions"],
    )
    columns = ["workload", "platform", "interval", "start_access", "layout", "cycles_per_instruction"]
    return rows[[*columns, "walk_cycles_per_instruction", "methods", "provenance"]].reset_index(drop=True)


def draw(results, reference):
    """A panel per workload; ticks below mark the intervals of each method."""
    rows = table(results)
    workloads = list(dict.fromkeys(rows["workload"]))
    figure, all_axes = style.panels(
        len(workloads), 1, width=9.6, height=0.9 + 1.9 * len(workloads), squeeze=False
    )
    for axes, workload in zip(all_axes[:, 0], workloads, strict=True):
        part = rows[rows["workload"] == workload]
        _panel(axes, part)
        axes.set_title(workload)
        axes.set_ylabel("cycles per\ninstruction")
    all_axes[-1, 0].set_xlabel("accesses from the window's start (millions)")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, columnspacing=1.2)
    style.headline(figure, f"Along the window, on {rows['platform'].iloc[0]}", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame) -> None:
    top = rows["cycles_per_instruction"].max()
    for layout, (label, colour, dash) in LINES.items():
        part = rows[rows["layout"] == layout].sort_values("interval")
        x = part["start_access"] / 1e6
        axes.plot(x, part["cycles_per_instruction"], dash, color=colour, linewidth=1.1, label=label)
    marked = rows[rows["layout"] == ALL_4KB]
    for line, (method, (label, colour, marker)) in enumerate(METHODS.items()):
        mine = marked[[method in words.split() for words in marked["methods"]]]
        height = [-top * (0.08 + 0.09 * line)] * len(mine)
        axes.plot(mine["start_access"] / 1e6, height, marker, color=colour, markersize=6, label=label)
    axes.set_ylim(-0.44 * top, 1.08 * top)
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= 1.08 * top])
