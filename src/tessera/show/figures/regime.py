"""The regime of each pair: cycles of a walk and share of walk cycles, over what page tables and data need."""

from __future__ import annotations

import pandas as pd

from tessera.results.pair import platform_order
from tessera.show.figures import regime_table as regime
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

#: x, y, title, x label, y label
PANELS = (
    ("leaf_bytes_per_l2", "walk_cycles_per_miss", "Cycles of a walk",
     "leaf entries / L2", "C / M with 4KB pages (cycles)"),
    ("touched_per_reach", "walk_share", "Share of walk cycles",
     "touched bytes / reach of the STLB", "C / R with 4KB pages"),
)  # fmt: skip


def draw(results, reference):
    """A panel for each ratio; filled marks touch what the paper's program touches, dashes are printed."""
    rows = regime.table(Results.of(results), reference)
    ours = rows[rows["source"] == regime.THIS_RUN]
    if ours["touched_bytes"].isna().all():
        raise NotDrawn("figure regime", "no pair has an all-4KB cell and a recording")
    figure, all_axes = style.panels(1, 2, width=style.WIDTH, height=4.2, squeeze=False)
    for axes, (x, y, title, x_label, y_label) in zip(all_axes[0], PANELS, strict=True):
        _points(axes, ours, x, y)
        _printed(axes, rows[rows["source"] != regime.THIS_RUN], y)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_title(title)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    style.legend_below(figure, all_axes[0])
    style.headline(figure, "The regime of each pair", "simulated; dashed: published")
    return figure, rows


def _points(axes, ours: pd.DataFrame, x: str, y: str) -> None:
    for platform in platform_order(ours["platform"]):
        part = ours[ours["platform"] == platform].dropna(subset=[x, y])
        colour, marker = style.platform_mark(platform)
        whole = part["as_published"] == "yes"
        for chosen, face, words in ((~whole, "none", "smaller"), (whole, colour, "published size")):
            mine = part[chosen]
            if len(mine):
                axes.scatter(
                    mine[x], mine[y], s=34, marker=marker, facecolors=face, edgecolors=colour,
                    label=f"{platform}, {words}",
                )  # fmt: skip


def _printed(axes, printed: pd.DataFrame, y: str) -> None:
    for row in printed.dropna(subset=[y]).to_dict("records"):
        label = f"{row['source']}: {row['workload']} on {row['platform']}"
        axes.axhline(row[y], color=style.INK, linestyle="--", linewidth=1, label=label)
