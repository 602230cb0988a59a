"""Virtuoso Figure 1: parts of the runtime in page faults and in translation, by program and scenario."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.virtuoso.claims import CLAIMS
from tessera.results.schema.virtuoso import FAULT_SHARES
from tessera.show.figures import style
from tessera.show.results import Results

NAME = "fault-shares"
HINT = "snakemake --cores all studies --configfile config/virtuoso.yaml"
WHY = "no program was simulated with the work of its page faults"
#: part -> column of the table, colour, claim with the printed average
PARTS = {
    "page faults": ("fault_share", style.VERMILLION, "faults-short"),
    "address translation": ("translation_share", style.BLUE, "translation-short"),
}


def table(results) -> pd.DataFrame:
    """Columns: source (Tessera, Virtuoso), workload, platform, scenario, part, share, provenance."""
    rows = Results.of(results).needed(FAULT_SHARES, NAME, HINT, why=WHY)
    head = ["workload", "platform", "scenario", "provenance"]
    ours = [
        rows[head].assign(source="Tessera", part=part, share=rows[column])
        for part, (column, *_) in PARTS.items()
    ]
    printed = {claim.id: claim.published for claim in CLAIMS}
    theirs = pd.DataFrame(
        [
            {"source": "Virtuoso", "workload": "average of short programs", "platform": "", "scenario": "",
             "part": part, "share": printed[claim], "provenance": "published"}
            for part, (_, _, claim) in PARTS.items()
        ]
    )  # fmt: skip
    columns = ["source", "workload", "platform", "scenario", "part", "share", "provenance"]
    return pd.concat([*ours, theirs], ignore_index=True)[columns]


def draw(results, reference):
    """Two bars for each program and scenario; the printed averages below."""
    rows = table(results)
    lines = list(dict.fromkeys(zip(rows["workload"], rows["scenario"], strict=True)))
    figure, axes = style.panels(1, 1, width=style.WIDTH, height=1.4 + 0.36 * len(lines))
    for number, (part, (_, colour, _)) in enumerate(PARTS.items()):
        mine = rows[rows["part"] == part]
        places = [
            lines.index(key) + 0.18 * (2 * number - 1)
            for key in zip(mine["workload"], mine["scenario"], strict=True)
        ]
        ours = (mine["source"] == "Tessera").to_numpy()
        at = pd.Series(places)
        axes.barh(at[ours], mine["share"][ours], 0.34, color=colour, label=part)
        axes.plot(mine["share"][~ours], at[~ours], "D", color=style.INK, markersize=5)
    axes.set_yticks(range(len(lines)), [", ".join(filter(None, line)) for line in lines], fontsize=8)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xlabel("part of the runtime R")
    style.percent_axis(axes.xaxis)
    axes.grid(False, axis="y")
    style.legend_below(figure, [axes], columns=2)
    style.headline(figure, "Runtime in page faults and in address translation", "simulated, beside published")
    return figure, rows
