"""MICRO'20 table 8: R squared of a straight line in C, M or H alone, beside the paper's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn
from matplotlib.colors import LinearSegmentedColormap

from tessera.core.results.loader import platform_order, workload_order
from tessera.report.figures import figure, published, style
from tessera.report.results import NotDrawn, Results

INPUTS = ("C", "M", "H")
#: white to sky blue: dark text stays readable on every shade
_SHADES = LinearSegmentedColormap.from_list("tessera", ["#ffffff", "#cfe8f7", style.SKY])
_TEXT = "#101010"  #: not style.INK, which becomes light in dark mode; the shades stay as they are


def table(results, reference) -> pd.DataFrame:
    """Columns: source, provenance, workload, platform, input, r_squared, effective_n, paper_workload."""
    mine = Results.of(results).models("rsquared")
    mine = mine[mine["input"].isin(INPUTS)]
    if mine.empty:
        raise NotDrawn("figure table8", "no R\u00b2 was computed (models/rsquared.csv has no rows)")
    paper = published.published_rsquared(reference)
    nearest = {name: published.nearest_workload(name, paper) for name in mine["workload"].unique()}
    mine = mine.assign(source="Tessera", provenance="simulated", paper_workload=mine["workload"].map(nearest))
    rows = [mine]
    for workload, twin in nearest.items():
        if twin:
            part = paper[paper["paper_workload"] == twin]
            rows.append(part.assign(source="paper", provenance="published", workload=workload))
    columns = [
        "source",
        "provenance",
        "workload",
        "platform",
        "input",
        "r_squared",
        "effective_n",
        "paper_workload",
    ]
    return pd.concat(rows).reindex(columns=columns).reset_index(drop=True)


@figure(
    "table8",
    "R\u00b2 of C, M and H alone",
    "R\u00b2 of a straight line in one input. In brackets: the paper's value for the same kind of workload.",
)
def draw(results, reference):
    """A heat map per platform: a row per workload, a column per input; the paper's value in brackets."""
    results = Results.of(results)
    rows = table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    paper = rows[rows["source"] == "paper"].set_index(["workload", "platform", "input"])["r_squared"]
    paper = paper[~paper.index.duplicated()]
    platforms, workloads = platform_order(ours["platform"]), workload_order(ours["workload"])
    figure, all_axes = style.panels(
        1,
        len(platforms),
        width=style.WIDTH + 0.5,
        height=1.1 + 0.4 * len(workloads),
        sharey=True,
        squeeze=False,
    )
    for axes, platform in zip(all_axes[0], platforms, strict=True):
        here = ours[ours["platform"] == platform]
        wide = here.pivot_table(index="workload", columns="input", values="r_squared")
        wide = wide.reindex(index=workloads, columns=list(INPUTS))
        words = [
            [_words(wide.at[w, name], paper.get((w, platform, name))) for name in INPUTS] for w in workloads
        ]
        seaborn.heatmap(
            wide,
            ax=axes,
            cmap=_SHADES,
            vmin=0,
            vmax=1,
            cbar=False,
            annot=np.array(words),
            fmt="",
            annot_kws={"fontsize": 7.5, "linespacing": 0.95, "color": _TEXT},
        )
        for row in np.flatnonzero(wide.isna().all(axis=1)):
            absent = results.why_absent(workloads[row], platform)
            axes.text(
                len(INPUTS) / 2, row + 0.5, absent, ha="center", va="center", fontsize=7, color=style.MUTED
            )
        axes.set(title=platform, xlabel="", ylabel="")
        axes.grid(False)
        axes.tick_params(length=0)
    all_axes[0, 0].set_yticklabels(_row_labels(ours, workloads), fontsize=7.5, rotation=0)
    style.headline(figure, "R\u00b2 of a straight line in one input", "simulated, (published) in brackets")
    return figure, rows


def _words(value, printed) -> str:
    """R squared with two digits, the paper's value in brackets below it; empty if there is none."""
    if pd.isna(value):
        return ""
    return f"{value:.2f}" + (f"\n({printed:.2f})" if printed is not None and pd.notna(printed) else "")


def _row_labels(ours: pd.DataFrame, workloads: list[str]) -> list[str]:
    twins = ours.drop_duplicates("workload").set_index("workload")["paper_workload"]
    return [f"{name}\n({twins[name]})" if twins[name] and twins[name] != name else name for name in workloads]
