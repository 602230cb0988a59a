"""Mitosis figures 3 and 4 and table 5, measured in a guest: where page tables lie, and what copies cost."""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle

from tessera.core.reference.published_tables import PRINTED_REGION
from tessera.core.results.kernel_tables import FIGURE4, PLACEMENT, TABLE5
from tessera.lab.kernel import ALL_PARTS
from tessera.lab.kernel.page_tables import HOME
from tessera.report.figures import figure, published, style
from tessera.report.results import NotDrawn, Results

# Configurations of the tables of ``snakemake kernel``, as figures name and order them.

#: configuration of the paper's Table 3 -> words
KERNEL_CONFIGS = {
    "F": "first touch",
    "I": "interleaved",
    "F+M": "first touch, replicas",
    "I+M": "interleaved, replicas",
}


def kernel_configs_of(table: pd.DataFrame) -> list[str]:
    """Configurations of a table in the paper's order, others behind them."""
    found = list(dict.fromkeys(table["config"]))
    return [name for name in KERNEL_CONFIGS if name in found] + [
        name for name in found if name not in KERNEL_CONFIGS
    ]


# Mitosis figure 3: tables of each level on each socket, and how many of their entries point elsewhere.
#
# The paper prints one process (Memcached, 363 GB); ours are those of ``tessera lab run kernel-placement``.
# Only home tables, which the kernel itself walks, and only runs without replicas: with them all lie on one
# node.

FIG3_NAME = "mitosis-fig3"
PAGE_TABLE_LEVELS = (4, 3, 2, 1)
#: Light at both ends, so that one dark text can be read on every cell, in dark mode too.
_REMOTE_SHADES = LinearSegmentedColormap.from_list("remote", ["#e3eef7", "#f7e3c4", "#f0a35a"])
_CELL_TEXT = "#14171c"


def table_placement(results) -> pd.DataFrame:
    """Columns: workload, config, level, socket, pages, pointers, remote_share (fraction), provenance."""
    rows = Results.of(results).needed(PLACEMENT, FIG3_NAME, ALL_PARTS)
    rows = rows[(rows["observer"] == HOME) & rows["config"].isin(["F", "I"])]
    if rows.empty:
        raise NotDrawn(f"figure {FIG3_NAME}", "no run without replicas", ALL_PARTS)
    keys = ["workload", "config", "level", "socket"]
    rows = rows.assign(away=rows["pointers"].where(rows["socket"] != rows["target_socket"], 0))
    cells = rows.groupby(keys, sort=False).agg(
        pages=("pages", "first"), pointers=("pointers", "sum"), away=("away", "sum")
    )
    cells["remote_share"] = cells["away"] / cells["pointers"].where(cells["pointers"] > 0)
    return cells.drop(columns="away").reset_index().assign(provenance="measured")


@figure(
    "mitosis-fig3",
    "Where page tables lie and point to",
    "Mitosis Figure 3 for our programs: tables of each level (L4 is the root, L1 has the leaves) on each "
    "socket, and the share of their entries that point to another socket. Darker means more. The "
    "paper's figure shows one process of 363 GB; its rounded numbers are not shown here.",
    page="kernel.html",
)
def draw_table_placement(results, reference):
    """A panel per program and policy; a row per level, a column per socket."""
    cells = table_placement(results)
    workloads = list(dict.fromkeys(cells["workload"]))
    configs = kernel_configs_of(cells)
    sockets = sorted(set(cells["socket"]))
    figure, all_axes = style.panels(
        len(workloads), len(configs), width=style.WIDTH, height=0.9 + 1.35 * len(workloads), squeeze=False
    )
    for across, workload in zip(all_axes, workloads, strict=True):
        for axes, config in zip(across, configs, strict=True):
            mine = cells[(cells["workload"] == workload) & (cells["config"] == config)]
            _table_placement_panel(axes, mine.set_index(["level", "socket"]), sockets)
            axes.set_title(f"{workload}, {KERNEL_CONFIGS.get(config, config)}", fontsize=8.5)
    style.headline(figure, "Where page tables lie and point to", "measured in a guest")
    return figure, cells


