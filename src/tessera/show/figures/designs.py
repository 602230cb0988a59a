"""Misses of each translation design, relative to those of 4KB pages: a panel for each mapping."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.designs import DESIGN_CELLS
from tessera.show.figures import style
from tessera.show.results import Results

BASE = "baseline"
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILLION)
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++")
SMALL = 0.02  #: bars below this fraction, and missing ones, have a text
NOT_SHOWN = (BASE, "ideal")  #: 100% and 0% by definition


def table(results) -> pd.DataFrame:
    """Columns: workload, platform, mapping, design, stlb_misses, relative (a fraction), provenance."""
    rows = Results.of(results).needed(DESIGN_CELLS, "designs", why="no study of designs was made")
    rows = rows[rows["misses_to_baseline_percent"].notna() & ~rows["design"].isin(NOT_SHOWN)].copy()
    rows["relative"] = 1 + rows["misses_to_baseline_percent"] / 100
    columns = ["workload", "platform", "mapping", "design", "stlb_misses", "relative", "provenance"]
    return rows[columns].reset_index(drop=True)


def draw(results, reference):
    """A bar for each design and workload; "no cell" if the simulator rejected the design."""
    rows = table(results)
    mappings, designs, workloads = (list(dict.fromkeys(rows[k])) for k in ("mapping", "design", "workload"))
    columns = min(3, len(mappings))
    lines = -(-len(mappings) // columns)
    figure, all_axes = style.panels(
        lines,
        columns,
        width=max(style.WIDTH, 1.6 + 2.4 * columns),
        height=1.0 + lines * (0.7 + 0.13 * len(designs) * (1 + len(workloads))),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for axes, mapping in zip(all_axes.flat, mappings, strict=False):
        _panel(axes, rows[rows["mapping"] == mapping], designs, workloads)
        axes.set_title(mapping)
    for axes in all_axes.flat[len(mappings) :]:
        axes.set_axis_off()
    for axes in all_axes[:, 0]:
        axes.set_yticks(range(len(designs)), designs)
    all_axes[0, 0].invert_yaxis()
    all_axes[-1, columns // 2].set_xlabel("misses relative to the baseline (4KB pages only)")
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, f"Misses of translation designs on {rows['platform'].iloc[0]}", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, designs: list[str], workloads: list[str]) -> None:
    height = 0.8 / len(workloads)
    for number, workload in enumerate(workloads):
        part = rows[rows["workload"] == workload]
        shift = height * (number - (len(workloads) - 1) / 2)
        axes.barh(
            [designs.index(name) + shift for name in part["design"]],
            part["relative"],
            height=height,
            color=COLOURS[number % len(COLOURS)],
            hatch=HATCHES[number % len(HATCHES)],
            edgecolor=style.PAPER,
            label=workload,
        )
        there = dict(zip(part["design"], part["relative"], strict=True))
        for line, design in enumerate(designs):
            if there.get(design, 0) < SMALL:
                text = style.percent(there[design]) if design in there else "no cell"
                axes.text(0.01, line + shift, text, va="center", fontsize=6.5, color=style.MUTED)
    axes.axvline(1, color=style.MUTED, linewidth=1)
    style.percent_axis(axes.xaxis)
