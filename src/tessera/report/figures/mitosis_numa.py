"""Mitosis Figures 6 and 10, simulated: runtime by placement of page tables and data, over LP-LD."""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import PLACEMENTS, PROGRAMS
from tessera.core.results.report_tables import REFERENCE
from tessera.lab.numa.archive import column, figure_cycles
from tessera.lab.numa.mitosis_figures import FAILS, HOLDS, judge_bars
from tessera.lab.numa.placement_costs import HOG_SWEEP, LOCAL
from tessera.report.figures import figure, style
from tessera.report.results import Results

# Mitosis Figures 6 and 10 for computed updates of one table: runtime and walk cycles over LP-LD.
#
# Bars are simulated; where loads wait behind a hog, the whisker spans the assumed numbers of its lines.
# Diamonds are quotients of archived cycles, if the archive was fetched. The paper prints no bar.

PLACEMENTS_NAME = "numa-placements"
PLACEMENTS_HINT = "./run tessera lab run numa-placements --out results/default/studies/numa/placements.csv"
PLACEMENT_QUANTITIES = {"runtime": "runtime", "walk": "walk cycles"}  #: in the archive -> in words
ARCHIVED_WORKLOAD = "GUPS"
_PAGE_SIZE_COLOURS = {"4KB": style.BLUE, "2MB": style.ORANGE}
_PAGE_SIZE_HATCHES = {"4KB": "", "2MB": "///"}
PLACEMENTS_COLUMNS = ["source", "page_size", "configuration", "assumption", "quantity", "ratio", "provenance"]


def placements_table(results) -> pd.DataFrame:
    """Columns :data:`PLACEMENTS_COLUMNS`; ``ratio`` is over LP-LD with the same page size."""
    read = Results.of(results)
    rows = read.needed(PLACEMENTS, PLACEMENTS_NAME, PLACEMENTS_HINT, why="no placement was simulated")
    ours = [
        ("Tessera", row.page_size, row.configuration, row.assumption, words, ratio, "simulated")
        for row in rows.fillna({"assumption": ""}).itertuples()
        for words, ratio in zip(
            PLACEMENT_QUANTITIES.values(), (row.runtime_ratio, row.walk_ratio), strict=True
        )
        if pd.notna(ratio)
    ]
    return pd.DataFrame(
        ours + _archived_ratios(read, dict.fromkeys(rows["configuration"])), columns=PLACEMENTS_COLUMNS
    )


def _archived_ratios(read: Results, configurations) -> list[tuple]:
    """The archived quotients of GUPS; none if the archive was not fetched."""
    try:
        archived = read.read(REFERENCE["archived"], expected=False)
    except TesseraError:
        return []
    found = []
    for quantity, words in PLACEMENT_QUANTITIES.items():
        for size in _PAGE_SIZE_COLOURS if len(archived) else ():
            wide = figure_cycles(archived, "Figure 6", quantity, size)
            if ARCHIVED_WORKLOAD not in wide.index:
                continue
            base = column(wide, LOCAL)[ARCHIVED_WORKLOAD]
            values = ((name, column(wide, name)[ARCHIVED_WORKLOAD] / base) for name in configurations)
            found += [
                ("archive", size, name, "", words, ratio, "published")
                for name, ratio in values
                if pd.notna(ratio)
            ]
    return found


@figure(
    "numa-placements",
    "Updates of one table by placement of page tables and data",
    "Mitosis Figures 6 and 10 for computed updates of one table: runtime and walk cycles over LP-LD, "
    "with 4KB pages and with 2MB pages only. Whiskers: other assumed numbers of outstanding lines of the "
    "interfering program. Diamonds: the paper's archived cycles, if they were fetched; with 2MB pages "
    "its programs had some 4KB pages.",
    page="placements.html",
)
def draw_placements(results, reference):
    """A panel for each quantity; a pair of bars for each configuration."""
    rows = placements_table(results)
    names = list(dict.fromkeys(rows.loc[rows["source"] == "Tessera", "configuration"]))
    quantities = [words for words in PLACEMENT_QUANTITIES.values() if words in set(rows["quantity"])]
    figure, all_axes = style.panels(
        len(quantities), 1, width=style.WIDTH, height=1.1 + 2.1 * len(quantities), sharex=True, squeeze=False
    )
    for axes, words in zip(all_axes[:, 0], quantities, strict=True):
        for shift, size in zip((-0.2, 0.2), _PAGE_SIZE_COLOURS, strict=True):
            mine = rows[(rows["quantity"] == words) & (rows["page_size"] == size)]
            _placement_bars(axes, mine[mine["source"] == "Tessera"], names, shift, size)
            marks = mine[mine["source"] == "archive"]
            if len(marks):
                at = [names.index(name) + shift for name in marks["configuration"]]
                axes.plot(
                    at,
                    marks["ratio"],
                    "D",
                    color=style.INK,
                    markersize=4,
                    label="published: archived",
                )
        axes.axhline(1, color=style.MUTED, linewidth=0.8)
        axes.set_ylabel(f"{words} over {LOCAL}")
        axes.grid(False, axis="x")
        axes.tick_params(axis="x", length=0)
    all_axes[-1, 0].set_xticks(range(len(names)), names, fontsize=8, rotation=30, ha="right")
    style.legend_below(figure, all_axes[:, 0], columns=2)
    kinds = "simulated" if set(rows["source"]) == {"Tessera"} else "simulated, beside published"
    workloads = Results.of(results).read(PLACEMENTS)["workload"].unique()
    style.headline(figure, f"{', '.join(workloads)} by placement of page tables and data", kinds)
    return figure, rows