def _table_placement_panel(axes, cells: pd.DataFrame, sockets: list[int]) -> None:
    for down, level in enumerate(PAGE_TABLE_LEVELS):
        for right, socket in enumerate(sockets):
            there = (level, socket) in cells.index and cells.loc[(level, socket), "pages"] > 0
            if not there:
                axes.text(right, down, "\u2013", ha="center", va="center", fontsize=8, color=style.MUTED)
                continue
            cell = cells.loc[(level, socket)]
            share = cell["remote_share"]
            colour = _REMOTE_SHADES(float(share)) if share == share else _REMOTE_SHADES(0.0)
            axes.add_patch(Rectangle((right - 0.47, down - 0.46), 0.94, 0.92, facecolor=colour, linewidth=0))
            words = (
                f"{int(cell['pages'])} \u00b7 {style.percent_text(share, 0)}" if share == share else "empty"
            )
            axes.text(right, down, words, ha="center", va="center", fontsize=7.5, color=_CELL_TEXT)
    axes.set_xlim(-0.5, len(sockets) - 0.5)
    axes.set_ylim(len(PAGE_TABLE_LEVELS) - 0.5, -0.5)
    axes.set_xticks(range(len(sockets)), [f"socket {socket}" for socket in sockets], fontsize=7.5)
    axes.set_yticks(range(len(PAGE_TABLE_LEVELS)), [f"L{level}" for level in PAGE_TABLE_LEVELS], fontsize=8)
    axes.tick_params(length=0)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)


# Mitosis figure 4: share of the leaf entries that a processor of each socket finds on another socket.
#
# The paper prints two numbers of it: up to 99% for one socket under first touch, and (N-1)/N with
# interleave.

FIG4_NAME = "mitosis-fig4"
_CONFIG_COLOURS = {"F": style.VERMILLION, "I": style.ORANGE, "F+M": style.BLUE, "I+M": style.SKY}
_CONFIG_HATCHES = {"F": "", "I": "///", "F+M": "", "I+M": "///"}
#: quantity of reference-results/mitosis_text.csv -> configuration that it is about
_PRINTED_SHARES = {"remote_leaf_share_one_socket": "F", "remote_share_interleave": "I"}
#: configuration -> words in front of the printed number, dash of its line
_PRINTED_LINES = {"F": ("first touch, up to ", (0, (4, 2))), "I": ("interleaved, ", (0, (1, 1.2)))}


