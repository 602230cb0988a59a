"""Errors of the models: largest, per workload, in cross-validation (MICRO'20 figures 2, 5, 6 and table 6)."""

from __future__ import annotations

import math

import pandas as pd

from tessera.core.results.cell_tables import K_FOLD, LEAVE_ONE_OUT, SEEDS
from tessera.core.results.loader import platform_order, workload_order
from tessera.report.figures import figure, published, style
from tessera.report.results import NotDrawn, Results

# MICRO'20 figure 2: the largest error of each model over all workloads and platforms.
#
# Protocol: the paper's first method (fitted to and tested against all layouts; the 1GB point left out).


def max_errors_table(results, reference) -> pd.DataFrame:
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
    paper = published.published_max_errors(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", scope="all")
    rows = pd.concat([rows, paper]).reindex(columns=columns)
    order = {name: position for position, name in enumerate(style.ordered_models(rows["model"]))}
    return rows.sort_values("model", key=lambda s: s.map(order), kind="stable").reset_index(drop=True)


@figure(
    "fig2",
    "Largest error of each model",
    "Largest relative error of each model over all workloads and platforms. Diamonds are the values "
    "printed in the paper; small circles are the platforms.",
    page="index.html",
)
def draw_max_errors(results, reference):
    """Horizontal bars on a log scale; a diamond where the paper prints the value."""
    rows = max_errors_table(results, reference)
    fitted = style.ordered_models(rows.loc[rows["source"] != "paper", "model"])
    groups = {
        "Models set by one or two points": [name for name in fitted if not style.is_trained(name)],
        "Models fitted to all layouts": [name for name in fitted if style.is_trained(name)],
    }
    groups = {title: models for title, models in groups.items() if models}
    figure, all_axes = style.panels(
        len(groups), 1, width=style.WIDTH, height=1.4 + 0.4 * len(fitted), sharex=True, squeeze=False,
        gridspec_kw={"height_ratios": [len(models) for models in groups.values()]},
    )  # fmt: skip
    smallest = rows.loc[rows["max_error"] > 0, "max_error"].min()
    floor = 10 ** _floor_log10(min(smallest, 0.01)) * 0.5
    for axes, (title, models) in zip(all_axes[:, 0], groups.items(), strict=True):
        _max_errors_panel(axes, rows, models, floor)
        axes.set_title(title)
    last = all_axes[-1, 0]
    last.set_xticks([tick for tick in (1e-3, 1e-2, 0.1, 1, 10) if tick > floor])
    last.set_xlabel("largest relative error (log scale)")
    handles, labels = all_axes[0, 0].get_legend_handles_labels()
    style.legend_of(figure, handles, labels)
    style.headline(figure, "Largest error of each model", "simulated, beside published values")
    return figure, rows


def _max_errors_panel(axes, rows: pd.DataFrame, models, floor: float) -> None:
    for position, model in enumerate(models):
        colour = style.model_look(model).colour
        mine = rows[rows["model"] == model]
        paper_rows = rows[(rows["source"] == "paper") & (rows["model"] == style.printed_model(model))]
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
        text = style.percent_text(value)
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
            text += f" (paper {bound}{style.percent_text(paper.iloc[0], 0)})"
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
    axes.set_yticks(range(len(models)), [style.model_look(model).label for model in models])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(floor, max(rows["max_error"].max() * 30, 1))
    axes.grid(False, axis="y")
    style.percent_axis(axes.xaxis)


def _floor_log10(value: float) -> int:
    return math.floor(math.log10(value)) if value > 0 else -4


# MICRO'20 figures 5 and 6: errors of the models per workload, one panel per platform.
#
# The paper draws bars side by side; nine of them for 19 workloads can't be read on a small screen, so this
# is the same picture on its side: a row per workload, a mark per model, the error on the same log scale.

_WORKLOAD_ERROR_TITLES = {
    "max_error": ("Largest error per workload", "largest relative error", "Figure 5"),
    "geomean_error": ("Geometric mean error per workload", "geometric mean error", "Figure 6"),
}
_LEAST_DRAWN_ERROR = 1e-5  #: errors below 0.001% are drawn at the border


def workload_errors_table(column: str, results, reference) -> pd.DataFrame:
    """Columns: source, platform, workload, model, <column>, dropped_zero_errors, bound, provenance."""
    errors = Results.of(results).models("errors")
    errors = errors[errors["protocol"] == "all"]
    # without the tenth mark, which hides others
    errors = errors[errors["model"].isin(style.models_without_readings(errors["model"]))]
    if errors.empty:
        raise NotDrawn(f"figure of {column}", "no model was fitted (models/errors.csv has no rows)")
    rows = errors[["platform", "workload", "model", column, "dropped_zero_errors"]]
    rows = rows.assign(source="Tessera", provenance="simulated")
    paper = published.published_figure_errors(reference, _WORKLOAD_ERROR_TITLES[column][2])
    if len(paper):
        paper = paper.assign(source="paper", **{column: paper["value"] / 100})
        paper = paper[["source", "platform", "workload", "model", column, "bound", "provenance"]]
        rows = pd.concat([rows, paper])
    first = ["source", "platform", "workload", "model", column, "dropped_zero_errors", "bound", "provenance"]
    return rows.reindex(columns=first).reset_index(drop=True)


@figure(
    "fig5",
    "Largest error per workload",
    "Largest relative error of the models for each workload, one panel per platform, log scale; "
    "the axes of the paper's chart are swapped. The paper does not publish its bars as data. The dashed "
    "line is the number in the paper's caption.",
    argument="max_error",
)
@figure(
    "fig6",
    "Geometric mean error per workload",
    "Geometric mean of the relative errors of the models for each workload, one panel per "
    "platform, log scale. Exact predictions (error 0) are left out of the mean and counted in the data."
    " The paper does not publish its bars as data.",
    argument="geomean_error",
)
def draw_workload_errors(column: str, results, reference):
    """A row per workload, a mark per model, on a log scale."""
    results = Results.of(results)
    rows = workload_errors_table(column, results, reference)
    ours, paper = rows[rows["source"] == "Tessera"], rows[rows["source"] == "paper"]
    platforms, workloads = platform_order(ours["platform"]), workload_order(ours["workload"])
    figure, all_axes = style.panels(
        len(platforms),
        1,
        width=style.WIDTH,
        height=1.7 + (0.35 + 0.2 * len(workloads)) * len(platforms),
        sharex=True,
        squeeze=False,
    )
    for axes, platform in zip(all_axes[:, 0], platforms, strict=True):
        here = ours[ours["platform"] == platform]
        _workload_errors_panel(axes, here, column, workloads)
        for place, workload in enumerate(workloads):
            if workload not in set(here["workload"]):
                words = results.why_absent(workload, platform)
                axes.text(_LEAST_DRAWN_ERROR * 1.4, place, words, va="center", fontsize=8, color=style.MUTED)
        for row in paper.itertuples():
            value = getattr(row, column)
            label = f"paper: {style.model_look(row.model).label} typically below {style.percent_text(value)}"
            axes.axvline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.1, label=label)
        axes.set_title(platform)
    all_axes[0, 0].set_xlim(_LEAST_DRAWN_ERROR / 1.5, max(2.0, ours[column].max() * 1.5))
    all_axes[-1, 0].set_xlabel(f"{_WORKLOAD_ERROR_TITLES[column][1]} (log scale)")
    style.legend_below(figure, all_axes[:, 0], columns=4)
    style.headline(
        figure, _WORKLOAD_ERROR_TITLES[column][0], "simulated; the paper's bars are not published as data"
    )
    return figure, rows


