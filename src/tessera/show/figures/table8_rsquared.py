"""MICRO'20 table 8: R squared of a straight line in C, M or H alone, beside the paper's."""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import LinearSegmentedColormap

from tessera.results.pair import platform_order, workload_order
from tessera.show.figures import published, style
from tessera.show.results import NotDrawn, Results

INPUTS = ("C", "M", "H")
#: white to sky blue: dark text stays readable on every shade
_SHADES = LinearSegmentedColormap.from_list("tessera", ["#ffffff", "#cfe8f7", style.SKY])


def table(results, reference) -> pd.DataFrame:
    """Columns: source, provenance, workload, platform, input, r_squared, paper_workload."""
    mine = Results.of(results).models("rsquared")
    mine = mine[mine["input"].isin(INPUTS)]
    if mine.empty:
        raise NotDrawn("figure table8", "no R\u00b2 was computed (models/rsquared.csv has no rows)")
    paper = published.rsquared(reference)
    nearest = {name: published.nearest_workload(name, paper) for name in mine["workload"].unique()}
    mine = mine.assign(source="Tessera", provenance="simulated", paper_workload=mine["workload"].map(nearest))
    rows = [mine]
    for workload, twin in nearest.items():
        if twin:
            part = paper[paper["paper_workload"] == twin]
            rows.append(part.assign(source="paper", provenance="published", workload=workload))
    columns = ["source", "provenance", "workload", "platform", "input", "r_squared", "paper_workload"]
    return pd.concat(rows).reindex(columns=columns).reset_index(drop=True)


def draw(results, reference):
    """A heat map of three columns per platform; obtained large, the paper's value below in small."""
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
        wide = ours[ours["platform"] == platform].pivot_table(
            index="workload", columns="input", values="r_squared"
        )
        wide = wide.reindex(index=workloads, columns=list(INPUTS))
        axes.imshow(wide.to_numpy(float), cmap=_SHADES, vmin=0, vmax=1, aspect="auto")
        for row, workload in enumerate(workloads):
            for column, name in enumerate(INPUTS):
                printed = paper.get((workload, platform, name))
                absent = results.why_absent(workload, platform)
                _cell(axes, column, row, wide.iloc[row, column], printed, absent)
        axes.set_xticks(range(len(INPUTS)), INPUTS)
        axes.set_title(platform)
        axes.grid(False)
        axes.tick_params(length=0)
    all_axes[0, 0].set_yticks(range(len(workloads)), _row_labels(ours, workloads), fontsize=7.5)
    style.headline(figure, "R\u00b2 of a straight line in one input", "simulated, (published) in brackets")
    return figure, rows


def _cell(axes, column: int, row: int, value, printed, absent: str) -> None:
    if pd.isna(value):
        text = absent.replace(" ", "\n")
        axes.text(column, row, text, ha="center", va="center", fontsize=7, color=style.MUTED)
        return
    text = f"{value:.2f}" + (f"\n({printed:.2f})" if printed is not None and pd.notna(printed) else "")
    axes.text(column, row, text, ha="center", va="center", fontsize=7.5, linespacing=0.95, color="#101010")


def _row_labels(ours: pd.DataFrame, workloads: list[str]) -> list[str]:
    twins = ours.drop_duplicates("workload").set_index("workload")["paper_workload"]
    return [f"{name}\n({twins[name]})" if twins[name] and twins[name] != name else name for name in workloads]
