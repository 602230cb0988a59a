"""Pointer chases over growing footprints: measured, and simulated before and after calibration."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.machine import LATENCY, STEPS
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

PANELS = (
    ("pages", "4KB pages, one line per page"),
    ("large-pages", "the same bytes in 2MB pages"),
    ("large-stride", "one line per 2MB page"),
    ("lines", "adjacent lines (data caches)"),
)
SOURCES = {
    "measured": ("measured", style.INK, "o", "-"),
    "host-sim": ("host-sim, simulated", style.ORANGE, "^", "--"),
    "host-calibrated": ("calibrated on the chase, simulated", style.BLUE, "s", ":"),
}
COLUMNS = ("source", "provenance", "series", "elements", "cycles")


def table(results) -> pd.DataFrame:
    """Single chains: COLUMNS, and a row per measured step with source ``step``."""
    results = Results.of(results)
    why = "the chase was not measured or not explained"
    latency, steps = results.needed(LATENCY, "validation-chase", why=why), results.read(STEPS)
    shown = latency[(latency["chains"] == 1) & latency["series"].isin([name for name, _ in PANELS])]
    if shown.empty:
        raise NotDrawn("figure validation-chase", "no chase gave a measurement")
    marks = steps[steps["source"] == "measured"].assign(
        source="step",
        provenance="measured",
        elements=lambda t: t["entries"],
        cycles=lambda t: t["above_cycles"],
    )
    return pd.concat([shown, marks[marks["series"].isin(shown["series"])]])[list(COLUMNS)].reset_index(
        drop=True
    )


def draw(results, reference):
    """A panel per series; logarithmic axes, so that each step is seen."""
    rows = table(results)
    present = [panel for panel in PANELS if panel[0] in set(rows["series"])]
    columns = min(2, len(present))
    lines = -(-len(present) // columns)
    figure, axes = style.panels(
        lines, columns, width=style.WIDTH + 0.6, height=0.7 + 2.7 * lines, squeeze=False
    )
    for spare in axes.ravel()[len(present) :]:
        spare.set_visible(False)
    for axis, (series, title) in zip(axes.ravel(), present, strict=False):
        part = rows[rows["series"] == series]
        for source, (label, colour, marker, dash) in SOURCES.items():
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
        axis.set_title(title)
        axis.set_xlabel(
            "lines" if series == "lines" else "2MB pages" if series == "large-stride" else "4KB pages"
        )
        axis.set_ylabel("cycles per access")
    handles, labels = axes.ravel()[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    style.headline(figure, "Pointer chases on this machine", "measured and simulated")
    return figure, rows
