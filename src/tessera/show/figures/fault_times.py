"""Virtuoso Figure 2: latencies of simulated page faults with and without huge pages, and their time."""

from __future__ import annotations

from itertools import cycle

import pandas as pd

from tessera.judge.studies.virtuoso.latency import ALL
from tessera.results.schema.virtuoso import FAULT_TIMES
from tessera.show.figures import style
from tessera.show.figures.fault_shares import HINT, WHY
from tessera.show.results import Results

NAME = "fault-times"
#: panel -> column of the table, label of its axis
PANELS = {
    "latency": ("share", "faults that are at most as slow"),
    "time": ("time_above", "time of faults in slower ones"),
}
_LOOKS = (
    (style.VERMILLION, "o", "-"),
    (style.BLUE, "s", "--"),
    (style.GREEN, "^", "-."),
    (style.GREY, "D", ":"),
)


def table(results) -> pd.DataFrame:
    """Columns: panel (latency, time), workload, platform, scenario, cycles, part (a fraction), provenance."""
    rows = Results.of(results).needed(FAULT_TIMES, NAME, HINT, why=WHY)
    rows = rows[rows["kind"] == ALL]
    head = ["workload", "platform", "scenario", "cycles", "provenance"]
    parts = [rows[head].assign(panel=panel, part=rows[column]) for panel, (column, _) in PANELS.items()]
    columns = ["panel", "workload", "platform", "scenario", "cycles", "part", "provenance"]
    return pd.concat(parts, ignore_index=True)[columns]


def draw(results, reference):
    """A column of panels for each program; a line for each scenario."""
    rows = table(results)
    programs = list(dict.fromkeys(rows["workload"]))
    scenarios = list(dict.fromkeys(rows["scenario"]))
    figure, all_axes = style.panels(
        len(PANELS), len(programs), width=max(style.WIDTH, 2.6 * len(programs)), height=5.6,
        sharex="col", sharey=True, squeeze=False,
    )  # fmt: skip
    for line, (panel, (_, label)) in zip(all_axes, PANELS.items(), strict=True):
        for axes, program in zip(line, programs, strict=True):
            for scenario, (colour, marker, dash) in zip(scenarios, cycle(_LOOKS), strict=False):
                mine = rows[
                    (rows["panel"] == panel) & (rows["workload"] == program) & (rows["scenario"] == scenario)
                ]
                axes.plot(
                    mine["cycles"], mine["part"], dash, color=colour, marker=marker, markersize=3.5,
                    linewidth=1.3, label=scenario,
                )  # fmt: skip
            axes.set_xscale("log")
            style.percent_axis(axes.yaxis)
        line[0].set_ylabel(label)
    for axes, program in zip(all_axes[0], programs, strict=True):
        axes.set_title(program, fontsize=8)
    for axes in all_axes[-1]:
        axes.set_xlabel("latency of a fault (cycles)")
    style.legend_below(figure, all_axes.flat, columns=2)
    style.headline(figure, "Latency of page faults with and without huge pages", "simulated")
    return figure, rows
