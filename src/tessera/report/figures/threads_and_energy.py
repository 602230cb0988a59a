"""Energy over runtime that 2MB pages save, and what the model of threads gives for OPERA's curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, cycle

import numpy as np
import pandas as pd

from tessera.core.results.outcomes import ok_rows
from tessera.core.results.study_tables import SAVINGS, THREADS_SWEEP
from tessera.lab.energy import guz_model
from tessera.lab.energy.power import BASELINE
from tessera.lab.energy.sourced_values import ASSUMED
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

# Energy over runtime that 2MB pages save, for every pair and every set of constants (docs/explain/energy.md).

ENERGY_HINT = "tessera lab run energy cells=results/default/cells.csv --out results/default/energy"


def savings_table(results):
    """Columns workload, platform, constants, ratio_2mb, static_share, provenance."""
    rows = Results.of(results).needed(
        SAVINGS, "energy", ENERGY_HINT, why="the energy of the cells was not computed"
    )
    rows = rows[rows["ratio_2mb"].notna()]
    if rows.empty:
        raise NotDrawn("figure energy", "2MB pages change no runtime", ENERGY_HINT)
    columns = ["workload", "platform", "constants", "ratio_2mb", "static_share", "provenance"]
    return rows[columns].reset_index(drop=True)


@figure(
    "energy",
    "Energy that 2MB pages save, over runtime",
    "Share of the energy over share of the runtime that 2MB pages save of the 4KB run: a point for "
    "each pair, a row for each set of assumed constants (E8). 1 is OPERA's statement that both "
    "percentages are the same.",
    page="energy.html",
)
def draw_savings(results, reference):
    """A line of sets for each platform: all pairs as points, their median as a bar."""
    rows = savings_table(results)
    sets = list(dict.fromkeys(rows["constants"]))
    figure, axes = style.panels(width=style.WIDTH, height=1.2 + 0.27 * len(sets))
    for platform, part in rows.groupby("platform", sort=False):
        colour, marker = style.platform_mark(platform)
        places = [sets.index(name) for name in part["constants"]]
        axes.plot(part["ratio_2mb"], places, marker, color=colour, markersize=3.5, alpha=0.7, label=platform)
    for place, name in enumerate(sets):
        middle = float(np.median(rows.loc[rows["constants"] == name, "ratio_2mb"]))
        axes.plot([middle, middle], [place - 0.35, place + 0.35], color=style.INK, linewidth=1.6)
    axes.axvline(1, color=style.MUTED, linewidth=1, linestyle="--")
    axes.set_yticks(range(len(sets)), [f"{name} (assumed)" if name == BASELINE else name for name in sets])
    axes.invert_yaxis()
    axes.set_xlabel("energy saved over runtime saved, both as shares (1: OPERA's statement)")
    style.legend_below(figure, [axes])
    style.headline(figure, "Energy that 2MB pages save, over runtime", "simulated")
    return figure, rows


# OPERA Figures 11 and 12: what the model of threads gives where the report prints curves without values.

OPERA_MACHINE, GUZ_MACHINE, CACHE_FACTOR = "opera-e7-4830v3", "guz-4mb", 7.5
NO_VALUES_NOTE = "printed: no values"
#: quantity -> (label, colour, dashes)
EFFICIENCY_LINES = {
    "ips": ("instructions per second", style.BLUE, "-"),
    "ipj": ("instructions per joule", style.ORANGE, "--"),
}


def efficiency_table() -> pd.DataFrame:
    """Rows of ``threads.csv`` of three machines, with ``panel``, and ips and ipj over those of one thread."""
    opera, guz = guz_model.load_machine(OPERA_MACHINE), guz_model.load_machine(GUZ_MACHINE)
    many = np.unique(np.geomspace(1, guz.threads, 80).round().astype(int)).tolist()
    parts = (
        (f"{opera.threads:.0f} threads, 30 MB", opera, list(range(1, int(opera.threads) + 1))),
        ("many threads, 4 MB", guz, many),
        ("many threads, 30 MB", guz_model.scaled_cache(guz, CACHE_FACTOR), many),
    )
    found = [guz_model.threads_curve(machine, n, "assumed").assign(panel=name) for name, machine, n in parts]
    table = pd.concat(found, ignore_index=True)
    for name in EFFICIENCY_LINES:
        table[f"{name}_over_one"] = table[name] / table.groupby("panel")[name].transform("first")
    return table


@figure(
    "opera-fig11",
    "Instructions per second and per joule, by threads",
    "OPERA Figure 11: the model of Guz et al. (E1 to E7) with assumed values, over one thread. A "
    "processor of OPERA's server, and a machine with 4 MB or 30 MB of cache. OPERA's curves have no "
    "printed values. Where both lines of a panel agree, energy follows runtime.",
    page="energy.html",
)
def draw_efficiency(results, reference):
    """Three panels; both quantities relative to one thread."""
    rows = efficiency_table()
    panels = list(dict.fromkeys(rows["panel"]))
    figure, all_axes = style.panels(len(panels), 1, width=style.WIDTH, height=1.9 * len(panels))
    for axes, panel in zip(all_axes, panels, strict=True):
        part = rows[rows["panel"] == panel]
        for name, (label, colour, dashes) in EFFICIENCY_LINES.items():
            axes.plot(part["threads"], part[f"{name}_over_one"], dashes, color=colour, label=label)
        axes.set_title(f"{panel}  ({NO_VALUES_NOTE})")
        axes.set_xlabel("threads")
        axes.set_ylabel("over one thread")
    style.legend_below(figure, all_axes, columns=2)
    style.headline(figure, "Efficiency by threads, of a model", ASSUMED)
    return figure, rows


def miss_rates_table(results) -> pd.DataFrame:
    """Columns series, threads, llc_miss_rate, provenance: E2 with and without sharing, and the sweep."""
    opera = guz_model.load_machine(OPERA_MACHINE)
    n = list(range(1, int(opera.threads) + 1))
    parts = []
    for name, machine in (("E2, nothing shared", opera), ("E2, all shared", replace(opera, shared=True))):
        parts.append(
            guz_model.threads_curve(machine, n, "assumed", shared=machine.shared).assign(series=name)
        )
    swept = ok_rows(Results.of(results).read(THREADS_SWEEP, expected=False))
    if len(swept):
        series = swept["workload"] + " on " + swept["platform"] + ", L3 / n"
        parts.append(swept.assign(series=series, llc_miss_rate=1 - swept["hit_rate"]))
    columns = ["series", "threads", "llc_miss_rate", "provenance"]
    return pd.concat([part[columns] for part in parts], ignore_index=True)


@figure(
    "opera-fig12",
    "LLC miss rate by threads",
    "OPERA Figure 12, where all rates fall: E2 without sharing rises, with shared data it is constant. "
    "Points are simulated miss rates with L3 / n, if the run has the study of threads. OPERA prints no "
    "values and no denominator.",
    page="energy.html",
)
def draw_miss_rates(results, reference):
    """Miss rates over threads; simulated ones as points."""
    rows = miss_rates_table(results)
    figure, axes = style.panels(width=style.WIDTH, height=3.2)
    marks = ((style.VERMILLION, "o"), (style.PURPLE, "s"), (style.ORANGE, "^"), (style.SKY, "D"))
    looks = chain(((style.BLUE, "-"), (style.GREEN, "--")), cycle(marks))
    for (name, part), (colour, mark) in zip(rows.groupby("series", sort=False), looks, strict=False):
        axes.plot(part["threads"], part["llc_miss_rate"], mark, color=colour, label=name, markersize=4)
    axes.set_title(f"OPERA: falls for all workloads ({NO_VALUES_NOTE})")
    axes.set_xlabel("threads")
    axes.set_ylabel("misses per memory instruction")
    axes.set_ylim(bottom=0)
    style.legend_below(figure, [axes], columns=1)
    kinds = [name for name in (ASSUMED, "simulated") if name in set(rows["provenance"])]
    style.headline(figure, "LLC miss rate by threads", " and ".join(kinds))
    return figure, rows
