"""A row per workload, a mark per platform: how findings over all pairs are drawn."""

from __future__ import annotations

import pandas as pd

from tessera.results.pair import platform_order, workload_order
from tessera.show.figures import style
from tessera.show.results import Results


def pairs(results: Results, insensitive: bool = False) -> list[tuple[str, str]]:
    """Simulated pairs of the papers' generations; this machine is no platform of a paper."""
    found = results.pairs() if insensitive else results.analysed_pairs()
    return [pair for pair in found if not pair[1].startswith("host")]


def panel(
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


def height(rows: pd.DataFrame, panels: int = 1) -> float:
    """Inches of a figure with so many panels of these rows."""
    return 1.6 + panels * (0.5 + 0.235 * rows["workload"].nunique())
