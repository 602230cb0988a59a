"""Slope above 1 and its evidence (MICRO'20 VII-A, Table 7; OPERA 2.5.2): do walks displace program data?

The slope is (R4K - R2M) / (C4K - C2M), for the published row too, where it is 165 / 76. The evidence is how
many more of the program's own loads reach L3 with 4KB pages than with 2MB pages.
"""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.pair import platform_order
from tessera.show.figures import pair_rows, published, style
from tessera.show.results import NotDrawn, Results


def table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, slope, line_slope, extra_l3_loads, analysed, provenance."""
    results = Results.of(results)
    lines = results.models("coefficients", analysed=False)
    lines = lines[(lines["model"] == "poly1") & (lines["term"] == "C")]
    lines = lines.set_index(["workload", "platform"])["coefficient"]
    rows = []
    for workload, platform in pair_rows.pairs(results, insensitive=True):
        samples = results.samples(workload, platform).set_index("layout")
        if not {ALL_4KB, ALL_2MB} <= set(samples.index):
            continue
        small, large = samples.loc[ALL_4KB], samples.loc[ALL_2MB]
        slope = _slope(
            small["runtime_cycles"], large["runtime_cycles"], small["walk_cycles"], large["walk_cycles"]
        )
        extra = _extra(small["program_l3_loads"], large["program_l3_loads"])
        line = lines.get((workload, platform), float("nan"))
        analysed = (workload, platform) not in results.dropped
        rows.append(("Tessera", workload, platform, slope, line, extra, analysed, "simulated"))
    if not rows:
        raise NotDrawn("figure finding-slope", "no pair has a 4KB and a 2MB cell")
    columns = [
        "source",
        "workload",
        "platform",
        "slope",
        "line_slope",
        "extra_l3_loads",
        "analysed",
        "provenance",
    ]
    ours = pd.DataFrame(rows, columns=columns).dropna(subset=["slope"])
    return pd.concat([ours, _published(reference, columns)], ignore_index=True)


def _published(reference, columns) -> pd.DataFrame:
    rows = published.counters(reference)
    if rows.empty:
        return pd.DataFrame(columns=columns)
    count = rows[rows["side"] == "program"].set_index(["counter", "pages"])["count"]
    slope = _slope(*(count[name, p] for name in ("runtime_cycles", "walk_cycles") for p in ("4KB", "2MB")))
    extra = _extra(count["l3_loads", "4KB"], count["l3_loads", "2MB"])
    spot = rows.iloc[0]
    line = float("nan")
    return pd.DataFrame(
        [("paper", spot["workload"], spot["platform"], slope, line, extra, True, "published")],
        columns=columns,
    )


def _slope(runtime_4kb: float, runtime_2mb: float, walk_4kb: float, walk_2mb: float) -> float:
    """Runtime cycles per walk cycle; not a number where the walk cycles don't fall."""
    return (runtime_4kb - runtime_2mb) / (walk_4kb - walk_2mb) if walk_4kb > walk_2mb else float("nan")


def _extra(small: float, large: float) -> float:
    return small / large - 1 if large else float("nan")


def draw(results, reference):
    """A point per pair; the published one is a diamond; the level line is slope 1."""
    rows = table(results, reference)
    figure, axes = style.panels(width=style.WIDTH, height=4.4)
    ours = rows[rows["source"] == "Tessera"].dropna(subset=["extra_l3_loads"])
    for platform in platform_order(ours["platform"]):
        colour, marker = style.platform_mark(platform)
        for analysed, face, label in ((True, colour, platform), (False, style.PAPER, "not TLB-sensitive")):
            mine = ours[(ours["platform"] == platform) & (ours["analysed"] == analysed)]
            if len(mine):
                axes.plot(
                    mine["extra_l3_loads"], mine["slope"], marker, markerfacecolor=face, markersize=6.5,
                    label=label,
                    markeredgecolor=style.INK if analysed else colour,
                    markeredgewidth=0.7 if analysed else 1.6,
                )  # fmt: skip
    for row in rows[rows["source"] == "paper"].itertuples():
        axes.plot(
            row.extra_l3_loads, row.slope, "D", markersize=8, markerfacecolor=style.PAPER,
            markeredgecolor=style.INK, markeredgewidth=1.5, label=f"published: {row.workload}",
        )  # fmt: skip
    for row in _worth_a_name(ours):
        axes.annotate(
            row.workload, (row.extra_l3_loads, row.slope), xytext=(9, -3),
            textcoords="offset points", fontsize=8, color=style.MUTED,
        )  # fmt: skip
    axes.axhline(1, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.1)
    axes.annotate(
        "above: a walk costs more than its cycles", (0.99, 1), xycoords=("axes fraction", "data"),
        xytext=(0, 4), textcoords="offset points", ha="right", fontsize=8, color=style.MUTED,
    )  # fmt: skip
    axes.set_xlabel("extra L3 loads of the program with 4KB pages")
    axes.set_ylabel("slope: runtime per walk cycle")
    style.percent_axis(axes.xaxis)
    style.legend_below(figure, [axes], columns=2)
    above = int((ours["slope"] > 1).sum())
    style.headline(figure, f"Slope above 1 in {above} of {len(ours)} pairs", "simulated, beside published")
    return figure, rows


def _worth_a_name(ours: pd.DataFrame) -> list:
    """Pairs above 1; without one, the steepest."""
    above = ours[ours["slope"] > 1].drop_duplicates("workload")
    return list((above if len(above) else ours.nlargest(1, "slope")).itertuples())
