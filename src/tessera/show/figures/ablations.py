"""What a mechanism does to runtime over walk cycles: all layouts, one mechanism switched off at a time."""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_2MB
from tessera.results.pair import platform_order
from tessera.results.schema.studies import VARIANTS as CELLS
from tessera.show.figures import style
from tessera.show.results import Results

VARIANTS = {
    "baseline": ("baseline", style.INK, "o"),
    "no-pollution": ("walker loads don't pollute", style.GREEN, "s"),
    "infinite-walkers": ("infinite walkers", style.ORANGE, "^"),
    "no-overlap": ("no overlap", style.VERMILLION, "D"),
    "no-mispredictions": ("no mispredictions", style.BLUE, "v"),
}


def table(results) -> pd.DataFrame:
    """A row per workload, platform, variant, layout; ``added_cycles`` is R less R with 2MB pages."""
    rows = Results.of(results).needed(CELLS, "ablations", why="no ablation study was made")
    whole = rows.groupby(["workload", "platform"])["variant"].transform("nunique") > 2
    rows = rows[rows["runtime_cycles"].notna() & whole]  # not the pairs with one ablation
    keys = ["workload", "platform", "variant"]
    base = rows[rows["layout"] == ALL_2MB].set_index(keys)["runtime_cycles"]
    joined = rows.join(base.rename("base_cycles"), on=keys)
    joined["added_cycles"] = joined["runtime_cycles"] - joined["base_cycles"]
    columns = [*keys, "layout", "runtime_cycles", "walk_cycles", "added_cycles"]
    return joined[columns].assign(provenance="simulated").reset_index(drop=True)


def draw(results, reference):
    """A panel per workload (rows) and platform (columns); the dotted line has slope 1."""
    rows = table(results)
    workloads, platforms = list(dict.fromkeys(rows["workload"])), platform_order(rows["platform"])
    figure, all_axes = style.panels(
        len(workloads),
        len(platforms),
        width=max(7.6, 3.1 * len(platforms)),
        height=0.9 + 2.5 * len(workloads),
        squeeze=False,
    )
    for line, workload in zip(all_axes, workloads, strict=True):
        for axes, platform in zip(line, platforms, strict=True):
            part = rows[(rows["workload"] == workload) & (rows["platform"] == platform)]
            axes.set_title(f"{workload} on {platform}")
            if len(part):
                _panel(axes, part)
            else:
                axes.text(0.5, 0.5, "no cells", ha="center", transform=axes.transAxes, color=style.MUTED)
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    style.headline(figure, "Runtime above that of 2MB pages, against walk cycles", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame) -> None:
    x_scale, x_unit = style.count_unit(rows["walk_cycles"].max())
    y_scale, y_unit = style.count_unit(rows["added_cycles"].abs().max())
    for variant, (label, colour, marker) in VARIANTS.items():
        part = rows[rows["variant"] == variant]
        axes.plot(
            part["walk_cycles"] / x_scale,
            part["added_cycles"] / y_scale,
            marker,
            markersize=4.2,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=label,
        )
    least, greatest = rows["walk_cycles"].min(), rows["walk_cycles"].max()
    line = [0, (greatest - least) / y_scale]
    axes.plot([least / x_scale, greatest / x_scale], line, ":", color=style.MUTED, label="slope 1")
    axes.set_xlabel(f"walk cycles C ({x_unit})", fontsize=8)
    axes.set_ylabel(f"cycles ({y_unit})", fontsize=8)
