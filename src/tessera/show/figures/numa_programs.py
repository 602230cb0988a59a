"""Mitosis Figures 6 and 10 for recorded programs on scaled machines: runtime over LP-LD, a panel for each.

Bars are simulated with 4KB pages; the whisker spans the assumed numbers of the hog's lines. Short lines are
the same with 2MB pages only, a bound. Diamonds are quotients of archived cycles, if the archive was fetched.
The table has the verdict of each bar (:mod:`tessera.numa.judged`).
"""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.numa.judged import FAILS, HOLDS, judge
from tessera.results.schema.numa import PROGRAMS
from tessera.results.schema.shown import REFERENCE
from tessera.show.figures import style
from tessera.show.results import Results

NAME = "numa-programs"
HINT = "snakemake --cores all studies --configfile config/numa.yaml"
COLUMNS = [
    "source", "program", "workload", "platform", "page_size", "figure", "configuration", "ratio",
    "ratio_ci95", "least_ratio", "greatest_ratio", "verdict", "note", "provenance",
]  # fmt: skip
_MARKS = {HOLDS: "holds", FAILS: "fails"}


def judged_bars(results) -> pd.DataFrame:
    """Bars of the programs of a run with their verdicts (:data:`tessera.numa.judged.COLUMNS`).

    Raises:
        NotDrawn: no program was simulated.
    """
    read = Results.of(results)
    rows = read.needed(PROGRAMS, NAME, HINT, why="no program was simulated under placements")
    try:
        archived = read.read(REFERENCE["archived"], expected=False)
    except TesseraError:
        archived = pd.DataFrame()
    return judge(rows, archived)


def table(results) -> pd.DataFrame:
    """Columns :data:`COLUMNS`: simulated rows, and the archived ones beside them."""
    bars = judged_bars(results)
    ours = bars.assign(source="Tessera")
    shown = bars.dropna(subset=["published_ratio"])
    drop = ["ratio_ci95", "least_ratio", "greatest_ratio", "verdict", "note"]
    theirs = shown.assign(source="archive", ratio=shown["published_ratio"], provenance="published")
    theirs = theirs.assign(**dict.fromkeys(drop))
    parts = [part[COLUMNS] for part in (ours, theirs) if len(part)]
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].reset_index(drop=True)


def draw(results, reference):
    """A panel for each program; a bar for each configuration."""
    rows = table(results)
    programs = list(dict.fromkeys(rows["workload"]))
    names = list(dict.fromkeys(rows["configuration"]))
    height = 0.9 + 1.9 * ((len(programs) + 1) // 2)
    figure, all_axes = style.panels(
        (len(programs) + 1) // 2, 2, width=style.WIDTH, height=height, sharex=True, squeeze=False
    )
    for axes, workload in zip(all_axes.flat, programs, strict=False):
        _panel(axes, rows[rows["workload"] == workload], names)
    for axes in all_axes.flat[len(programs) :]:
        axes.set_visible(False)
    for axes in all_axes[-1]:
        axes.set_xticks(range(len(names)), names, fontsize=7, rotation=40, ha="right")
    style.legend_below(figure, list(all_axes.flat[: len(programs)]), columns=3)
    kinds = "simulated" if set(rows["source"]) == {"Tessera"} else "simulated, beside published"
    style.headline(figure, "Programs on scaled machines by placement of tables and data", kinds)
    return figure, rows


def _panel(axes, rows: pd.DataFrame, names: list[str]) -> None:
    ours = rows[rows["source"] == "Tessera"]
    small, large = (ours[ours["page_size"] == size].set_index("configuration") for size in ("4KB", "2MB"))
    at = [names.index(name) for name in small.index]
    low, high = small["ratio"] - small["least_ratio"], small["greatest_ratio"] - small["ratio"]
    axes.bar(
        at, small["ratio"], width=0.6, color=style.BLUE, edgecolor=style.INK, label="simulated, 4KB pages",
        yerr=[low, high], error_kw={"ecolor": style.INK, "elinewidth": 1, "capsize": 2},
    )  # fmt: skip
    for place, name in zip(at, small.index, strict=True):
        if mark := _MARKS.get(small.loc[name, "verdict"]):
            axes.annotate(mark, (place, 0.05), ha="center", fontsize=6, rotation=90, color=style.PAPER)
    axes.plot(
        [names.index(name) for name in large.index], large["ratio"], "_", color=style.ORANGE, markersize=11,
        markeredgewidth=2, label="simulated, 2MB pages only",
    )  # fmt: skip
    theirs = rows[(rows["source"] == "archive") & (rows["page_size"] == "4KB")]
    if len(theirs):
        places = [names.index(name) for name in theirs["configuration"]]
        axes.plot(
            places,
            theirs["ratio"],
            "D",
            color=style.INK,
            markersize=4,
            label="published: archived, 4KB pages",
        )
    first = ours.iloc[0]
    axes.set_title(f"{first['program'] or first['workload']}, {first['platform']}", fontsize=8)
    axes.axhline(1, color=style.MUTED, linewidth=0.8)
    axes.set_ylabel("runtime ratio", fontsize=8)
    axes.grid(False, axis="x")
