"""Mitosis table 5: what copies of the page tables cost mmap, mprotect and munmap.

Ours are ratios of instructions in a guest, the paper's ratios of cycles: two measures of one question, so
only order and size can be compared. The paper's largest region is 4 GB, ours 1 GB.
"""

from __future__ import annotations

import pandas as pd

from tessera.kernel import ALL_PARTS
from tessera.reference.mitosis import PRINTED_REGION
from tessera.results.schema.kernel import TABLE5
from tessera.show.figures import published, style
from tessera.show.results import Results

NAME = "mitosis-table5"
#: series -> (marker, face, how far below its row, label)
_MARKS = {
    "4 copies": ("s", style.BLUE, 0.0, "4 copies / switched off, instructions (measured)"),
    "off": ("o", style.SKY, 0.22, "switched off / unpatched, instructions (measured)"),
    "paper": ("D", style.PAPER, -0.22, "4 copies / switched off, cycles (published)"),
}


def table(results, reference) -> pd.DataFrame:
    """Columns: series, operation, region, ratio, unit, provenance."""
    ours = Results.of(results).needed(TABLE5, NAME, ALL_PARTS)
    parts = [
        ours[["operation", "region"]].assign(
            series=series, ratio=ours[column], unit="ratio of instructions", provenance="measured"
        )
        for series, column in (("4 copies", "replicated_ratio"), ("off", "off_ratio"))
    ]
    paper = published.mitosis_operations(reference)
    if len(paper):
        ours_of = {theirs: mine for mine, theirs in PRINTED_REGION.items()}
        named = [ours_of.get(region, region) for region in paper["region"]]
        paper = paper.assign(region=named, series="paper", unit="ratio of cycles", provenance="published")
        parts.append(paper.merge(ours[["operation", "region"]], on=["operation", "region"]))
    order = ["series", "operation", "region", "ratio", "unit", "provenance"]
    return pd.concat(parts, ignore_index=True)[order]


def draw(results, reference):
    """A row per operation and region; a mark per series."""
    rows = table(results, reference)
    mine = rows[rows["series"] != "paper"]
    keys = dict.fromkeys(zip(mine["operation"], mine["region"], strict=True))
    places = {key: place for place, key in enumerate(keys)}
    figure, axes = style.panels(width=style.WIDTH, height=1.7 + 0.36 * len(places))
    for series, (marker, face, aside, label) in _MARKS.items():
        part = rows[rows["series"] == series]
        at = [places[key] + aside for key in zip(part["operation"], part["region"], strict=True)]
        axes.plot(
            part["ratio"], at, marker, markersize=6,
            markerfacecolor=face, markeredgecolor=style.INK, label=label,
        )  # fmt: skip
    axes.axvline(1, color=style.MUTED, linewidth=1)
    names = [
        f"{operation} {region}" + (f" (paper: {PRINTED_REGION[region]})" if region in PRINTED_REGION else "")
        for operation, region in places
    ]
    axes.set_yticks(range(len(places)), names, fontsize=8.5)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("ratio; 1 is no cost")
    style.legend_below(figure, [axes], columns=1)
    style.headline(figure, "Cost of replicas in system calls", "measured, beside published")
    return figure, rows
