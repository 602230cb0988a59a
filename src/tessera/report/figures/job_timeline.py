"""What ran when: the jobs of the pipeline's longest start, in the order of their starts, on slots of cores.

The kernel decides on which core a job runs. A slot is a core in the sense of Snakemake: a job takes the
lowest slots that are free when it starts, as many as it reserves threads.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.results.machine_tables import TIMELINE
from tessera.core.results.outcomes import OK
from tessera.report.figures import figure, style
from tessera.report.results import Results

#: colours of the rules that took most time; the others share a grey
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.YELLOW, style.DARK)
LABEL_SHARE = 0.06  #: of the run: shorter jobs carry no label


def table(results) -> pd.DataFrame:
    """A row per job and slot of the longest start: job, subject, started_s, ended_s, slot, outcome."""
    rows = Results.of(results).needed(TIMELINE, "timeline", why="the pipeline recorded no job")
    work = (rows["ended_s"] - rows["started_s"]).groupby(rows["run"]).sum()
    rows = rows[rows["run"] == work.idxmax()].sort_values("started_s", kind="stable")
    free_at: list[float] = []  # by slot
    placed = []
    for row in rows.itertuples():
        free = [slot for slot, moment in enumerate(free_at) if moment <= row.started_s]
        while len(free) < max(1, row.threads):
            free.append(len(free_at))
            free_at.append(0.0)
        for slot in free[: max(1, row.threads)]:
            free_at[slot] = row.ended_s
            placed.append((row.run, row.job, row.subject, row.started_s, row.ended_s, slot, row.outcome))
    names = ["run", "job", "subject", "started_s", "ended_s", "slot", "outcome"]
    return pd.DataFrame(placed, columns=names).assign(provenance="measured")


@figure(
    "timeline",
    "Jobs of the run",
    "Start and end of each job, from the pipeline's start with the most work. A slot is a core as "
    "Snakemake counts them. Compilers inside a job use all cores, so a gap is not always an idle core.",
)
def draw(results, reference):
    """A lane per slot; failed jobs are red."""
    rows = table(results)
    seconds = rows["ended_s"] - rows["started_s"]
    longest = seconds.groupby(rows["job"]).sum().sort_values(ascending=False).index
    colours = dict(zip(longest, COLOURS, strict=False))
    slots, end = rows["slot"].max() + 1, rows["ended_s"].max()
    figure, axes = style.panels(width=7.6, height=1.5 + 0.55 * slots)
    for row in rows.itertuples():
        colour = colours.get(row.job, style.GREY) if row.outcome == OK else style.VERMILLION
        span = row.ended_s - row.started_s
        axes.broken_barh(
            [(row.started_s / 60, span / 60)],
            (row.slot - 0.4, 0.8),
            facecolor=colour,
            edgecolor=style.PAPER,
            linewidth=0.5,
            label=row.job if row.job in colours else None,
        )
        if span > LABEL_SHARE * end:
            middle = (row.started_s + row.ended_s) / 120
            axes.text(
                middle, row.slot, row.subject or row.job, ha="center", va="center", fontsize=6.5, clip_on=True
            )
    axes.set_yticks(range(slots), [f"slot {slot}" for slot in range(slots)])
    axes.set_ylim(slots - 0.4, -0.6)
    axes.set_xlim(0, end / 60)
    axes.set_xlabel("minutes since the start")
    style.legend_below(figure, [axes], columns=6)
    busy = seconds.sum() / (slots * end)
    style.headline(figure, f"Jobs of the start at {rows['run'].iloc[0]}: slots {busy:.0%} busy", "measured")
    return figure, rows
