"""Studies of the simulator: errors of sampling, phases of the window, ablations, other assumed values."""

from __future__ import annotations

import pandas as pd

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.results.loader import platform_order
from tessera.core.results.study_tables import INTERVALS, SAMPLING, SWEEP, VARIANTS
from tessera.lab.studies.sweep import CONCLUSIONS
from tessera.lab.studies.variations import BASELINE
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

# What sampling gets wrong: errors of differences between layouts, and of totals, by sampling method.
#
# An error of a difference is relative to the full gain (4KB to 2MB pages). Whiskers are 95% intervals of the
# estimate; only systematic samples have one.

#: method, contents of TLBs and caches -> label; the order of the rows
SAMPLING_LABELS = {
    ("systematic", "perfect"): "systematic, perfect contents",
    ("clustered", "perfect"): "clustered",
    ("blind-middle", "perfect"): "blind, middle part",
    ("blind-first", "perfect"): "blind, first part",
}
LAYOUT_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LAYOUT_COLOURS = (
    style.BLUE,
    style.VERMILLION,
    style.GREEN,
    style.ORANGE,
    style.PURPLE,
    style.SKY,
    style.GREY,
)


def sampling_errors_table(results) -> pd.DataFrame:
    """A row per workload, method, layout: error, difference_error and their half-widths, as fractions."""
    rows = Results.of(results).needed(SAMPLING, "sampling", why="no sampling study was made")
    rows = rows[rows["quantity"] == "R"].copy()
    rows["label"] = [sampling_label(m, w) for m, w in zip(rows["method"], rows["warmup"], strict=True)]
    rows["error_ci95"] = rows["ci95"] / rows["truth"]
    rows["difference_error_ci95"] = rows["difference_ci95"] / rows.groupby("workload")[
        "true_difference"
    ].transform(lambda part: part[rows.loc[part.index, "layout"] == ALL_2MB].abs().max())
    columns = ["workload", "platform", "label", "layout", "error", "error_ci95"]
    columns += ["difference_error", "difference_error_ci95", "timed_instructions", "intervals", "provenance"]
    return rows[columns].reset_index(drop=True)


def sampling_label(method: str, warmup: str) -> str:
    """A method as people read it; plans carry their warm-up."""
    if (method, warmup) in SAMPLING_LABELS:
        return SAMPLING_LABELS[method, warmup]
    return f"systematic, warmed by {int(warmup.split()[0]) / 1e6:g} M accesses"


