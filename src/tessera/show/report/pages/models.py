"""Errors of the models: figures 2, 3, 5 to 11, tables 6 to 8, the protocols, and their values."""

from __future__ import annotations

from tessera.layouts.names import ALL_1GB
from tessera.show.figures import looks
from tessera.show.report import placing
from tessera.show.report.pages import budgets, judgements

HREF = "models.html"
#: (id, title, text, figures); figures of the registry that are not named here follow under "More" or "OPERA"
PARTS = (
    (
        "worst-case",
        "Worst cases",
        "The paper's main result: the largest error of each model. The models are fitted to all layouts "
        "except 1GB and tested on the same layouts.",
        ("fig2",),
    ),
    ("per-workload", "Per workload", "", ("fig5", "fig6")),
    (
        "cross-validation",
        "Cross validation",
        "Each model is tested on layouts that its fit left out.",
        ("table6",),
    ),
    (
        "cases",
        "Cases",
        "Each figure shows one workload on one platform. If this run does not have the workload of the "
        "paper, the figure states how its replacement was chosen.",
        ("fig3", "fig7", "fig8", "fig9", "fig10", "fig11"),
    ),
    ("caches", "Caches and the page walker", "", ("table7",)),
    ("inputs", "Which inputs explain the runtime", "", ("table8",)),
)


def page(facts) -> dict:
    return {
        "title": "Models",
        "parts": _parts(facts),
        "worst": _worst(facts),
        "protocols": judgements.protocols(facts),
        "anchored": judgements.anchored(facts),
        "one_gb_worse": budgets.one_gb_worse(facts),
        "learning": judgements.learning(facts),
        "adaptive": judgements.adaptive(facts),
        "one_gb": budgets.one_gb(facts),
        "budget": budgets.budget(facts),
    }


def _parts(facts) -> list[dict]:
    named = {figure for *_, figures in PARTS for figure in figures}
    opera = [name for name in placing.names_on(HREF, "opera") if name not in named]
    other = [name for name in placing.names_on(HREF) if name not in named and name not in opera]
    extra = (
        ("opera", "OPERA D5.10, chapter 2", "The same findings, in the figures of the deliverable.", opera),
        ("more", "More figures", "", other),
    )
    return [
        {"id": name, "title": title, "text": text, "figures": [facts.figure(stem) for stem in figures]}
        for name, title, text, figures in (*PARTS, *extra)
        if figures
    ]


def _worst(facts) -> list[dict]:
    errors = facts.results.models("errors")
    rows = []
    for model in looks.ordered(errors["model"]):
        mine = errors[errors["model"] == model]
        for platform in [p for p in facts.platforms() if p in set(mine["platform"])]:
            here = mine[mine["platform"] == platform]
            every, test = (here[here["protocol"] == name] for name in ("all", ALL_1GB))
            if every.empty:
                continue
            worst = every.loc[every["max_error"].idxmax()]
            rows.append(
                {
                    "label": looks.look(model).label,
                    "platform": platform,
                    "workload": worst["workload"],
                    "max_error": worst["max_error"],
                    "geomean_error": every["geomean_error"].max(),
                    "test_error": test["max_error"].max() if len(test) else None,
                    "effective_n": worst["effective_n"],
                }
            )
    return rows
