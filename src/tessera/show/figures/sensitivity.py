"""TLB sensitivity (MICRO'20 section VI-A): runtime saved by huge pages, per workload and platform."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.pair import platform_order, workload_order
from tessera.results.sensitivity import THRESHOLD
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

#: what is compared with all-4KB pages
LAYOUTS = (ALL_2MB, ALL_1GB)


def table(results) -> pd.DataFrame:
    """Columns: workload, platform, layout (growing-8, 1gb), improvement, sensitive, provenance."""
    results = Results.of(results)
    cells = results.simulated
    wide = cells.pivot_table(index=["workload", "platform"], columns="layout", values="runtime_cycles")
    if wide.empty or ALL_4KB not in wide:
        raise NotDrawn("figure sensitivity", "no good growing-0 (all 4KB) cell")
    judged = results.sensitivity.set_index(["workload", "platform"])["sensitive"]
    rows = []
    for pair, runtimes in wide.iterrows():
        for layout in LAYOUTS:
            if layout in wide and pd.notna(runtimes[layout]) and pd.notna(runtimes[ALL_4KB]):
                saved = 1 - runtimes[layout] / runtimes[ALL_4KB]
                sensitive = judged[pair] == "yes" if layout == ALL_1GB else None
                rows.append((*pair, layout, saved, sensitive, "simulated"))
    columns = ["workload", "platform", "layout", "improvement", "sensitive", "provenance"]
    if not rows:
        raise NotDrawn("figure sensitivity", "no workload has both a 4KB and a huge-page cell")
    return pd.DataFrame(rows, columns=columns)


def draw(results, reference):
    """A row per workload, a panel per platform: ring 2MB, star 1GB, line at 5%."""
    rows = table(results)
    judged = rows[rows["layout"] == ALL_1GB]  # this machine's own platform has few layouts, and not this one
    rows = rows[rows["platform"].isin(judged["platform"])] if len(judged) else rows
    platforms, workloads = platform_order(rows["platform"]), workload_order(rows["workload"])
    figure, all_axes = style.panels(
        1,
        len(platforms),
        width=style.WIDTH + 0.6,
        height=1.5 + 0.27 * len(workloads),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    places = np.arange(len(workloads))
    marks = {ALL_2MB: ("o", style.PAPER, "2MB pages"), ALL_1GB: ("*", style.ORANGE, "1GB pages")}
    for axes, platform in zip(all_axes[0], platforms, strict=True):
        here = rows[rows["platform"] == platform].pivot(
            index="workload", columns="layout", values="improvement"
        )
        here = here.reindex(index=workloads, columns=list(marks))
        axes.hlines(
            places,
            here.min(axis=1).fillna(0),
            here.max(axis=1).fillna(0),
            color=style.GRID,
            linewidth=3,
            zorder=1,
        )
        for layout, (marker, face, label) in marks.items():
            axes.plot(
                here[layout],
                places,
                marker,
                markersize=11 if marker == "*" else 7,
                linestyle="none",
                markerfacecolor=face,
                markeredgecolor=style.INK,
                label=label,
            )
        axes.axvline(
            THRESHOLD, color=style.VERMILLION, linestyle="--", linewidth=1.1, label="5%: TLB-sensitive"
        )
        axes.set_title(platform)
        style.percent_axis(axes.xaxis)
    all_axes[0, 0].set_yticks(places, workloads)
    all_axes[0, 0].set_ylim(len(workloads) - 0.4, -0.6)
    all_axes[0, len(platforms) // 2].set_xlabel("runtime saved compared to 4KB pages")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    style.headline(figure, "How much huge pages help", "simulated")
    return figure, rows