@figure(
    "sampling",
    "Errors of sampling",
    "Full simulation of a window, compared with samples of it at the same cost. Top: error of the "
    "runtime's difference to 4KB pages, as a share of the gain from 4KB to 2MB pages. Bottom: error "
    "of the runtime. Whiskers: 95% intervals; only systematic samples have them. `Perfect contents`: "
    "TLBs and caches have the correct contents at the start of each sample.",
    page="sampling.html",
)
def draw_sampling_errors(results, reference):
    """A column per workload; above: differences between layouts, below: totals."""
    rows = sampling_errors_table(results)
    workloads = list(dict.fromkeys(rows["workload"]))
    own = [name for name in dict.fromkeys(rows["label"]) if name not in SAMPLING_LABELS.values()]
    labels = [*own, *(name for name in SAMPLING_LABELS.values() if name in set(rows["label"]))]
    figure, all_axes = style.panels(
        2,
        len(workloads),
        width=max(7.6, 1.9 + 2.9 * len(workloads)),
        height=1.6 + 0.5 * len(labels),
        sharey=True,
        squeeze=False,
    )
    layouts = list(dict.fromkeys(rows["layout"]))
    kinds = (("difference_error", "of differences, share of the gain"), ("error", "of the runtime"))
    for line, (column, words) in enumerate(kinds):
        for axes, workload in zip(all_axes[line], workloads, strict=True):
            part = rows[rows["workload"] == workload]
            _sampling_error_strip(axes, part, column, labels, layouts)
            if line == 0:
                axes.set_title(workload)
        # One label a line: beside each other they would meet.
        all_axes[line, len(workloads) // 2].set_xlabel(f"error {words}")
    for axes in all_axes[:, 0]:
        axes.set_yticks(range(len(labels)), labels)
        axes.set_ylim(len(labels) - 0.4, -0.6)
    handles, names = all_axes[1, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, names, len(names))
    style.headline(figure, f"Errors of sampling on {rows['platform'].iloc[0]}", "simulated")
    return figure, rows


def _sampling_error_strip(
    axes, rows: pd.DataFrame, column: str, labels: list[str], layouts: list[str]
) -> None:
    for number, layout in enumerate(layouts):
        if layout == ALL_4KB and column == "difference_error":
            continue  # the base differs from itself by nothing
        part = rows[rows["layout"] == layout]
        shift = 0.14 * (number - (len(layouts) - 1) / 2)
        axes.errorbar(
            part[column],
            [labels.index(name) + shift for name in part["label"]],
            xerr=part[f"{column}_ci95"].fillna(0),
            fmt=LAYOUT_MARKERS[number % len(LAYOUT_MARKERS)],
            markersize=5,
            markerfacecolor=LAYOUT_COLOURS[number % len(LAYOUT_COLOURS)],
            markeredgecolor=style.INK,
            markeredgewidth=0.6,
            ecolor=style.MUTED,
            elinewidth=0.9,
            label=layout,
        )
    axes.axvline(0, color=style.MUTED, linewidth=1)
    style.percent_axis(axes.xaxis)


# Why sampling can go wrong: cycles per instruction along the window, and what each method sees of it.

PHASE_LINES = {ALL_4KB: ("4KB pages", style.BLUE, "-"), ALL_2MB: ("2MB pages", style.ORANGE, "-")}
PHASE_METHODS = {
    "systematic": ("systematic", style.GREEN, "|"),
    "clustered": ("clustered", style.PURPLE, "x"),
    "blind-middle": ("blind, middle", style.VERMILLION, "."),
    "blind-first": ("blind, first", style.INK, "."),
}


def sampling_phases_table(results) -> pd.DataFrame:
    """A row per workload, interval and layout: cycles and walk cycles per instruction, and its methods."""
    rows = Results.of(results).needed(INTERVALS, "sampling-phases", why="no sampling study was made")
    rows = rows[rows["layout"].isin(PHASE_LINES)]
    rows = rows.assign(
        cycles_per_instruction=rows["runtime_cycles"] / rows["instructions"],
        walk_cycles_per_instruction=rows["walk_cycles"] / rows["instructions"],
    )
    columns = ["workload", "platform", "interval", "start_access", "layout", "cycles_per_instruction"]
    return rows[[*columns, "walk_cycles_per_instruction", "methods", "provenance"]].reset_index(drop=True)


@figure(
    "sampling-phases",
    "Phases of the window",
    "Cycles per instruction of each interval of the window in full simulation. The marks below show "
    "which intervals each sampling method simulates.",
    page="sampling.html",
)
def draw_sampling_phases(results, reference):
    """A panel per workload; ticks below mark the intervals of each method."""
    rows = sampling_phases_table(results)
    workloads = list(dict.fromkeys(rows["workload"]))
    figure, all_axes = style.panels(
        len(workloads), 1, width=9.6, height=0.9 + 1.9 * len(workloads), squeeze=False
    )
    for axes, workload in zip(all_axes[:, 0], workloads, strict=True):
        part = rows[rows["workload"] == workload]
        _phases_panel(axes, part)
        axes.set_title(workload)
        axes.set_ylabel("cycles per\ninstruction")
    all_axes[-1, 0].set_xlabel("accesses from the window's start (millions)")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels, 6)
    style.headline(figure, f"Along the window, on {rows['platform'].iloc[0]}", "simulated")
    return figure, rows


