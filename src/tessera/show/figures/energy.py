"""Energy over runtime that 2MB pages save, for every pair and every set of constants (docs/energy.md)."""

from __future__ import annotations

import numpy as np

from tessera.energy.power import BASELINE
from tessera.results.schema.energy import SAVINGS
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

HINT = "tessera energy cells --cells results/default/cells.csv --out results/default/energy"


def table(results):
    """Columns workload, platform, constants, ratio_2mb, static_share, provenance."""
    rows = Results.of(results).needed(SAVINGS, "energy", HINT, why="the energy of the cells was not computed")
    rows = rows[rows["ratio_2mb"].notna()]
    if rows.empty:
        raise NotDrawn("figure energy", "2MB pages change no runtime", HINT)
    columns = ["workload", "platform", "constants", "ratio_2mb", "static_share", "provenance"]
    return rows[columns].reset_index(drop=True)


def draw(results, reference):
    """A line of sets for each platform: all pairs as points, their median as a bar."""
    rows = table(results)
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
    axes.set_xlabel("share of energy saved over share of runtime saved; 1: OPERA's statement")
    style.legend_below(figure, [axes])
    style.headline(figure, "Energy that 2MB pages save, over runtime", "simulated")
    return figure, rows
