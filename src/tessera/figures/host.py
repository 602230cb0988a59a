"""Real runs on this machine beside its simulation: differences between layouts, never absolute times.

The cells are hybrid: clock time is measured under real huge pages, H, M and C are simulated. No model is
fitted to them; the only comparison drawn is runtime relative to the all-4KB layout.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.figures import style
from tessera.figures.tables import ANCHORS, NotDrawn, Results

BASE = "growing-0"


def table(results) -> pd.DataFrame:
    """Columns: workload, platform, layout, quantity, difference, ci95, provenance (one row per point)."""
    results = Results.of(results)
    hybrid = results.hybrid
    if hybrid.empty:
        raise NotDrawn(
            "figure host", "no real run on this machine (no hybrid cells)", "./run --reserve reproduce"
        )
    rows = []
    for (workload, platform), cells in hybrid.groupby(["workload", "platform"]):
        cells = cells.drop_duplicates("layout").set_index("layout")
        simulated = results.samples(workload, platform).drop_duplicates("layout").set_index("layout")
        if BASE not in cells.index:
            continue
        base = cells.loc[BASE]
        for layout in cells.index.drop(BASE):
            here = cells.loc[layout]
            ratio = here["runtime_ns"] / base["runtime_ns"]
            relative = [c["runtime_ns_ci95"] / c["runtime_ns"] for c in (here, base)]
            half = ratio * float(np.hypot(*np.nan_to_num(relative)))
            rows.append((workload, platform, layout, "clock time", ratio - 1, half, "measured"))
            if {layout, BASE} <= set(simulated.index):
                cycles = simulated["runtime_cycles"]
                rows.append(
                    (
                        workload,
                        platform,
                        layout,
                        "cycles",
                        cycles[layout] / cycles[BASE] - 1,
                        np.nan,
                        "simulated",
                    )
                )
    columns = ["workload", "platform", "layout", "quantity", "difference", "ci95", "provenance"]
    if not rows:
        raise NotDrawn("figure host", f"no workload has a measured {BASE} cell to compare with")
    return pd.DataFrame(rows, columns=columns)


def draw(results, reference):
    """A row per workload and layout: disc measured with its interval, square simulated."""
    rows = table(results)
    keys = rows[["workload", "layout"]].drop_duplicates()
    labels = [f"{w}  {ANCHORS.get(x, x)}" for w, x in keys.itertuples(index=False)]
    figure, axes = style.panels(width=7.6, height=1.9 + 0.27 * len(labels))
    places = {key: place for place, key in enumerate(keys.itertuples(index=False, name=None))}
    for provenance, marker, face in (("simulated", "s", style.PAPER), ("measured", "o", style.BLUE)):
        part = rows[rows["provenance"] == provenance]
        where = [places[key] for key in part[["workload", "layout"]].itertuples(index=False, name=None)]
        bars = part["ci95"] if provenance == "measured" else None
        axes.errorbar(
            part["difference"],
            where,
            xerr=bars,
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
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("difference to all-4KB pages (negative is faster)")
    style.percent_axis(axes.xaxis)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    style.headline(figure, "Real runs beside simulation", "hybrid: time measured, H, M, C simulated")
    return figure, rows