def _placement_bars(axes, rows: pd.DataFrame, names: list[str], shift: float, size: str) -> None:
    deciding = rows[rows["assumption"].isin(("", HOG_SWEEP[1.0]))].set_index("configuration")["ratio"]
    spread = rows.groupby("configuration")["ratio"].agg(["min", "max"])
    at = [names.index(name) + shift for name in deciding.index]
    low = deciding - spread["min"].reindex(deciding.index)
    high = spread["max"].reindex(deciding.index) - deciding
    axes.bar(
        at, deciding, width=0.38, color=_PAGE_SIZE_COLOURS[size], hatch=_PAGE_SIZE_HATCHES[size],
        edgecolor=style.INK, label=f"simulated, {size} pages", yerr=[low, high],
        error_kw={"ecolor": style.INK, "elinewidth": 1, "capsize": 2},
    )  # fmt: skip


# Mitosis Figures 6 and 10 for recorded programs on scaled machines: runtime over LP-LD, a panel for each.
#
# Bars are simulated with 4KB pages; the whisker spans the assumed numbers of the hog's lines. Short lines
# are the same with 2MB pages only, a bound. Diamonds are quotients of archived cycles, if the archive was
# fetched. The table has the verdict of each bar (:mod:`tessera.lab.numa.mitosis_figures`).

PROGRAMS_NAME = "numa-programs"
PROGRAMS_HINT = "snakemake --cores all studies --configfile config/numa.yaml"
PROGRAMS_COLUMNS = [
    "source", "program", "workload", "platform", "page_size", "figure", "configuration", "ratio",
    "ratio_ci95", "least_ratio", "greatest_ratio", "verdict", "note", "provenance",
]  # fmt: skip
_VERDICT_MARKS = {HOLDS: "holds", FAILS: "fails"}


def judged_program_bars(results) -> pd.DataFrame:
    """Bars of the programs of a run with their verdicts.

    They are the table :data:`tessera.lab.numa.mitosis_figures.JUDGED`.

    Raises:
        NotDrawn: no program was simulated.
    """
    read = Results.of(results)
    rows = read.needed(
        PROGRAMS, PROGRAMS_NAME, PROGRAMS_HINT, why="no program was simulated under placements"
    )
    try:
        archived = read.read(REFERENCE["archived"], expected=False)
    except TesseraError:
        archived = pd.DataFrame()
    return judge_bars(rows, archived)


def programs_table(results) -> pd.DataFrame:
    """Columns :data:`PROGRAMS_COLUMNS`: simulated rows, and the archived ones beside them."""
    bars = judged_program_bars(results)
    ours = bars.assign(source="Tessera")
    shown = bars.dropna(subset=["published_ratio"])
    drop = ["ratio_ci95", "least_ratio", "greatest_ratio", "verdict", "note"]
    theirs = shown.assign(source="archive", ratio=shown["published_ratio"], provenance="published")
    theirs = theirs.assign(**dict.fromkeys(drop))
    parts = [part[PROGRAMS_COLUMNS] for part in (ours, theirs) if len(part)]
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0].reset_index(drop=True)


@figure(
    "numa-programs",
    "Programs on scaled machines by placement of tables and data",
    "Mitosis Figures 6 and 10 for recorded programs: runtime over LP-LD (last bar: RPI-LD over "
    "RPI-LD+M). The machine of each panel is the paper's with L3, STLB and walk caches divided by the "
    "number in its name, as the footprint. Whiskers: other assumed numbers of outstanding lines of the "
    "interfering program. Diamonds: the paper's archived cycles, if they were fetched.",
    page="placements.html",
)
def draw_programs(results, reference):
    """A panel for each program; a bar for each configuration."""
    rows = programs_table(results)
    programs = list(dict.fromkeys(rows["workload"]))
    names = list(dict.fromkeys(rows["configuration"]))
    height = 0.9 + 1.9 * ((len(programs) + 1) // 2)
    figure, all_axes = style.panels(
        (len(programs) + 1) // 2, 2, width=style.WIDTH, height=height, sharex=True, squeeze=False
    )
    for axes, workload in zip(all_axes.flat, programs, strict=False):
        _program_panel(axes, rows[rows["workload"] == workload], names)
    for axes in all_axes.flat[len(programs) :]:
        axes.set_visible(False)
    for axes in all_axes[-1]:
        axes.set_xticks(range(len(names)), names, fontsize=7, rotation=40, ha="right")
    style.legend_below(figure, list(all_axes.flat[: len(programs)]), columns=3)
    kinds = "simulated" if set(rows["source"]) == {"Tessera"} else "simulated, beside published"
    style.headline(figure, "Programs on scaled machines by placement of tables and data", kinds)
    return figure, rows


def _program_panel(axes, rows: pd.DataFrame, names: list[str]) -> None:
    ours = rows[rows["source"] == "Tessera"]
    small, large = (ours[ours["page_size"] == size].set_index("configuration") for size in ("4KB", "2MB"))
    at = [names.index(name) for name in small.index]
    low, high = small["ratio"] - small["least_ratio"], small["greatest_ratio"] - small["ratio"]
    axes.bar(
        at, small["ratio"], width=0.6, color=style.BLUE, edgecolor=style.INK, label="simulated, 4KB pages",
        yerr=[low, high], error_kw={"ecolor": style.INK, "elinewidth": 1, "capsize": 2},
    )  # fmt: skip
    for place, name in zip(at, small.index, strict=True):
        if mark := _VERDICT_MARKS.get(small.loc[name, "verdict"]):
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
