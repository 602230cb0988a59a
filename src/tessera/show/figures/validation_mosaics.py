"""Simulated against measured differences between layouts, with the band of the aim."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.layouts.names import ALL_2MB
from tessera.results.schema.machine import MOSAICS
from tessera.show.figures import style
from tessera.show.results import Results

AIM = 0.25  #: of the measured gain of 2MB pages
MARKS = {"host-sim": ("^", style.ORANGE), "host-calibrated": ("s", style.BLUE)}

COLUMNS = ("platform", "layout", "quantity", "difference", "ci95", "provenance")


def table(results) -> pd.DataFrame:
    """Two rows per layout and platform file: the measured difference and the simulated one (COLUMNS)."""
    rows = Results.of(results).needed(
        MOSAICS,
        "validation-mosaics",
        "./run --reserve reproduce",
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
    return pd.concat([measured, simulated.astype({"ci95": float})])[list(COLUMNS)].reset_index(drop=True)


def draw(results, reference):
    """A point per layout and platform file."""
    long = table(results)
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
    axis.fill_between(ends, ends - AIM * gain, ends + AIM * gain, color=style.GRID, alpha=0.6, linewidth=0)
    axis.plot(ends, ends, color=style.MUTED, linewidth=1)
    for platform, part in rows.groupby("platform", sort=False):
        marker, colour = MARKS.get(platform, ("o", style.GREEN))
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
