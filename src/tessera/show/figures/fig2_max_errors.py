"""MICRO'20 figure 2: the largest error of each model over all workloads and platforms.

Protocol: the paper's first method (fitted to and tested against all layouts; the 1GB point left out).
"""

from __future__ import annotations

import pandas as pd

from tessera.show.figures import looks, published, style
from tessera.show.results import NotDrawn, Results


def table(results, reference) -> pd.DataFrame:
    """One row per model and scope (``all`` or a platform), and per value that the paper prints."""
    errors = Results.of(results).models("errors")
    errors = errors[errors["protocol"] == "all"].dropna(subset="max_error")
    if errors.empty:
        raise NotDrawn("figure fig2", "no model was fitted (models/errors.csv has no rows)")
    worst = errors.loc[errors.groupby("model")["max_error"].idxmax()].assign(scope="all")
    each = errors.loc[errors.groupby(["model", "platform"])["max_error"].idxmax()]
    each = each.assign(scope=each["platform"])
    rows = pd.concat([worst, each])
    rows = rows.assign(source="Tessera", provenance="simulated")
    columns = ["source", "provenance", "scope", "model", "max_error", "bound", "workload", "platform"]
    paper = published.max_errors(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", scope="all")
    rows = pd.concat([rows, paper]).reindex(columns=columns)
    order = {name: position for position, name in enumerate(looks.ordered(rows["model"]))}
    return rows.sort_values("model", key=lambda s: s.map(order), kind="stable").reset_index(drop=True)


def draw(results, reference):
    """Horizontal bars on a log scale; a diamond where the paper prints the value."""
    rows = table(results, reference)
    fitted = looks.ordered(rows.loc[rows["source"] != "paper", "model"])
    groups = {
        "Models set by one or two points": [name for name in fitted if not looks.is_trained(name)],
        "Models fitted to all layouts": [name for name in fitted if looks.is_trained(name)],
    }
    groups = {title: models for title, models in groups.items() if models}
    figure, all_axes = style.panels(
        len(groups), 1, width=style.WIDTH, height=1.4 + 0.4 * len(fitted), sharex=True, squeeze=False,
        gridspec_kw={"height_ratios": [len(models) for models in groups.values()]},
    )  # fmt: skip
    smallest = rows.loc[rows["max_error"] > 0, "max_error"].min()
    floor = 10 ** _floor_log10(min(smallest, 0.01)) * 0.5
    for axes, (title, models) in zip(all_axes[:, 0], groups.items(), strict=True):
        _panel(axes, rows, models, floor)
        axes.set_title(title)
    last = all_axes[-1, 0]
    last.set_xticks([tick for tick in (1e-3, 1e-2, 0.1, 1, 10) if tick > floor])
    last.set_xlabel("largest relative error (log scale)")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, columnspacing=1.0)
    style.headline(figure, "Largest error of each model", "simulated, beside published values")
    return figure, rows


def _panel(axes, rows: pd.DataFrame, models, floor: float) -> None:
    for position, model in enumerate(models):
        colour = looks.look(model).colour
        mine = rows[rows["model"] == model]
        paper_rows = rows[(rows["source"] == "paper") & (rows["model"] == looks.printed_as(model))]
        paper = paper_rows["max_error"]
        ours = mine[(mine["source"] != "paper") & (mine["scope"] == "all")]
        if ours.empty:
            continue
        value = ours["max_error"].iloc[0]
        first = position == 0
        axes.barh(
            position,
            value,
            left=0,
            height=0.62,
            color=colour,
            edgecolor=style.INK,
            label="obtained (simulated)" if first else None,
        )
        ticks = mine[(mine["source"] != "paper") & (mine["scope"] != "all")]["max_error"]
        axes.plot(
            ticks,
            [position] * len(ticks),
            "o",
            markerfacecolor=style.PAPER,
            markeredgecolor=style.INK,
            markeredgewidth=0.9,
            markersize=4.5,
            label="each platform" if first else None,
        )
        text = style.percent(value)
        if len(paper):
            axes.plot(
                paper,
                [position],
                "D",
                markersize=7.5,
                markerfacecolor=style.PAPER,
                markeredgecolor=style.INK,
                markeredgewidth=1.4,
                zorder=5,
                label="printed in the paper" if first else None,
            )
            bound = "below " if paper_rows["bound"].iloc[0] == "below" else ""
            text += f" (paper {bound}{style.percent(paper.iloc[0], 0)})"
        elif (rows["source"] == "paper").any():
            text += " (not published as data)"
        right = max([value, *paper, *ticks])
        axes.annotate(
            text,
            (right, position),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            zorder=6,
        )
    axes.set_yticks(range(len(models)), [looks.look(model).label for model in models])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(floor, max(rows["max_error"].max() * 30, 1))
    axes.grid(False, axis="y")
    style.percent_axis(axes.xaxis)


def _floor_log10(value: float) -> int:
    import math

    return math.floor(math.log10(value)) if value > 0 else -4
