"""What a new design gains: the bracket's answers beside R of the timing engine, a panel for each class."""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.transfer import ANSWERED
from tessera.show.figures import style
from tessera.show.new_designs import CHANGES, label
from tessera.show.results import NotDrawn, Results

COLUMNS = ["workload", "platform", "group", "variant", "layout", "change", "answer", "low", "high", "covered",
           "provenance"]  # fmt: skip
NAME = "new-designs"


def table(results) -> pd.DataFrame:
    """:data:`COLUMNS`, a row for each informative answer; changes are R / R_0 - 1, as shares."""
    rows = Results.of(results).read(ANSWERED, expected=False)
    if rows.empty:
        raise NotDrawn(f"figure {NAME}", "no study of transfer was made")
    wanted = (rows["status"] == "answered") & rows["judged"].eq(True) & rows["informative"].eq(True)
    rows = rows[wanted & rows["group"].isin(list(CHANGES))]
    if rows.empty:
        raise NotDrawn(f"figure {NAME}", "no informative point has an answer")
    base = rows["base_runtime_cycles"]
    shares = {"change": "runtime", "answer": "centre", "low": "low", "high": "high"}
    changes = {name: rows[f"{column}_cycles"] / base - 1 for name, column in shares.items()}
    return rows.assign(**changes)[COLUMNS].reset_index(drop=True)


def draw(results, reference):
    """Right answers are on the diagonal; `constant` answers 0 everywhere."""
    rows = table(results)
    groups = [name for name in CHANGES if name in set(rows["group"])]
    figure, all_axes = style.panels(1, len(groups), width=style.WIDTH, height=3.6, squeeze=False)
    for axes, group in zip(all_axes[0], groups, strict=True):
        _panel(axes, rows[rows["group"] == group])
        axes.set_title(label(group).replace(": ", "\n"), fontsize=9)
        axes.set_xlabel("change of R")
    all_axes[0, 0].set_ylabel("answer of the bracket")
    style.legend_below(figure, all_axes.flat)
    style.headline(figure, "Answers for designs that change R by more than 3%", "simulated")
    return figure, rows


def _panel(axes, part: pd.DataFrame) -> None:
    covered = part["covered"].eq(True)
    kinds = (
        ("R is in the interval", covered, "o", style.BLUE),
        ("R is outside", ~covered, "X", style.VERMILLION),
    )
    for name, chosen, marker, colour in kinds:
        mine = part[chosen]
        if mine.empty:
            continue
        ends = [mine["answer"] - mine["low"], mine["high"] - mine["answer"]]
        axes.errorbar(
            mine["change"], mine["answer"], yerr=ends, fmt=marker, color=colour, markersize=4,
            elinewidth=0.6, alpha=0.7, label=name,
        )  # fmt: skip
    ends = [min(part["change"].min(), part["low"].min()), max(part["change"].max(), part["high"].max())]
    axes.plot(ends, ends, color=style.INK, linewidth=0.8, label="right")
    axes.axhline(0, color=style.MUTED, linestyle="--", linewidth=1, label="constant")
    style.percent_axis(axes.xaxis)
    style.percent_axis(axes.yaxis)
