"""Which conclusions survive when an assumed value is another one: conclusions by variations."""

from __future__ import annotations

import pandas as pd

from tessera.judge.studies.conclusions import CONCLUSIONS
from tessera.judge.studies.variants import BASELINE
from tessera.results.schema.studies import SWEEP
from tessera.show.figures import style
from tessera.show.results import NotDrawn, Results

MARKS = {True: ("same as the baseline", style.SKY, "."), False: ("overturned", style.VERMILLION, "X")}


def table(results) -> pd.DataFrame:
    """A row per variation and conclusion that was judged."""
    rows = Results.of(results).needed(SWEEP, "sweep", why="no sweep was made")
    rows = rows[(rows["key"] != BASELINE) & rows["survives"].notna()]
    if rows.empty:
        raise NotDrawn("figure sweep", "no variation was judged")
    columns = ["workload", "platform", "key", "alternative", "conclusion", "number", "holds"]
    return rows[[*columns, "baseline_number", "survives", "provenance"]].reset_index(drop=True)


def draw(results, reference):
    """One panel per workload and platform."""
    rows = table(results)
    pairs = list(rows[["workload", "platform"]].drop_duplicates().itertuples(index=False, name=None))
    names = [c.name for c in CONCLUSIONS if c.name in set(rows["conclusion"])]
    figure, all_axes = style.panels(
        len(pairs), 1, width=11, height=len(pairs) * (2.6 + 0.26 * len(names)), squeeze=False
    )
    for axes, pair in zip(all_axes[:, 0], pairs, strict=True):
        part = rows[(rows["workload"] == pair[0]) & (rows["platform"] == pair[1])]
        _panel(axes, part, names)
        axes.set_title(f"{pair[0]} on {pair[1]}")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    style.headline(figure, "Conclusions under other values of what is assumed", "simulated")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, names: list[str]) -> None:
    variations = list(dict.fromkeys(f"{row.key} {row.alternative}" for row in rows.itertuples()))
    for survives, (label, colour, marker) in MARKS.items():
        part = rows[rows["survives"] == survives]
        axes.plot(
            [variations.index(f"{row.key} {row.alternative}") for row in part.itertuples()],
            [names.index(name) for name in part["conclusion"]],
            marker,
            color=colour,
            markersize=7,
            linestyle="none",
            label=label,
        )
    counts = rows.groupby("conclusion")["survives"].agg(lambda part: f"{sum(part)}/{len(part)}")
    axes.set_yticks(range(len(names)), [f"{name}  {counts.get(name, '-')}" for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xticks(range(len(variations)), variations, rotation=90, fontsize=6.5)
    axes.set_xlim(-0.8, len(variations) - 0.2)