def _phases_panel(axes, rows: pd.DataFrame) -> None:
    top = rows["cycles_per_instruction"].max()
    for layout, (label, colour, dash) in PHASE_LINES.items():
        part = rows[rows["layout"] == layout].sort_values("interval")
        x = part["start_access"] / 1e6
        axes.plot(x, part["cycles_per_instruction"], dash, color=colour, linewidth=1.1, label=label)
    marked = rows[rows["layout"] == ALL_4KB]
    for line, (method, (label, colour, marker)) in enumerate(PHASE_METHODS.items()):
        mine = marked[[method in words.split() for words in marked["methods"]]]
        height = [-top * (0.08 + 0.09 * line)] * len(mine)
        axes.plot(mine["start_access"] / 1e6, height, marker, color=colour, markersize=6, label=label)
    axes.set_ylim(-0.44 * top, 1.08 * top)
    axes.set_yticks([tick for tick in axes.get_yticks() if 0 <= tick <= 1.08 * top])


# What a mechanism does to runtime over walk cycles: all layouts, one mechanism switched off at a time.

ABLATION_LOOKS = {
    "baseline": ("baseline", style.INK, "o"),
    "no-pollution": ("walker loads don't pollute", style.GREEN, "s"),
    "infinite-walkers": ("infinite walkers", style.ORANGE, "^"),
    "no-overlap": ("no overlap", style.VERMILLION, "D"),
    "no-mispredictions": ("no mispredictions", style.BLUE, "v"),
}


def ablations_table(results) -> pd.DataFrame:
    """A row per workload, platform, variant, layout; ``added_cycles`` is R less R with 2MB pages."""
    rows = Results.of(results).needed(VARIANTS, "ablations", why="no ablation study was made")
    whole = rows.groupby(["workload", "platform"])["variant"].transform("nunique") > 2
    rows = rows[rows["runtime_cycles"].notna() & whole]  # not the pairs with one ablation
    keys = ["workload", "platform", "variant"]
    base = rows[rows["layout"] == ALL_2MB].set_index(keys)["runtime_cycles"]
    joined = rows.join(base.rename("base_cycles"), on=keys)
    joined["added_cycles"] = joined["runtime_cycles"] - joined["base_cycles"]
    columns = [*keys, "layout", "runtime_cycles", "walk_cycles", "added_cycles"]
    return joined[columns].assign(provenance="simulated").reset_index(drop=True)


@figure(
    "ablations",
    "Effect of one mechanism on slope and curvature",
    "Runtime minus the runtime of the all-2MB layout, against walk cycles, with one mechanism switched "
    "off at a time. Each point is a layout. The dotted line has slope 1.",
    page="ablations.html",
)
def draw_ablations(results, reference):
    """A panel per workload (rows) and platform (columns); the dotted line has slope 1."""
    rows = ablations_table(results)
    workloads, platforms = list(dict.fromkeys(rows["workload"])), platform_order(rows["platform"])
    figure, all_axes = style.panels(
        len(workloads),
        len(platforms),
        width=max(7.6, 3.1 * len(platforms)),
        height=0.9 + 2.5 * len(workloads),
        squeeze=False,
    )
    for line, workload in zip(all_axes, workloads, strict=True):
        for axes, platform in zip(line, platforms, strict=True):
            part = rows[(rows["workload"] == workload) & (rows["platform"] == platform)]
            axes.set_title(f"{workload} on {platform}")
            if len(part):
                _ablations_panel(axes, part)
            else:
                axes.text(0.5, 0.5, "no cells", ha="center", transform=axes.transAxes, color=style.MUTED)
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels, 5)
    style.headline(figure, "Runtime above that of 2MB pages, against walk cycles", "simulated")
    return figure, rows


