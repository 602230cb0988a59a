"""The 1GB run, never fitted, as test point of all pairs (MICRO'20 VII-D, Figure 11; OPERA 2.1, Figure 2)."""

from __future__ import annotations

import pandas as pd

from tessera.layouts.names import ALL_1GB
from tessera.show.figures import looks, pair_rows, published, style
from tessera.show.results import NotDrawn, Results

MODELS = ("yaniv", "mosmodel", "mosmodel-authors")
_FLOOR = 1e-4


def table(results, reference) -> pd.DataFrame:
    """Columns: source, workload, platform, model, error (fraction of the runtime), provenance, note."""
    errors = Results.of(results).models("errors")
    errors = errors[(errors["protocol"] == ALL_1GB) & errors["model"].isin(MODELS)]
    if errors.empty:
        raise NotDrawn("figure finding-1gb", "no model predicted a 1GB run (models/errors.csv)")
    ours = errors.rename(columns={"max_error": "error"}).assign(
        source="Tessera", provenance="simulated", note=""
    )
    paper = published.printed(reference, "Figure 11")
    parts = [ours]
    if len(paper):
        paper = paper.assign(error=paper["value"] / 100, source="paper", note="MICRO'20 Figure 11")
        parts.append(paper[paper["model"].isin(MODELS)])
    ratio = published.opera_value(reference, "linear_deviation")
    if ratio:
        # Printed relative to the prediction; errors here are relative to the runtime (equation 1).
        note = f"OPERA Figure 2: runtime {ratio:g} times the prediction, 1 - 1/{ratio:g}"
        row = dict(workload="GUPS/4GB", platform="not named", model="yaniv", error=1 - 1 / ratio, note=note)
        parts.append(pd.DataFrame([row | dict(source="paper", provenance="published")]))
    columns = ["source", "workload", "platform", "model", "error", "provenance", "note"]
    return pd.concat(parts, ignore_index=True)[columns]


def worse(errors: pd.DataFrame, model: str = "mosmodel", other: str = "yaniv") -> tuple[int, int]:
    """(pairs where ``model`` has the larger error at 1GB, pairs with both errors), from models/errors.csv."""
    at_1gb = errors[(errors["protocol"] == ALL_1GB) & errors["model"].isin([model, other])]
    both = at_1gb.pivot_table(index=["workload", "platform"], columns="model", values="max_error")
    both = both.reindex(columns=[model, other]).dropna()
    return int((both[model] > both[other]).sum()), len(both)


def draw(results, reference):
    """A panel per model, a row per workload; published errors are lines."""
    rows = table(results, reference)
    ours = rows[rows["source"] == "Tessera"]
    errors = Results.of(results).models("errors")
    models = [name for name in MODELS if looks.printed_as(name) == name or name in set(ours["model"])]
    figure, all_axes = style.panels(
        len(models), 1, width=style.WIDTH, height=pair_rows.height(ours, len(models)), sharex=True
    )
    dashes = ((0, (5, 3)), (0, (1, 1.5)))
    for axes, model in zip(all_axes, models, strict=True):
        mine = ours[ours["model"] == model]
        if len(mine):
            pair_rows.panel(axes, mine, "error", lowest=_FLOOR)
        printed = rows[(rows["source"] == "paper") & (rows["model"] == looks.printed_as(model))]
        for row, dash in zip(printed.itertuples(), dashes, strict=False):
            axes.axvline(
                row.error, color=style.INK, linestyle=dash, linewidth=1.3,
                label=f"published: {looks.look(row.model).label}, {row.workload}, {style.percent(row.error)}",
            )  # fmt: skip
        axes.set_xscale("log")
        above = int((mine["error"] > 0.01).sum())
        title = f"{looks.look(model).label}: above 1% in {above} of {len(mine)} pairs"
        larger, pairs = worse(errors, model) if model != "yaniv" else (0, 0)
        axes.set_title(f"{title}, above Yaniv's in {larger} of {pairs}" if pairs else title)
        style.percent_axis(axes.xaxis)
    all_axes[0].set_xlim(_FLOOR / 1.5, max(1.0, ours["error"].max() * 1.5))
    all_axes[-1].set_xlabel("error at 1GB, relative to the runtime (log scale)")
    style.legend_below(figure, all_axes, columns=2)
    style.headline(figure, "Predicting 1GB pages, all pairs", "simulated, beside published")
    return figure, rows
