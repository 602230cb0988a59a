"""Simulated over native cycles of every micro-benchmark and program, with the interval of the measurement."""

from __future__ import annotations

import pandas as pd

from tessera.judge.clock.summary import errors
from tessera.results.schema.clock import CLOCK_MARKS, CLOCK_PROGRAMS
from tessera.results.status import OK
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

COLUMNS = ("panel", "name", "pages", "ratio", "low", "high", "provenance")
PANELS = {
    "judge": "micro-benchmarks that judge",
    "calibrate": "micro-benchmarks that calibrate",
    "program": "programs",
}
MARKERS = {"4KB": ("o", style.BLUE), "2MB": ("^", style.ORANGE)}
BAND = 0.10  #: the aim of the median


def table(results) -> pd.DataFrame:
    """Ratios of simulated to measured cycles with the intervals of the measurement (COLUMNS)."""
    results = Results.of(results)
    why = "nothing was measured on this machine's clock"
    marks = errors(results.needed(CLOCK_MARKS, "validation-clock", why=why), "mark")
    programs = errors(results.read(CLOCK_PROGRAMS), "program")
    parts = [
        marks.assign(panel=marks["half"], name=marks["mark"]),
        programs.assign(panel="program", name=programs["program"]),
    ]
    rows = pd.concat(parts, ignore_index=True)
    rows = rows[(rows["status"] == OK) & rows["error"].notna()]
    if rows.empty:
        raise NotDrawn("figure validation-clock", "no micro-benchmark has both numbers")
    ratio = rows["simulated_cycles"] / rows["cycles"]
    return rows.assign(
        ratio=ratio,
        low=(rows["simulated_cycles"] / rows["high_cycles"]).fillna(ratio),
        high=(rows["simulated_cycles"] / rows["low_cycles"]).fillna(ratio),
        provenance="simulated",
    )[list(COLUMNS)].reset_index(drop=True)


def draw(results, reference):
    """A panel for each half and one for programs; a row per name."""
    rows = table(results)
    present = [panel for panel in PANELS if panel in set(rows["panel"])]
    counts = [rows[rows["panel"] == panel]["name"].nunique() for panel in present]
    figure, axes = style.panels(
        len(present), 1, width=style.WIDTH, height=1.2 + 0.19 * sum(counts) + 0.5 * len(present),
        squeeze=False, height_ratios=[count + 2 for count in counts],
    )  # fmt: skip
    for axis, panel in zip(axes.ravel(), present, strict=True):
        part = rows[rows["panel"] == panel]
        names = list(dict.fromkeys(part["name"]))[::-1]
        axis.axvspan(1 - BAND, 1 + BAND, color=style.GRID, alpha=0.6, linewidth=0)
        axis.axvline(1, color=style.MUTED, linewidth=1)
        for pages, (marker, colour) in MARKERS.items():
            some = part[part["pages"] == pages]
            if some.empty:
                continue
            place = [names.index(name) for name in some["name"]]
            spread = [some["ratio"] - some["low"], some["high"] - some["ratio"]]
            axis.errorbar(
                some["ratio"], place, xerr=spread, fmt=marker, color=colour, markersize=4, capsize=2,
                elinewidth=1, label=f"{pages} pages",
            )  # fmt: skip
        axis.set_yticks(range(len(names)), names, fontsize=7.5)
        axis.set_ylim(-0.8, len(names) - 0.2)
        axis.set_xscale("log")
        ticks = [0.25, 0.5, 0.75, 1, 1.5, 2, 3]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axis.minorticks_off()
        axis.set_xlim(min(0.2, rows["low"].min() * 0.9), max(3, rows["high"].max() * 1.1))
        axis.set_title(PANELS[panel])
    axes.ravel()[-1].set_xlabel("simulated cycles over native cycles")
    axes.ravel()[0].legend(loc="lower right", fontsize=7.5)
    style.headline(figure, "The core against this machine's clock", "measured and simulated")
    return figure, rows
