"""MICRO'20 table 7 and OPERA table 6 (one measurement): counters of a workload with 4KB and 2MB pages.

With 4KB pages the walker's own loads come on top, and page tables evict program data. Drawn for the pairs of
figure 9: what stands in for the paper's xalancbmk on Broadwell, the published numbers, and the steepest pair.
"""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.show.figures import case_studies, published, style
from tessera.show.results import NotDrawn, Results

#: counter -> (title, unit when counts are billions)
COUNTERS = {
    "runtime_cycles": "runtime",
    "walk_cycles": "walk cycles",
    "tlb_misses": "TLB misses",
    "l1d_loads": "L1d loads",
    "l2_loads": "L2 loads",
    "l3_loads": "L3 loads",
}
SIDES = ("program", "walker")
_LAYOUTS = {name: PAGE_SIZE_OF[name] for name in (ALL_4KB, ALL_2MB)}
_COLUMNS = ["source", "provenance", "workload", "platform", "choice", "pages", "side", "counter", "count"]


def table(results, reference) -> pd.DataFrame:
    """Columns of :data:`_COLUMNS`: one count a row; the paper's rows have the source ``paper``."""
    results = Results.of(results)
    picks = case_studies.choose("fig9", results)
    rows = [row for pick in picks for row in _of_pair(results, pick)]
    ours = pd.DataFrame(rows, columns=_COLUMNS)
    if ours.loc[ours["counter"].str.endswith("_loads"), "count"].isna().all():
        raise NotDrawn("figure table7", f"{picks[0].workload} on {picks[0].platform} has no load counts")
    paper = published.counters(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", choice="as printed")
    return pd.concat([ours, paper]).reindex(columns=_COLUMNS).reset_index(drop=True)


def _of_pair(results: Results, pick) -> list[tuple]:
    samples = results.samples(pick.workload, pick.platform).set_index("layout")
    rows = []
    for layout, pages in _LAYOUTS.items():
        if layout not in samples.index:
            raise NotDrawn("figure table7", f"{pick.workload} on {pick.platform} has no good {layout} cell")
        cell = samples.loc[layout]
        counts = {("program", name): cell[name] for name in ("runtime_cycles", "walk_cycles")}
        counts["program", "tlb_misses"] = cell["stlb_misses"]
        for side in SIDES:
            counts |= {(side, name): cell[f"{side}_{name}"] for name in COUNTERS if name.endswith("_loads")}
        about = ("Tessera", "simulated", pick.workload, pick.platform, pick.why, pages)
        rows += [(*about, side, name, count) for (side, name), count in counts.items()]
    return rows


def draw(results, reference):
    """A row of panels per pair, published ones in the middle; bars: program below, walker above."""
    rows = table(results, reference)
    groups = [group for _, group in rows.groupby(["source", "workload", "platform"], sort=False)]
    groups.sort(key=lambda g: (g["choice"].iloc[0].startswith("the pair"), g["source"].iloc[0] == "paper"))
    figure = style.figure(width=style.WIDTH, height=0.7 + 3.4 * len(groups))
    parts = figure.subfigures(len(groups), 1, squeeze=False)[:, 0]
    for part, mine in zip(parts, groups, strict=True):
        spot = mine.iloc[0]
        with style.context():
            words = style.wrapped(
                f"{spot['provenance']}: {spot['workload']} on {spot['platform']}, {spot['choice']}"
            )
            part.suptitle(words, x=0.02, ha="left", fontsize=9)
            all_axes = part.subplots(2, 3).ravel()
        for axes, (counter, title) in zip(all_axes, COUNTERS.items(), strict=True):
            here = mine[mine["counter"] == counter]
            scale, unit = style.count_unit(here["count"].max())
            _bars(axes, here, scale)
            axes.set_title(f"{title} ({unit})", fontsize=8.5)
    style.legend_below(figure, all_axes)
    style.headline(figure, "Counters with 4KB and with 2MB pages", "simulated, beside published")
    return figure, rows


def _bars(axes, rows: pd.DataFrame, scale: float) -> None:
    wide = rows.pivot_table(index="pages", columns="side", values="count", dropna=False) / scale
    wide = wide.reindex(index=list(_LAYOUTS.values()), columns=list(SIDES)).fillna(0)
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
            f"{total:.4g}", (place, total), xytext=(0, 3), textcoords="offset points", ha="center", fontsize=8
        )
    axes.set_xticks(list(places), list(wide.index))
    axes.set_yticks([])
    axes.set_ylim(0, max(wide.sum(axis=1).max() * 1.25, 1e-12))
    axes.set_xlim(-0.7, 1.7)
    axes.grid(False)
