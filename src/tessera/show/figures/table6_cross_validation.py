"""MICRO'20 table 6: the largest cross-validation error over all workloads and platforms.

Leave-one-out decides the claims of this table. The folds of one seed and the six folds of several seeds are
beside it. Mosmodel with its authors' settings (`mosmodel-authors`) has leave-one-out only.
"""

from __future__ import annotations

import pandas as pd

from tessera.results.schema.models import K_FOLD, LEAVE_ONE_OUT, SEEDS
from tessera.show.figures import looks, published, style
from tessera.show.results import NotDrawn, Results

COLUMNS = ["source", "provenance", "model", "protocol", "folds", "seed", "max_error", "least", "most",
           "workload", "platform"]  # fmt: skip


def table(results, reference) -> pd.DataFrame:
    """Columns: :data:`COLUMNS`. A row per model and protocol; protocol and folds are empty for the paper.

    ``max_error`` is the largest error over the pairs; of several seeds, the median of these, between
    ``least`` and ``most``.
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
    rows = pd.concat([worst, alone, _over_seeds(cv[kinds == SEEDS])])
    rows = rows.assign(source="Tessera", provenance="simulated")
    paper = published.cv_errors(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published", protocol="")
    return pd.concat([rows, paper]).reindex(columns=COLUMNS).reset_index(drop=True)


def _over_seeds(cv: pd.DataFrame) -> pd.DataFrame:
    """For each model the largest error over the pairs under each seed: their median, least and most."""
    worst = cv.groupby(["model", "folds", "seed"])["max_error"].max().groupby(["model", "folds"])
    found = worst.agg(max_error="median", least="min", most="max").reset_index()
    return found.assign(protocol=SEEDS)


def draw(results, reference):
    """One panel per model: a line over K, leave-one-out behind it, and the paper's value as a level line."""
    rows = table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    folds = sorted(ours.loc[ours["protocol"] == "folds", "folds"].astype(int).unique())
    places = {k: place for place, k in enumerate([*folds, LEAVE_ONE_OUT])}
    models = looks.ordered(ours["model"])
    height = (len(models) + 1) // 2
    figure, all_axes = style.panels(
        height, 2, width=style.WIDTH, height=2.8 * height, sharex=True, sharey=True, squeeze=False
    )
    for axes in all_axes.flat[len(models) :]:
        axes.set_visible(False)
    for axes, model in zip(all_axes.flat, models, strict=False):
        _panel(axes, ours[ours["model"] == model], model, places)
        paper = rows[(rows["source"] == "paper") & (rows["model"] == looks.printed_as(model))]
        for value in paper["max_error"]:
            axes.axhline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.2)
            axes.annotate(
                f"paper {style.percent(value)}",
                (0, value),
                xytext=(0, 4),
                textcoords="offset points",
                fontsize=8,
            )
        axes.set_xticks(range(len(places)), [*folds, "one out"])
        axes.set_xlim(-0.5, len(places) - 0.5)
        axes.set_yscale("log")
        style.percent_axis(axes.yaxis)
    lowest, highest = rows["max_error"].min(), rows[["max_error", "most"]].max().max()
    all_axes[0, 0].set_ylim(max(lowest, 1e-4) / 2, highest * 2)
    for axes in all_axes[:, 0]:
        axes.set_ylabel("largest error (log scale)")
    seeds = ", ".join(sorted({f"{seed:g}" for seed in ours["seed"].dropna()}))
    for axes in all_axes[-1]:
        axes.set_xlabel(f"K (folds, seed {seeds}); bar: range over seeds")
    style.headline(figure, "Largest cross-validation error", "simulated, beside published values")
    return figure, rows


def _panel(axes, mine: pd.DataFrame, model: str, places: dict) -> None:
    """The errors of one model over K, at leave-one-out, and the range over several seeds."""
    label, colour, marker, _ = looks.look(model)
    look = {"color": colour, "markeredgecolor": style.INK, "markersize": 7}
    folds = mine[mine["protocol"] == "folds"]
    axes.plot([places[int(k)] for k in folds["folds"]], folds["max_error"], marker + "-", **look)
    for row in mine[mine["protocol"] == SEEDS].itertuples():
        if int(row.folds) in places:
            axes.vlines(places[int(row.folds)], row.least, row.most, color=colour, linewidth=4, alpha=0.35)
    for row in mine[mine["protocol"] == LEAVE_ONE_OUT].itertuples():
        axes.plot([places[LEAVE_ONE_OUT]], [row.max_error], marker, **look)
        axes.annotate(
            style.percent(row.max_error),
            (places[LEAVE_ONE_OUT], row.max_error),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=8.5,
        )
    axes.set_title(label)
