"""Real runs on this machine beside its simulation: differences between layouts, never absolute times.

The cells are hybrid: clock time is measured under real huge pages, H, M and C are simulated. No model is
fitted to them; the only comparison drawn is runtime relative to the all-4KB layout, from the interleaved
pairs of runs that ``tessera host`` writes to ``host/comparison.csv``.
"""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_4KB, PAGE_SIZE_OF
from tessera.results.schema.machine import COMPARISON
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

REMEDY = "./run --reserve reproduce"


def table(results) -> pd.DataFrame:
    """Columns: workload, layout, quantity, difference, ci95, pairs, provenance (one row per point)."""
    results = Results.of(results)
    if results.hybrid.empty:
        raise NotDrawn("figure host", "no real run on this machine (no hybrid cells)", REMEDY)
    compared = results.needed(COMPARISON, "host", REMEDY)
    compared = compared[compared["layout"] != ALL_4KB]
    if compared.empty:
        raise NotDrawn("figure host", f"no layout was measured in pairs with {ALL_4KB}", REMEDY)
    compared = compared.assign(workload=results.hybrid["workload"].iloc[0])
    measured = compared.assign(
        quantity="clock time",
        difference=compared["measured_delta"],
        ci95=compared["measured_ci95"],
        provenance="measured",
    )
    simulated = compared.assign(
        quantity="cycles", difference=compared["simulated_delta"], provenance="simulated"
    ).dropna(subset="difference")
    columns = ["workload", "layout", "quantity", "difference", "ci95", "pairs", "provenance"]
    return pd.concat([measured, simulated]).reindex(columns=columns).reset_index(drop=True)


def draw(results, reference):
    """A row per layout: disc measured with its interval, square simulated."""
    rows = table(results)
    layouts = list(dict.fromkeys(rows["layout"]))
    figure, axes = style.panels(width=style.WIDTH, height=1.9 + 0.3 * len(layouts))
    for provenance, marker, face in (("simulated", "s", style.PAPER), ("measured", "o", style.BLUE)):
        part = rows[rows["provenance"] == provenance]
        axes.errorbar(
            part["difference"],
            [layouts.index(name) for name in part["layout"]],
            xerr=part["ci95"].fillna(0) if provenance == "measured" else None,
            fmt=marker,
            markersize=7,
            capsize=3,
            markerfacecolor=face,
            markeredgecolor=style.INK,
            ecolor=style.INK,
            elinewidth=1.1,
            label=provenance,
        )
    axes.axvline(0, color=style.MUTED, linewidth=1)
    axes.set_yticks(range(len(layouts)), [_label(name) for name in layouts])
    axes.set_ylim(len(layouts) - 0.4, -0.6)
    axes.set_xlabel("difference to all-4KB pages (negative is faster)")
    style.percent_axis(axes.xaxis)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    workload = rows["workload"].iloc[0]
    style.headline(figure, f"Real runs of {workload} beside simulation", "hybrid: measured and simulated")
    return figure, rows


def _label(layout: str) -> str:
    return f"{layout} ({PAGE_SIZE_OF[layout]})" if layout in PAGE_SIZE_OF else layout
