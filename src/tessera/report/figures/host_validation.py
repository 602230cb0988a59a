"""Simulation beside measurements on this machine: pointer chases, the core's clock, layouts, real runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB, PAGE_SIZE_OF
from tessera.core.results.machine_tables import (
    CLOCK_MARKS,
    CLOCK_PROGRAMS,
    COMPARISON,
    LATENCY,
    MOSAICS,
    STEPS,
)
from tessera.core.results.outcomes import OK
from tessera.lab.clock.errors import errors
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

REAL_RUNS_REMEDY = "./run --reserve reproduce"

# Pointer chases over growing footprints: measured, and simulated before and after calibration.

CHASE_PANELS = (
    ("pages", "4KB pages, one line per page"),
    ("large-pages", "the same bytes in 2MB pages"),
    ("large-stride", "one line per 2MB page"),
    ("lines", "adjacent lines (data caches)"),
)
CHASE_SOURCES = {
    "measured": ("measured", style.INK, "o", "-"),
    "host-sim": ("host-sim, simulated", style.ORANGE, "^", "--"),
    "host-calibrated": ("calibrated on the chase, simulated", style.BLUE, "s", ":"),
}
CHASE_COLUMNS = ("source", "provenance", "series", "elements", "cycles")


def chase_table(results) -> pd.DataFrame:
    """Single chains: :data:`CHASE_COLUMNS`, and a row per measured step with source ``step``."""
    results = Results.of(results)
    why = "the chase was not measured or not explained"
    latency, steps = results.needed(LATENCY, "validation-chase", why=why), results.read(STEPS)
    shown = latency[(latency["chains"] == 1) & latency["series"].isin([name for name, _ in CHASE_PANELS])]
    if shown.empty:
        raise NotDrawn("figure validation-chase", "no chase gave a measurement")
    marks = steps[steps["source"] == "measured"].assign(
        source="step",
        provenance="measured",
        elements=lambda t: t["entries"],
        cycles=lambda t: t["above_cycles"],
    )
    return pd.concat([shown, marks[marks["series"].isin(shown["series"])]])[list(CHASE_COLUMNS)].reset_index(
        drop=True
    )


@figure(
    "validation-chase",
    "Pointer chases: measured and simulated",
    "Cycles per access over growing footprints: this machine (medians of rounds), its platform file "
    "as detected, and the file calibrated on these chases. Dashed lines: steps found in the "
    "measurement.",
    page="validation.html",
)
def draw_chase(results, reference):
    """A panel per series; logarithmic axes, so that each step is seen."""
    rows = chase_table(results)
    present = [panel for panel in CHASE_PANELS if panel[0] in set(rows["series"])]
    columns = min(2, len(present))
    lines = -(-len(present) // columns)
    figure, axes = style.panels(
        lines, columns, width=style.WIDTH + 0.6, height=0.7 + 2.7 * lines, squeeze=False
    )
    for spare in axes.ravel()[len(present) :]:
        spare.set_visible(False)
    for axis, (series, title) in zip(axes.ravel(), present, strict=False):
        part = rows[rows["series"] == series]
        for source, (label, colour, marker, dash) in CHASE_SOURCES.items():
            line = part[part["source"] == source].sort_values("elements")
            if len(line):
                axis.plot(
                    line["elements"], line["cycles"], dash, color=colour, marker=marker, markersize=3.2,
                    linewidth=1.2, label=label,
                )  # fmt: skip
        for step in part[part["source"] == "step"].itertuples():
            axis.axvline(step.elements, color=style.MUTED, linewidth=1, linestyle="--")
            axis.annotate(
                f"{step.elements:.0f}",
                (step.elements, 0.98),
                xycoords=("data", "axes fraction"),
                fontsize=7.5,
                color=style.MUTED,
                ha="right",
                va="top",
                rotation=90,
            )
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        style.log_axis(axis.yaxis)
        axis.set_title(title)
        axis.set_xlabel(
            "lines" if series == "lines" else "2MB pages" if series == "large-stride" else "4KB pages"
        )
        axis.set_ylabel("cycles per access")
    handles, labels = axes.ravel()[0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels)
    style.headline(figure, "Pointer chases on this machine", "measured and simulated")
    return figure, rows


# Simulated over native cycles of every micro-benchmark and program, with the interval of the measurement.

CLOCK_COLUMNS = ("panel", "name", "pages", "ratio", "low", "high", "provenance")
CLOCK_PANELS = {
    "judge": "micro-benchmarks that judge",
    "calibrate": "micro-benchmarks that calibrate",
    "program": "programs",
}
PAGE_SIZE_MARKERS = {"4KB": ("o", style.BLUE), "2MB": ("^", style.ORANGE)}
CLOCK_BAND = 0.10  #: the aim of the median


def clock_table(results) -> pd.DataFrame:
    """Simulated over measured cycles, with the intervals of the measurement (:data:`CLOCK_COLUMNS`)."""
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
    )[list(CLOCK_COLUMNS)].reset_index(drop=True)


@figure(
    "validation-clock",
    "Simulated core against this machine's clock",
    "Simulated cycles over native cycles of micro-benchmarks and programs. Whiskers: 95% interval of the "
    "measured median. Band: within 10%, the aim for the median of those that judge.",
    page="clock.html",
)
def draw_clock(results, reference):
    """A panel for each half and one for programs; a row per name."""
    rows = clock_table(results)
    present = [panel for panel in CLOCK_PANELS if panel in set(rows["panel"])]
    counts = [rows[rows["panel"] == panel]["name"].nunique() for panel in present]
    figure, axes = style.panels(
        len(present), 1, width=style.WIDTH, height=1.2 + 0.19 * sum(counts) + 0.5 * len(present),
        squeeze=False, height_ratios=[count + 2 for count in counts],
    )  # fmt: skip
    for axis, panel in zip(axes.ravel(), present, strict=True):
        part = rows[rows["panel"] == panel]
        names = list(dict.fromkeys(part["name"]))[::-1]
        axis.axvspan(1 - CLOCK_BAND, 1 + CLOCK_BAND, color=style.GRID, alpha=0.6, linewidth=0)
        axis.axvline(1, color=style.MUTED, linewidth=1)
        for pages, (marker, colour) in PAGE_SIZE_MARKERS.items():
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
        axis.set_title(CLOCK_PANELS[panel])
    axes.ravel()[-1].set_xlabel("simulated cycles over native cycles")
    axes.ravel()[0].legend(loc="lower right", fontsize=7.5)
    style.headline(figure, "The core against this machine's clock", "measured and simulated")
    return figure, rows


# Simulated against measured differences between layouts, with the band of the aim.

MOSAICS_AIM = 0.25  #: of the measured gain of 2MB pages
PLATFORM_FILE_MARKS = {"host-sim": ("^", style.ORANGE), "host-calibrated": ("s", style.BLUE)}

MOSAICS_COLUMNS = ("platform", "layout", "quantity", "difference", "ci95", "provenance")


def mosaics_table(results) -> pd.DataFrame:
    """Rows of :data:`MOSAICS_COLUMNS`: for each layout and platform file a measured and a simulated one."""
    rows = Results.of(results).needed(
        MOSAICS,
        "validation-mosaics",
        REAL_RUNS_REMEDY,
        "no real run of both anchors on this machine",
    )
    measured = rows.assign(
        quantity="clock time",
        difference=rows["measured_delta"],
        ci95=rows["measured_ci95"],
        provenance="measured",
    )
    simulated = rows.assign(
        quantity="cycles", difference=rows["simulated_delta"], ci95=None, provenance="simulated"
    )
    return pd.concat([measured, simulated.astype({"ci95": float})])[list(MOSAICS_COLUMNS)].reset_index(
        drop=True
    )


@figure(
    "validation-mosaics",
    "Differences between layouts: simulated against measured",
    "Each point is a layout's runtime relative to all-4KB pages. On the diagonal, simulation and real "
    "run agree. Within the band, they differ by at most 25% of the measured gain of 2MB pages. Whiskers: "
    "95% intervals of the measurement.",
    page="validation.html",
)
def draw_mosaics(results, reference):
    """A point per layout and platform file."""
    long = mosaics_table(results)
    rows = long.pivot(index=["platform", "layout"], columns="provenance", values=["difference", "ci95"])
    rows = pd.DataFrame(
        {
            "measured_delta": rows["difference", "measured"],
            "measured_ci95": rows["ci95", "measured"],
            "simulated_delta": rows["difference", "simulated"],
        }
    ).reset_index()
    figure, axis = style.panels(width=style.WIDTH, height=4.6)
    values = pd.concat([rows["measured_delta"], rows["simulated_delta"]])
    ends = np.array([min(values.min() * 1.08, -0.01), 0.01])
    gain = -float(rows.loc[rows["layout"] == ALL_2MB, "measured_delta"].iloc[0])
    axis.fill_between(
        ends, ends - MOSAICS_AIM * gain, ends + MOSAICS_AIM * gain, color=style.GRID, alpha=0.6, linewidth=0
    )
    axis.plot(ends, ends, color=style.MUTED, linewidth=1)
    for platform, part in rows.groupby("platform", sort=False):
        marker, colour = PLATFORM_FILE_MARKS.get(platform, ("o", style.GREEN))
        axis.errorbar(
            part["measured_delta"], part["simulated_delta"], xerr=part["measured_ci95"].fillna(0), fmt=marker,
            color=colour, markersize=6, capsize=2.5, elinewidth=1, label=platform,
        )  # fmt: skip
    last = rows[rows["platform"] == rows["platform"].iloc[0]]
    for row in last.itertuples():
        axis.annotate(
            row.layout,
            (row.measured_delta, row.simulated_delta),
            textcoords="offset points",
            xytext=(5, -9),
            fontsize=7.5,
        )
    for one in (axis.xaxis, axis.yaxis):
        style.percent_axis(one)
    axis.set_xlabel("measured difference to all-4KB pages (clock time)")
    axis.set_ylabel("simulated difference (cycles)")
    axis.legend(loc="upper left")
    style.headline(figure, "Layouts on this machine", "measured and simulated")
    return figure, long


# Real runs on this machine beside its simulation: differences between layouts, never absolute times.
#
# The cells are hybrid: clock time is measured under real huge pages, H, M and C are simulated. No model is
# fitted to them; the only comparison drawn is runtime relative to the all-4KB layout, from the interleaved
# pairs of runs that ``tessera measure clock`` writes to ``host/comparison.csv``.


def real_runs_table(results) -> pd.DataFrame:
    """Columns: workload, layout, quantity, difference, ci95, pairs, provenance (one row per point)."""
    results = Results.of(results)
    if results.hybrid.empty:
        raise NotDrawn("figure host", "no real run on this machine (no hybrid cells)", REAL_RUNS_REMEDY)
    compared = results.needed(COMPARISON, "host", REAL_RUNS_REMEDY)
    compared = compared[compared["layout"] != ALL_4KB]
    if compared.empty:
        raise NotDrawn("figure host", f"no layout was measured in pairs with {ALL_4KB}", REAL_RUNS_REMEDY)
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


@figure(
    "host",
    "Real runs and simulation",
    "Difference in clock time between a layout and all-4KB pages on this machine (measured, 95% "
    "confidence interval), and the simulated difference. Hybrid: H, M and C are simulated.",
    page="host.html",
)
def draw_real_runs(results, reference):
    """A row per layout: disc measured with its interval, square simulated."""
    rows = real_runs_table(results)
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
    axes.set_yticks(range(len(layouts)), [_layout_label(name) for name in layouts])
    axes.set_ylim(len(layouts) - 0.4, -0.6)
    axes.set_xlabel("difference to all-4KB pages (negative is faster)")
    style.percent_axis(axes.xaxis)
    style.legend_below(figure, [axes], columns=2)
    workload = rows["workload"].iloc[0]
    style.headline(figure, f"Real runs of {workload} beside simulation", "hybrid: measured and simulated")
    return figure, rows


def _layout_label(layout: str) -> str:
    return f"{layout} ({PAGE_SIZE_OF[layout]})" if layout in PAGE_SIZE_OF else layout
