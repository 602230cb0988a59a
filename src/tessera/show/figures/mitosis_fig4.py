"""Mitosis figure 4: share of the leaf entries that a processor of each socket finds on another socket.

The paper prints two numbers of it: up to 99% for one socket under first touch, and (N-1)/N with interleave.
"""

from __future__ import annotations

import pandas as pd

from tessera.kernel import ALL_PARTS
from tessera.results.schema.kernel import FIGURE4
from tessera.show.figures import kernel_tables, published, style
from tessera.show.results import Results

NAME = "mitosis-fig4"
_COLOURS = {"F": style.VERMILLION, "I": style.ORANGE, "F+M": style.BLUE, "I+M": style.SKY}
_HATCHES = {"F": "", "I": "///", "F+M": "", "I+M": "///"}
#: quantity of reference-results/mitosis_text.csv -> configuration that it is about
_PRINTED = {"remote_leaf_share_one_socket": "F", "remote_share_interleave": "I"}
#: configuration -> words in front of the printed number, dash of its line
_LINES = {"F": ("first touch, up to ", (0, (4, 2))), "I": ("interleaved, ", (0, (1, 1.2)))}


def table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, config, socket (-1: not named), remote_leaf_share (fraction), provenance."""
    ours = Results.of(results).needed(FIGURE4, NAME, ALL_PARTS)
    ours = ours.assign(source="Tessera", provenance="measured")
    rows = [
        ("paper", "not named", config, -1, share / 100, "published")
        for quantity, config in _PRINTED.items()
        if (share := published.mitosis_text(reference, quantity)) is not None
    ]
    order = ["source", *FIGURE4.names, "provenance"]
    return pd.concat([ours[order], pd.DataFrame(rows, columns=order)], ignore_index=True)


def draw(results, reference):
    """A panel per program; a group of bars per configuration, a bar per socket."""
    rows = table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    workloads = list(dict.fromkeys(ours["workload"]))
    configs = kernel_tables.configs_of(ours)
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
                at, shares.fillna(0), width=0.86, color=_COLOURS.get(config, style.GREY),
                hatch=_HATCHES.get(config, ""), edgecolor=style.INK,
            )  # fmt: skip
            for x, share in zip(at, shares, strict=True):
                text = f"{100 * share:.0f}" if share == share else "?"
                axes.text(x, (share if share == share else 0) + 0.06, text, ha="center", fontsize=7.5)
            _line(axes, rows, config, at)
        axes.set_title(workload, fontsize=8.5)
        axes.set_ylim(0, 1.32)
        axes.set_yticks([0, 0.5, 1])
        axes.tick_params(axis="x", length=0)
        axes.grid(False, axis="x")
        style.percent_axis(axes.yaxis)
    ticks = [place * step + number for place in range(len(configs)) for number in range(len(sockets))]
    all_axes[-1, 0].set_xticks(ticks, [str(socket) for _ in configs for socket in sockets], fontsize=8)
    for place, config in enumerate(configs):
        words = kernel_tables.CONFIGS.get(config, config).replace(", ", ",\n")
        all_axes[-1, 0].annotate(
            words, (place * step + (len(sockets) - 1) / 2, 0), (0, -20), textcoords="offset points",
            ha="center", va="top", fontsize=8.5, annotation_clip=False,
        )  # fmt: skip
    all_axes[-1, 0].set_xlabel("socket whose processors walk, by policy", labelpad=30)
    style.legend_below(figure, all_axes[:, 0], columns=2)
    style.headline(figure, "Leaf entries on other sockets", "measured in a guest, beside published")
    return figure, rows


def _line(axes, rows: pd.DataFrame, config: str, at: list[int]) -> None:
    """What the paper prints for a configuration, over its group of bars."""
    for row in rows[(rows["source"] == "paper") & (rows["config"] == config)].itertuples():
        words, dash = _LINES[config]
        axes.plot(
            [at[0] - 0.5, at[-1] + 0.5], [row.remote_leaf_share] * 2, color=style.INK, linestyle=dash,
            linewidth=1.1, label=f"published: {words}{style.percent(row.remote_leaf_share, 0)}",
        )  # fmt: skip