def leaf_entries_table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, config, socket (-1: not named), remote_leaf_share (fraction), provenance."""
    ours = Results.of(results).needed(FIGURE4, FIG4_NAME, ALL_PARTS)
    ours = ours.assign(source="Tessera", provenance="measured")
    rows = [
        ("paper", "not named", config, -1, share / 100, "published")
        for quantity, config in _PRINTED_SHARES.items()
        if (share := published.mitosis_text(reference, quantity)) is not None
    ]
    order = ["source", *FIGURE4.names, "provenance"]
    return pd.concat([ours[order], pd.DataFrame(rows, columns=order)], ignore_index=True)


@figure(
    "mitosis-fig4",
    "Leaf entries on other sockets",
    "Mitosis Figure 4 for our programs: share of the leaf entries walked by a socket's processors that "
    "lie on another socket. With replicas, each socket walks its own tables. Dashed: the numbers in the "
    "paper's text for its programs.",
    page="kernel.html",
)
def draw_leaf_entries(results, reference):
    """A panel per program; a group of bars per configuration, a bar per socket."""
    rows = leaf_entries_table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    workloads = list(dict.fromkeys(ours["workload"]))
    configs = kernel_configs_of(ours)
    sockets = sorted(set(ours["socket"]))
    figure, all_axes = style.panels(
        len(workloads), 1, width=style.WIDTH, height=1.2 + 1.15 * len(workloads), sharex=True, squeeze=False
    )
    step = len(sockets) + 1
    for axes, workload in zip(all_axes[:, 0], workloads, strict=True):
        for place, config in enumerate(configs):
            mine = ours[(ours["workload"] == workload) & (ours["config"] == config)].set_index("socket")
            shares = mine["remote_leaf_share"].reindex(sockets)
            at = [place * step + number for number in range(len(sockets))]
            axes.bar(
                at, shares.fillna(0), width=0.86, color=_CONFIG_COLOURS.get(config, style.GREY),
                hatch=_CONFIG_HATCHES.get(config, ""), edgecolor=style.INK,
            )  # fmt: skip
            for x, share in zip(at, shares, strict=True):
                text = f"{100 * share:.0f}" if share == share else "?"
                axes.text(x, (share if share == share else 0) + 0.06, text, ha="center", fontsize=7.5)
            _printed_line(axes, rows, config, at)
        axes.set_title(workload, fontsize=8.5)
        axes.set_ylim(0, 1.32)
        axes.set_yticks([0, 0.5, 1])
        axes.set_ylabel("share of entries", fontsize=8.5)
        axes.tick_params(axis="x", length=0)
        axes.grid(False, axis="x")
        style.percent_axis(axes.yaxis)
    ticks = [place * step + number for place in range(len(configs)) for number in range(len(sockets))]
    all_axes[-1, 0].set_xticks(ticks, [str(socket) for _ in configs for socket in sockets], fontsize=8)
    for place, config in enumerate(configs):
        words = KERNEL_CONFIGS.get(config, config).replace(", ", ",\n")
        all_axes[-1, 0].annotate(
            words, (place * step + (len(sockets) - 1) / 2, 0), (0, -20), textcoords="offset points",
            ha="center", va="top", fontsize=8.5, annotation_clip=False,
        )  # fmt: skip
    all_axes[-1, 0].set_xlabel("socket whose processors walk, by policy", labelpad=30)
    style.legend_below(figure, all_axes[:, 0], columns=2)
    style.headline(figure, "Leaf entries on other sockets", "measured in a guest, beside published")
    return figure, rows


def _printed_line(axes, rows: pd.DataFrame, config: str, at: list[int]) -> None:
    """What the paper prints for a configuration, over its group of bars."""
    for row in rows[(rows["source"] == "paper") & (rows["config"] == config)].itertuples():
        words, dash = _PRINTED_LINES[config]
        axes.plot(
            [at[0] - 0.5, at[-1] + 0.5], [row.remote_leaf_share] * 2, color=style.INK, linestyle=dash,
            linewidth=1.1, label=f"published: {words}{style.percent_text(row.remote_leaf_share, 0)}",
        )  # fmt: skip


# Mitosis table 5: what copies of the page tables cost mmap, mprotect and munmap.
#
# Ours are ratios of instructions in a guest, the paper's ratios of cycles: two measures of one question, so
# only order and size can be compared. The paper's largest region is 4 GB, ours 1 GB.

TABLE5_NAME = "mitosis-table5"
#: series -> (marker, face, how far below its row, label)
_SERIES_MARKS = {
    "4 copies": ("s", style.BLUE, 0.0, "4 copies / switched off, instructions (measured)"),
    "off": ("o", style.SKY, 0.22, "switched off / unpatched, instructions (measured)"),
    "paper": ("D", style.PAPER, -0.22, "4 copies / switched off, cycles (published)"),
}


def replica_costs_table(results, reference) -> pd.DataFrame:
    """Columns: series, operation, region, ratio, unit, provenance."""
    ours = Results.of(results).needed(TABLE5, TABLE5_NAME, ALL_PARTS)
    parts = [
        ours[["operation", "region"]].assign(
            series=series, ratio=ours[column], unit="ratio of instructions", provenance="measured"
        )
        for series, column in (("4 copies", "replicated_ratio"), ("off", "off_ratio"))
    ]
    paper = published.mitosis_operations(reference)
    if len(paper):
        ours_of = {theirs: mine for mine, theirs in PRINTED_REGION.items()}
        named = [ours_of.get(region, region) for region in paper["region"]]
        paper = paper.assign(region=named, series="paper", unit="ratio of cycles", provenance="published")
        parts.append(paper.merge(ours[["operation", "region"]], on=["operation", "region"]))
    order = ["series", "operation", "region", "ratio", "unit", "provenance"]
    return pd.concat(parts, ignore_index=True)[order]


@figure(
    "mitosis-table5",
    "Cost of replicas in system calls",
    "Mitosis Table 5: mmap (populating), mprotect and munmap with 4 copies of the page tables over the "
    "same kernel with the mechanism off. Our numbers are instructions in a guest, the paper's are "
    "cycles of a processor: compare order and size of the effect, not digits.",
    page="kernel.html",
)
def draw_replica_costs(results, reference):
    """A row per operation and region; a mark per series."""
    rows = replica_costs_table(results, reference)
    mine = rows[rows["series"] != "paper"]
    keys = dict.fromkeys(zip(mine["operation"], mine["region"], strict=True))
    places = {key: place for place, key in enumerate(keys)}
    figure, axes = style.panels(width=style.WIDTH, height=1.7 + 0.36 * len(places))
    for series, (marker, face, aside, label) in _SERIES_MARKS.items():
        part = rows[rows["series"] == series]
        at = [places[key] + aside for key in zip(part["operation"], part["region"], strict=True)]
        axes.plot(
            part["ratio"], at, marker, markersize=6,
            markerfacecolor=face, markeredgecolor=style.INK, label=label,
        )  # fmt: skip
    axes.axvline(1, color=style.MUTED, linewidth=1)
    names = [
        f"{operation} {region}" + (f" (paper: {PRINTED_REGION[region]})" if region in PRINTED_REGION else "")
        for operation, region in places
    ]
    axes.set_yticks(range(len(places)), names, fontsize=8.5)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("ratio; 1 is no cost")
    style.legend_below(figure, [axes], columns=1)
    style.headline(figure, "Cost of replicas in system calls", "measured, beside published")
    return figure, rows