def _workload_errors_panel(axes, rows: pd.DataFrame, column: str, workloads: list[str]) -> None:
    places = {name: place for place, name in enumerate(workloads)}
    for model in style.ordered_models(rows["model"]):
        label, colour, marker, _ = style.model_look(model)
        mine = rows[rows["model"] == model]
        axes.plot(
            mine[column].clip(lower=_LEAST_DRAWN_ERROR),
            [places[name] for name in mine["workload"]],
            marker,
            color=colour,
            markeredgecolor=style.INK,
            markeredgewidth=0.5,
            markersize=6.5 if model == "mosmodel" else 5,
            label=label,
            zorder=5 if model == "mosmodel" else 4,
        )
    axes.set_xscale("log")
    axes.set_yticks(range(len(workloads)), workloads, fontsize=8.5)
    axes.set_ylim(len(workloads) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    style.percent_axis(axes.xaxis)


# MICRO'20 table 6: the largest cross-validation error over all workloads and platforms.
#
# Leave-one-out decides the claims of this table. The folds of one seed and the six folds of several seeds
# are beside it. Mosmodel with its authors' settings (`mosmodel-authors`) has leave-one-out only.

CROSS_VALIDATION_COLUMNS = [
    "source", "provenance", "model", "protocol", "folds", "seed", "max_error", "least", "most", "workload",
    "platform",
]  # fmt: skip


def cross_validation_table(results, reference) -> pd.DataFrame:
    """Columns: :data:`CROSS_VALIDATION_COLUMNS`. A row per model and protocol.

    Protocol and folds are empty for the paper. ``max_error`` is the largest error over the pairs; of several
    seeds, the median of these, between ``least`` and ``most``.
    """
    cv = Results.of(results).models("cv")
    cv = cv.dropna(subset="max_error")
    if cv.empty:
        raise NotDrawn("figure table6", "no cross-validation was run (models/cv.csv has no rows)")
    kinds = cv["protocol"].fillna(K_FOLD)
    folds = cv[kinds == K_FOLD]
    worst = folds.loc[folds.groupby(["model", "folds"])["max_error"].idxmax()].assign(protocol="folds")
    alone = cv[kinds == LEAVE_ONE_OUT]
    alone = alone.loc[alone.groupby("model")["max_error"].idxmax()]
    rows = pd.concat([worst, alone, _errors_over_seeds(cv[kinds == SEEDS])])
    rows = rows.assign(source="Tessera", provenance="simulated")
    paper = published.cv_errors(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", protocol="")
    return pd.concat([rows, paper]).reindex(columns=CROSS_VALIDATION_COLUMNS).reset_index(drop=True)


def _errors_over_seeds(cv: pd.DataFrame) -> pd.DataFrame:
    """For each model the largest error over the pairs under each seed: their median, least and most."""
    worst = cv.groupby(["model", "folds", "seed"])["max_error"].max().groupby(["model", "folds"])
    found = worst.agg(max_error="median", least="min", most="max").reset_index()
    return found.assign(protocol=SEEDS)


@figure(
    "table6",
    "Cross-validation errors",
    "Largest cross-validation error over all workloads and platforms: K folds of one seed, and "
    "leave-one-out, which decides the claims. Mosmodel (authors) has the authors' settings.",
)
def draw_cross_validation(results, reference):
    """One panel per model: a line over K, leave-one-out behind it, and the paper's value as a level line."""
    rows = cross_validation_table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    folds = sorted(ours.loc[ours["protocol"] == "folds", "folds"].astype(int).unique())
    places = {k: place for place, k in enumerate([*folds, LEAVE_ONE_OUT])}
    models = style.ordered_models(ours["model"])
    height = (len(models) + 1) // 2
    figure, all_axes = style.panels(
        height, 2, width=style.WIDTH, height=2.8 * height, sharex=True, sharey=True, squeeze=False
    )
    for axes in all_axes.flat[len(models) :]:
        axes.set_visible(False)
    for axes, model in zip(all_axes.flat, models, strict=False):
        _cross_validation_panel(axes, ours[ours["model"] == model], model, places)
        paper = rows[(rows["source"] == "paper") & (rows["model"] == style.printed_model(model))]
        for value in paper["max_error"]:
            axes.axhline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.2)
            axes.annotate(
                f"paper {style.percent_text(value)}",
                (0, value),
                xytext=(0, 4),
                textcoords="offset points",
                fontsize=8,
            )
        axes.set_xticks(range(len(places)), [*folds, "one out"])
        axes.set_xlim(-0.5, len(places) - 0.5)
        axes.set_yscale("log")
    lowest, highest = rows["max_error"].min(), rows[["max_error", "most"]].max().max()
    all_axes[0, 0].set_ylim(max(lowest, 1e-4) / 2, highest * 2)
    style.log_axis(all_axes[0, 0].yaxis)
    style.percent_axis(all_axes[0, 0].yaxis)
    for axes in all_axes[:, 0]:
        axes.set_ylabel("largest error (log scale)")
    seeds = ", ".join(sorted({f"{seed:g}" for seed in ours["seed"].dropna()}))
    for axes in all_axes[-1]:
        axes.set_xlabel(f"K (folds, seed {seeds}); bar: range over seeds")
    style.headline(figure, "Largest cross-validation error", "simulated, beside published values")
    return figure, rows


def _cross_validation_panel(axes, mine: pd.DataFrame, model: str, places: dict) -> None:
    """The errors of one model over K, at leave-one-out, and the range over several seeds."""
    label, colour, marker, _ = style.model_look(model)
    look = {"color": colour, "markeredgecolor": style.INK, "markersize": 7}
    folds = mine[mine["protocol"] == "folds"]
    axes.plot([places[int(k)] for k in folds["folds"]], folds["max_error"], marker + "-", **look)
    for row in mine[mine["protocol"] == SEEDS].itertuples():
        if int(row.folds) in places:
            axes.vlines(places[int(row.folds)], row.least, row.most, color=colour, linewidth=4, alpha=0.35)
    for row in mine[mine["protocol"] == LEAVE_ONE_OUT].itertuples():
        axes.plot([places[LEAVE_ONE_OUT]], [row.max_error], marker, **look)
        axes.annotate(
            style.percent_text(row.max_error),
            (places[LEAVE_ONE_OUT], row.max_error),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
        )
    axes.set_title(label)
