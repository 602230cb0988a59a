"""OPERA Figures 11 and 12: what the model of threads gives where the report prints curves without values."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, cycle

import numpy as np
import pandas as pd

from tessera.energy import closed_forms, curves, machines
from tessera.energy.leaves import ASSUMED
from tessera.results.schema.energy import THREADS_SWEEP
from tessera.results.status import ok_rows
from tessera.show.figures import style
from tessera.show.results import Results

OPERA, GUZ, FACTOR = "opera-e7-4830v3", "guz-4mb", 7.5
NOTE = "printed: no values"
#: quantity -> (label, colour, dashes)
LINES = {
    "ips": ("instructions per second", style.BLUE, "-"),
    "ipj": ("instructions per joule", style.ORANGE, "--"),
}


def efficiency() -> pd.DataFrame:
    """Rows of ``threads.csv`` of three machines, with ``panel``, and ips and ipj over those of one thread."""
    opera, guz = machines.load(OPERA), machines.load(GUZ)
    many = np.unique(np.geomspace(1, guz.threads, 80).round().astype(int)).tolist()
    parts = (
        (f"{opera.threads:.0f} threads, 30 MB", opera, list(range(1, int(opera.threads) + 1))),
        ("many threads, 4 MB", guz, many),
        ("many threads, 30 MB", closed_forms.scaled(guz, FACTOR), many),
    )
    found = [curves.curve(machine, n, "assumed").assign(panel=name) for name, machine, n in parts]
    table = pd.concat(found, ignore_index=True)
    for name in LINES:
        table[f"{name}_over_one"] = table[name] / table.groupby("panel")[name].transform("first")
    return table


def draw_efficiency(results, reference):
    """Three panels; both quantities relative to one thread."""
    rows = efficiency()
    panels = list(dict.fromkeys(rows["panel"]))
    figure, all_axes = style.panels(len(panels), 1, width=style.WIDTH, height=1.9 * len(panels))
    for axes, panel in zip(all_axes, panels, strict=True):
        part = rows[rows["panel"] == panel]
        for name, (label, colour, dashes) in LINES.items():
            axes.plot(part["threads"], part[f"{name}_over_one"], dashes, color=colour, label=label)
        axes.set_title(f"{panel}  ({NOTE})")
        axes.set_ylabel("over one thread")
    all_axes[-1].set_xlabel("threads")
    style.legend_below(figure, all_axes, columns=2)
    style.headline(figure, "Efficiency by threads, of a model", ASSUMED)
    return figure, rows


def misses(results) -> pd.DataFrame:
    """Columns series, threads, llc_miss_rate, provenance: E2 with and without sharing, and the sweep."""
    opera = machines.load(OPERA)
    n = list(range(1, int(opera.threads) + 1))
    parts = []
    for name, machine in (("E2, nothing shared", opera), ("E2, all shared", replace(opera, shared=True))):
        parts.append(curves.curve(machine, n, "assumed", shared=machine.shared).assign(series=name))
    swept = ok_rows(Results.of(results).read(THREADS_SWEEP, expected=False))
    if len(swept):
        series = swept["workload"] + " on " + swept["platform"] + ", L3 / n"
        parts.append(swept.assign(series=series, llc_miss_rate=1 - swept["hit_rate"]))
    columns = ["series", "threads", "llc_miss_rate", "provenance"]
    return pd.concat([part[columns] for part in parts], ignore_index=True)


def draw_misses(results, reference):
    """Miss rates over threads; simulated ones as points."""
    rows = misses(results)
    figure, axes = style.panels(width=style.WIDTH, height=3.2)
    marks = ((style.VERMILLION, "o"), (style.PURPLE, "s"), (style.ORANGE, "^"), (style.SKY, "D"))
    looks = chain(((style.BLUE, "-"), (style.GREEN, "--")), cycle(marks))
    for (name, part), (colour, mark) in zip(rows.groupby("series", sort=False), looks, strict=False):
        axes.plot(part["threads"], part["llc_miss_rate"], mark, color=colour, label=name, markersize=4)
    axes.set_title(f"OPERA: falls for all workloads ({NOTE})")
    axes.set_xlabel("threads")
    axes.set_ylabel("misses per memory instruction")
    axes.set_ylim(bottom=0)
    style.legend_below(figure, [axes], columns=1)
    kinds = [name for name in (ASSUMED, "simulated") if name in set(rows["provenance"])]
    style.headline(figure, "LLC miss rate by threads", " and ".join(kinds))
    return figure, rows
