"""MICRO'20 table 6: the largest cross-validation error over all workloads and platforms, for each K."""

from __future__ import annotations

import pandas as pd

from tessera.show.figures import looks, published, style
from tessera.show.results import NotDrawn, Results

HEADLINE_FOLDS = 6


def table(results, reference) -> pd.DataFrame:
    """Columns: source, provenance, model, folds (empty for the paper), max_error, workload, platform."""
    cv = Results.of(results).models("cv")
    cv = cv.dropna(subset="max_error")
    if cv.empty:
        raise NotDrawn("figure table6", "no cross-validation was run (models/cv.csv has no rows)")
    worst = cv.loc[cv.groupby(["model", "folds"])["max_error"].idxmax()]
    worst = worst.assign(source="Tessera", provenance="simulated")
    paper = published.cv_errors(reference)
    if not paper.empty:
        paper = paper.assign(source="paper", provenance="published")
    columns = ["source", "provenance", "model", "folds", "max_error", "workload", "platform"]
    return pd.concat([worst, paper]).reindex(columns=columns).reset_index(drop=True)


def draw(results, reference):
    """One line per model over K; the paper's value as a level line."""
    rows = table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    folds = sorted(ours["folds"].astype(int).unique())
    models = looks.ordered(ours["model"])
    height = (len(models) + 1) // 2
    figure, all_axes = style.panels(
        height, 2, width=style.WIDTH, height=2.8 * height, sharex=True, sharey=True, squeeze=False
    )
    for axes in all_axes.flat[len(models) :]:
        axes.set_visible(False)
    for axes, model in zip(all_axes.flat, models, strict=False):
        label, colour, marker, _ = looks.look(model)
        mine = ours[ours["model"] == model].set_index("folds")["max_error"].reindex(folds)
        axes.plot(
            range(len(folds)),
            mine,
            marker + "-",
            color=colour,
            markeredgecolor=style.INK,
            markersize=7,
            label="obtained",
        )
        if HEADLINE_FOLDS in mine.index and pd.notna(mine[HEADLINE_FOLDS]):
            axes.annotate(
                style.percent(mine[HEADLINE_FOLDS]),
                (folds.index(HEADLINE_FOLDS), mine[HEADLINE_FOLDS]),
                xytext=(0, 8),
                textcoords="offset points",
                ha="center",
                fontsize=8.5,
            )
        paper = rows[(rows["source"] == "paper") & (rows["model"] == model)]["max_error"]
        for value in paper:
            axes.axhline(value, color=style.INK, linestyle=(0, (5, 3)), linewidth=1.2)
            axes.annotate(
                f"paper {style.percent(value)}",
                (len(folds) - 1, value),
                xytext=(0, 4),
                textcoords="offset points",
                ha="right",
                fontsize=8,
            )
        axes.set_xticks(range(len(folds)), folds)
        axes.set_xlim(-0.5, len(folds) - 0.5)
        axes.set_yscale("log")
        axes.set_title(label)
        style.percent_axis(axes.yaxis)
    lowest, highest = rows["max_error"].min(), rows["max_error"].max()
    all_axes[0, 0].set_ylim(max(lowest, 1e-4) / 2, highest * 2)
    for axes in all_axes[:, 0]:
        axes.set_ylabel("largest error (log scale)")
    for axes in all_axes[-1]:
        axes.set_xlabel("K (folds)")
    style.headline(figure, "Largest cross-validation error", "simulated, beside published values")
    return figure, rows
