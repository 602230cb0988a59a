"""Mitosis figure 3: tables of each level on each socket, and how many of their entries point elsewhere.

The paper prints one process (Memcached, 363 GB); ours are the programs of ``tessera kernel placement``. Only
home tables, which the kernel itself walks, and only runs without replicas: with them all lie on one node.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from tessera.kernel import ALL_PARTS
from tessera.kernel.placement import HOME
from tessera.results.schema.kernel import PLACEMENT
from tessera.show.figures import kernel_tables, style
from tessera.show.results import NotDrawn, Results

NAME = "mitosis-fig3"
LEVELS = (4, 3, 2, 1)
#: Light at both ends, so that one dark text can be read on every cell, in dark mode too.
_REMOTE = LinearSegmentedColormap.from_list("remote", ["#e3eef7", "#f7e3c4", "#f0a35a"])
_TEXT = "#14171c"


def table(results) -> pd.DataFrame:
    """Columns: workload, config, level, socket, pages, pointers, remote_share (fraction), provenance."""
    rows = Results.of(results).needed(PLACEMENT, NAME, ALL_PARTS)
    rows = rows[(rows["observer"] == HOME) & rows["config"].isin(["F", "I"])]
    if rows.empty:
        raise NotDrawn(f"figure {NAME}", "no run without replicas", ALL_PARTS)
    keys = ["workload", "config", "level", "socket"]
    rows = rows.assign(away=rows["pointers"].where(rows["socket"] != rows["target_socket"], 0))
    cells = rows.groupby(keys, sort=False).agg(
        pages=("pages", "first"), pointers=("pointers", "sum"), away=("away", "sum")
    )
    cells["remote_share"] = cells["away"] / cells["pointers"].where(cells["pointers"] > 0)
    return cells.drop(columns="away").reset_index().assign(provenance="measured")


def draw(results, reference):
    """A panel per program and policy; a row per level, a column per socket."""
    cells = table(results)
    workloads = list(dict.fromkeys(cells["workload"]))
    configs = kernel_tables.configs_of(cells)
    sockets = sorted(set(cells["socket"]))
    figure, all_axes = style.panels(
        len(workloads), len(configs), width=style.WIDTH, height=0.9 + 1.35 * len(workloads), squeeze=False
    )
    for across, workload in zip(all_axes, workloads, strict=True):
        for axes, config in zip(across, configs, strict=True):
            mine = cells[(cells["workload"] == workload) & (cells["config"] == config)]
            _panel(axes, mine.set_index(["level", "socket"]), sockets)
            axes.set_title(f"{workload}, {kernel_tables.CONFIGS.get(config, config)}", fontsize=8.5)
    style.headline(figure, "Where page tables lie and point to", "measured in a guest")
    return figure, cells


def _panel(axes, cells: pd.DataFrame, sockets: list[int]) -> None:
    for down, level in enumerate(LEVELS):
        for right, socket in enumerate(sockets):
            there = (level, socket) in cells.index and cells.loc[(level, socket), "pages"] > 0
            if not there:
                axes.text(right, down, "\u2013", ha="center", va="center", fontsize=8, color=style.MUTED)
                continue
            cell = cells.loc[(level, socket)]
            share = cell["remote_share"]
            colour = _REMOTE(float(share)) if share == share else _REMOTE(0.0)
            axes.add_patch(Rectangle((right - 0.47, down - 0.46), 0.94, 0.92, facecolor=colour, linewidth=0))
            words = f"{int(cell['pages'])} \u00b7 {style.percent(share, 0)}" if share == share else "empty"
            axes.text(right, down, words, ha="center", va="center", fontsize=7.5, color=_TEXT)
    axes.set_xlim(-0.5, len(sockets) - 0.5)
    axes.set_ylim(len(LEVELS) - 0.5, -0.5)
    axes.set_xticks(range(len(sockets)), [f"socket {socket}" for socket in sockets], fontsize=7.5)
    axes.set_yticks(range(len(LEVELS)), [f"L{level}" for level in LEVELS], fontsize=8)
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
