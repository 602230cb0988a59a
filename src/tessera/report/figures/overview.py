"""The answer of Tessera in one drawing: how wrong models are on a processor, and what a new design gets."""

from __future__ import annotations

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.report import new_designs
from tessera.report.figures import figure, style
from tessera.report.results import NotDrawn, Results

#: of a question: its name, the label, the colour
KINDS = (
    ("passing", "answered, within tolerance", style.GREEN),
    ("wrong", "answered, outside", style.VERMILLION),
    ("refused", "refused", style.GRID),
)


def overview_table(results) -> pd.DataFrame:
    """Rows of both panels: ``panel``, ``name``, ``quantity``, ``value``, ``provenance``.

    ``errors``: the largest relative error of a model on each pair (all layouts, fitted to all).
    ``designs``: judged points by what became of them: ``passing``, ``wrong`` (answered, not within the
    tolerance of docs/explain/transfer.md) and ``refused``; beside them what Mosmodel and ``constant`` pass.
    """
    results = Results.of(results)
    errors = results.models("errors")
    errors = errors[errors["protocol"] == "all"].dropna(subset="max_error")
    if errors.empty:
        raise NotDrawn("figure overview", "no model was fitted (models/errors.csv has no rows)")
    rows = [
        ("errors", each.model, f"{each.workload}/{each.platform}", each.max_error)
        for each in errors.itertuples()
    ]
    for group in _of_classes(results).itertuples():
        rows += [
            ("designs", group.label, "passing", group.passing or 0),
            ("designs", group.label, "wrong", group.answered - (group.passing or 0)),
            ("designs", group.label, "refused", group.judged - group.answered),
            ("designs", group.label, "constant", group.constant_passing or 0),
            ("designs", group.label, "mosmodel", group.mosmodel_passing or 0),
        ]
    table = pd.DataFrame(rows, columns=["panel", "name", "quantity", "value"])
    return table.assign(provenance="simulated")


def _of_classes(results: Results) -> pd.DataFrame:
    """Classes of the first platform, of the workloads on which nothing was tuned if there are some."""
    try:
        found = next(new_designs.tables(new_designs.new_design_table(results.directory)), None)
    except TesseraError as error:
        raise NotDrawn("figure overview", error.found) from error
    if found is None:
        raise NotDrawn("figure overview", "the study of transfer has no judged point")
    rows = found[2]
    return rows[rows["group"] != new_designs.TOTAL]


@figure(
    "overview",
    "How wrong models are, and what a new design gets",
    "Above: the largest relative error of each model on each pair of workload and platform whose layouts it "
    "was fitted to. Below: questions about new designs by class of change, answered within the tolerance, "
    "answered wrongly, or refused; where the bracket answers, marks show how many Mosmodel and `constant` "
    "pass.",
    page="index.html",
)
def draw_overview(results, reference):
    """A strip of pairs for each model; a bar of questions for each class of change."""
    rows = overview_table(results)
    drawing, (above, below) = style.panels(2, 1, width=style.WIDTH + 1.4, height=6.6)
    errors = rows[rows["panel"] == "errors"]
    models = style.ordered_models(errors["name"])
    for place, model in enumerate(reversed(models)):
        look, values = style.model_look(model), errors.loc[errors["name"] == model, "value"]
        above.plot(
            values.clip(lower=1e-4),
            [place] * len(values),
            look.marker,
            color=look.colour,
            alpha=0.45,
            ms=4,
            mew=0,
        )
        above.plot([values.median()] * 2, [place - 0.36, place + 0.36], color=style.INK, lw=1.8)
    above.set_yticks(range(len(models)), [style.model_look(name).label for name in reversed(models)])
    above.set_xscale("log")
    above.set_xticks([1e-3, 1e-2, 0.1, 1, 10], ["0.1%", "1%", "10%", "100%", "1000%"])
    above.minorticks_off()
    above.set_xlabel("largest relative error of R on a pair (line: median)")
    above.set_title(
        f"R under the layouts that the models were fitted to: {errors['quantity'].nunique()} pairs"
    )
    _designs_panel(below, rows[rows["panel"] == "designs"])
    style.headline(drawing, "How wrong models are, and what a new design gets", "simulated")
    return drawing, rows


def _designs_panel(axes, rows: pd.DataFrame) -> None:
    """Bars of questions, stacked; marks of the rivals where the bracket answers."""
    wide = rows.pivot(index="name", columns="quantity", values="value").reindex(rows["name"].unique()[::-1])
    left = 0 * wide["passing"]
    for kind, name, colour in KINDS:
        axes.barh(wide.index, wide[kind], left=left, color=colour, label=name, height=0.62)
        left = left + wide[kind]
    answered = wide[wide["passing"] + wide["wrong"] > 0]
    for rival, marker in (("mosmodel", "o"), ("constant", "|")):
        places = [wide.index.get_loc(name) for name in answered.index]
        name = "Mosmodel passes" if rival == "mosmodel" else "constant passes"
        axes.plot(
            answered[rival], places, marker, color=style.INK, ms=5 if marker == "o" else 12, ls="", label=name
        )
    axes.set_xlabel("questions (simulated designs)")
    axes.set_title("R of a new design, by what it changes")
    style.legend_below(axes.figure, [axes])
