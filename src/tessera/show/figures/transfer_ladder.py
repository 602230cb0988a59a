"""From P to a design, one mechanism a step: what each step adds to R, as a share of R of P."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.transfer import LADDER
from tessera.show.figures import style
from tessera.show.results import Results

COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.VERMILLION)
KEYS = ["workload", "platform", "ladder", "layout"]


def table(results) -> pd.DataFrame:
    """Columns: keys, step, mechanism, step_share (of R of P), total_share (their sum so far), provenance."""
    rows = Results.of(results).needed(LADDER, "transfer-ladder", why="no study of transfer was made")
    base = rows[rows["step"] == 0].set_index(KEYS)["runtime_cycles"].rename("base")
    rows = rows.join(base, on=KEYS)
    rows["step_share"] = rows["step_cycles"] / rows["base"]
    rows["total_share"] = rows["runtime_cycles"] / rows["base"] - 1
    rows = rows[(rows["step"] > 0) & rows["step_share"].notna()]
    return rows[[*KEYS, "step", "mechanism", "step_share", "total_share", "provenance"]].reset_index(
        drop=True
    )


def draw(results, reference):
    """A panel for each ladder; a line is a workload under a mapping, its bars follow each other."""
    rows = table(results)
    ladders = list(dict.fromkeys(rows["ladder"]))
    names = list(dict.fromkeys(zip(rows["workload"], rows["platform"], rows["layout"], strict=True)))
    several = rows["platform"].nunique() > 1
    labels = [f"{w}, {m}" + (f", {p}" if several else "") for w, p, m in names]
    mechanisms = list(dict.fromkeys(rows["mechanism"]))
    figure, all_axes = style.panels(
        1,
        len(ladders),
        width=max(style.WIDTH, 1.8 + 2.4 * len(ladders)),
        height=1.8 + 0.3 * len(names),
        sharey=True,
        squeeze=False,
    )
    for axes, ladder in zip(all_axes[0], ladders, strict=True):
        part = rows[rows["ladder"] == ladder]
        for mechanism, own in part.groupby("mechanism", sort=False):
            axes.barh(
                [
                    names.index(key)
                    for key in zip(own["workload"], own["platform"], own["layout"], strict=True)
                ],
                own["step_share"],
                left=own["total_share"] - own["step_share"],
                height=0.6,
                color=COLOURS[mechanisms.index(mechanism) % len(COLOURS)],
                edgecolor=style.PAPER,
                label=mechanism,
            )
        axes.axvline(0, color=style.MUTED, linewidth=1)
        axes.set_title(f"to {ladder}")
        style.percent_axis(axes.xaxis)
    all_axes[0, 0].set_yticks(range(len(names)), labels)
    all_axes[0, 0].invert_yaxis()
    all_axes[0, len(ladders) // 2].set_xlabel("change of R, relative to P")
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, "What each mechanism adds to R", "simulated")
    return figure, rows
