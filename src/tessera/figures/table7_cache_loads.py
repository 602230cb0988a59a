"""MICRO'20 table 7: loads that reach each cache level, of the program and of the page walker.

Drawn for the workload of figure 9 (the paper's xalancbmk on Broadwell): with 4KB pages the walker's own
loads come on top, and page tables evict program data.
"""

from __future__ import annotations

import pandas as pd

from tessera.figures import case_studies, published, style
from tessera.figures.tables import NotDrawn, Results

LEVELS = ("l1d", "l2", "l3")
SIDES = ("program", "walker")
_LAYOUTS = {"growing-0": "4KB", "growing-8": "2MB"}


def table(results, reference) -> pd.DataFrame:
    """Columns: source, provenance, workload, platform, pages, side, level, loads."""
    results = Results.of(results)
    workload, platform, _ = case_studies.choose("fig9", results)
    samples = results.samples(workload, platform).set_index("layout")
    rows = []
    for layout, pages in _LAYOUTS.items():
        if layout not in samples.index:
            raise NotDrawn("figure table7", f"{workload} on {platform} has no good {layout} cell")
        for side in SIDES:
            for level in LEVELS:
                loads = samples.loc[layout, f"{side}_{level}_loads"]
                rows.append(("Tessera", "simulated", workload, platform, pages, side, level, loads))
    columns = ["source", "provenance", "workload", "platform", "pages", "side", "level", "loads"]
    ours = pd.DataFrame(rows, columns=columns)
    if ours["loads"].isna().all():
        raise NotDrawn("figure table7", f"{workload} on {platform} has no load counts")
    paper = published.cache_loads(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published")
    return pd.concat([ours, paper]).reindex(columns=columns).reset_index(drop=True)


def draw(results, reference):
    """Stacked bars (program below, walker above) for both page sizes; obtained beside published."""
    rows = table(results, reference)
    sources = [name for name in ("Tessera", "paper") if (rows["source"] == name).any()]
    figure, all_axes = style.panels(1, len(LEVELS) * len(sources), width=9.6, height=3.5, squeeze=False)
    spot = rows[rows["source"] == "Tessera"].iloc[0]
    position = 0
    for source in sources:
        mine = rows[rows["source"] == source]
        scale, unit = style.count_unit(mine["loads"].max())
        for level in LEVELS:
            axes = all_axes[0, position]
            _bars(axes, mine[mine["level"] == level], scale)
            where = "obtained" if source == "Tessera" else "published"
            axes.set_title(f"{level.upper()}, {where}", fontsize=9)
            if level == LEVELS[0]:
                axes.set_ylabel(f"loads ({unit})")
            position += 1
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    style.headline(
        figure,
        f"Loads per cache level: {spot['workload']} on {spot['platform']}",
        "simulated; published: xalancbmk",
    )
    return figure, rows


def _bars(axes, rows: pd.DataFrame, scale: float) -> None:
    wide = rows.pivot_table(index="pages", columns="side", values="loads", dropna=False) / scale
    wide = wide.reindex(list(_LAYOUTS.values()))
    places = range(len(wide))
    axes.bar(places, wide["program"], width=0.6, color=style.SKY, edgecolor=style.INK, label="program")
    axes.bar(
        places,
        wide["walker"],
        width=0.6,
        bottom=wide["program"],
        color=style.VERMILLION,
        edgecolor=style.INK,
        hatch="///",
        label="page walker",
    )
    for place, total in zip(places, wide.sum(axis=1), strict=True):
        axes.annotate(
            f"{total:.3g}", (place, total), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_xticks(list(places), list(wide.index))
    axes.set_ylim(0, max(wide.sum(axis=1).max() * 1.15, 1e-12))
    axes.grid(False, axis="x")