def _ablations_panel(axes, rows: pd.DataFrame) -> None:
    x_scale, x_unit = style.count_unit(rows["walk_cycles"].max())
    y_scale, y_unit = style.count_unit(rows["added_cycles"].abs().max())
    for variant, (label, colour, marker) in ABLATION_LOOKS.items():
        part = rows[rows["variant"] == variant]
        axes.plot(
            part["walk_cycles"] / x_scale,
            part["added_cycles"] / y_scale,
            marker,
            markersize=4.2,
            markerfacecolor="none",
            markeredgecolor=colour,
            label=label,
        )
    least, greatest = rows["walk_cycles"].min(), rows["walk_cycles"].max()
    line = [0, (greatest - least) / y_scale]
    axes.plot([least / x_scale, greatest / x_scale], line, ":", color=style.MUTED, label="slope 1")
    axes.set_xlabel(f"walk cycles C ({x_unit})", fontsize=8)
    axes.set_ylabel(f"cycles ({y_unit})", fontsize=8)


# Which conclusions survive when an assumed value is another one: conclusions by variations.

PAIR = ["workload", "platform"]
#: inches of a row, and of a panel's title and names of conclusions
SWEEP_ROW, SWEEP_HEAD = 0.145, 1.9
SURVIVAL_MARKS = {
    True: ("same as the baseline", style.SKY, "."),
    False: ("overturned", style.VERMILLION, "X"),
}


def sweep_table(results) -> pd.DataFrame:
    """A row per variation and conclusion that was judged."""
    rows = Results.of(results).needed(SWEEP, "sweep", why="no sweep was made")
    rows = rows[(rows["key"] != BASELINE) & rows["survives"].notna()]
    if rows.empty:
        raise NotDrawn("figure sweep", "no variation was judged")
    columns = ["workload", "platform", "key", "alternative", "conclusion", "number", "holds"]
    return rows[[*columns, "baseline_number", "survives", "provenance"]].reset_index(drop=True)


@figure(
    "sweep",
    "Conclusions under other assumed values",
    "Each row changes one assumed value. A cross means that the conclusion differs from that of the "
    "baseline. Beside each conclusion: in how many rows it is the same.",
    page="assumptions.html",
)
def draw_sweep(results, reference):
    """One panel per workload and platform: a row per variation, a column per conclusion."""
    rows = sweep_table(results)
    rows["variation"] = rows["key"] + " " + rows["alternative"]
    pairs = {
        f"{workload} on {platform}": part for (workload, platform), part in rows.groupby(PAIR, sort=False)
    }
    names = [c.name for c in CONCLUSIONS if c.name in set(rows["conclusion"])]
    heights = [SWEEP_HEAD + SWEEP_ROW * part["variation"].nunique() for part in pairs.values()]
    figure, all_axes = style.panels(
        len(pairs), 1, width=6.4, height=0.9 + sum(heights), squeeze=False, height_ratios=heights
    )
    for axes, (pair, part) in zip(all_axes[:, 0], pairs.items(), strict=True):
        _sweep_panel(axes, part, names)
        axes.set_title(pair)
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels, 2)
    style.headline(figure, "Conclusions under other values of what is assumed", "simulated")
    return figure, rows.drop(columns="variation")


def _sweep_panel(axes, rows: pd.DataFrame, names: list[str]) -> None:
    variations = list(dict.fromkeys(rows["variation"]))
    for survives, (label, colour, marker) in SURVIVAL_MARKS.items():
        part = rows[rows["survives"] == survives]
        axes.plot(
            [names.index(name) for name in part["conclusion"]],
            [variations.index(name) for name in part["variation"]],
            marker,
            color=colour,
            markersize=6,
            label=label,
        )
    counts = rows.groupby("conclusion")["survives"].agg(lambda part: f"{sum(part)}/{len(part)}")
    axes.xaxis.tick_top()
    axes.set_xticks(
        range(len(names)), [f"{name}  {counts.get(name, '-')}" for name in names], rotation=90, fontsize=8
    )
    axes.set_xlim(-0.6, len(names) - 0.4)
    axes.set_yticks(range(len(variations)), variations, fontsize=7.5)
    axes.set_ylim(len(variations) - 0.4, -0.6)
