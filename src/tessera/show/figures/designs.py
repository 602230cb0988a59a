"""Misses of each translation design, relative to those of 4KB pages: a panel for each mapping.

:func:`draw` shows the mappings of one machine, :func:`draw_nested` a guest's mapping alone and over its host.
"""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.designs.catalogue import VARIANTS
from tessera.judge.studies.designs.mapped import KINDS
from tessera.mapping.nested import OVER
from tessera.results.schema.designs import DESIGN_CELLS
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

BASE = "baseline"
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILLION)
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++")
SMALL = 0.02  #: bars below this fraction, and missing ones, have a text
NOT_SHOWN = (BASE, "ideal")  #: 100% and 0% by definition
TITLE_NESTED = "Misses with a guest alone and over its host"


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
    other = [one.name for one in VARIANTS]
    rows = rows[rows["mapping"].isin(KINDS) & ~rows["design"].isin(other)].reset_index(drop=True)
    mappings = list(dict.fromkeys(rows["mapping"]))
    if not mappings:
        raise NotDrawn("figure designs", "no design has a mapping of one machine", "./run reproduce")
    return _panels(rows, mappings, f"Misses of translation designs on {rows['platform'].iloc[0]}", 3), rows


def draw_nested(results, reference):
    """For each guest over its host: left the guest's mapping alone, right both."""
    rows = table(results)
    nested = [name for name in dict.fromkeys(rows["mapping"]) if OVER in name]
    parts, mappings = [], []
    for name in nested:
        over = rows[rows["mapping"] == name]
        alone = rows[rows["mapping"] == name.split(OVER)[0]]
        alone = alone[alone["design"].isin(over["design"]) & alone["workload"].isin(over["workload"])]
        if len(alone):
            parts += [alone.assign(panel=f"{alone['mapping'].iloc[0]}, for {name}"), over.assign(panel=name)]
            mappings += [f"{alone['mapping'].iloc[0]}, for {name}", name]
    if not parts:
        why = "no design was simulated, beside the baseline, with a guest alone and over its host"
        raise NotDrawn("figure designs-nested", why, "./run reproduce")
    shown = pd.concat(parts, ignore_index=True)
    figure = _panels(
        shown.drop(columns="mapping").rename(columns={"panel": "mapping"}), mappings, TITLE_NESTED, 2
    )
    return figure, shown


def _panels(rows: pd.DataFrame, mappings: list[str], title: str, most_columns: int):
    """A panel for each of ``mappings``, with all designs and workloads of the rows."""
    designs, workloads = (list(dict.fromkeys(rows[k])) for k in ("design", "workload"))
    columns = min(most_columns, len(mappings))
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
    between = " " if columns % 2 else "\n"  # the label of an even number of panels has the width of one
    label = f"misses relative to the{between}baseline (4KB pages only)"
    all_axes[-1, columns // 2].set_xlabel(label)
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, title, "simulated")
    return figure


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
