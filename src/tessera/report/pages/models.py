"""Errors of the models: figures 2, 3, 5 to 11, tables 6 to 8, and the numbers behind them."""

from __future__ import annotations

from tessera.figures import style

#: (id, title, text, figures); the summary page links claims to these anchors through `anchor`
PARTS = (
    (
        "worst-case",
        "Worst cases",
        "The paper's headline: how wrong a model can be. Fitted to and tested against all "
        "layouts, the 1GB point left out.",
        ("fig2",),
    ),
    ("per-workload", "Per workload", "", ("fig5", "fig6")),
    ("cross-validation", "Cross validation", "Fitted without the layouts it is tested against.", ("table6",)),
    (
        "cases",
        "Cases",
        "One workload on one platform each. Where the paper's workload isn't among ours, the figure "
        "says how its stand-in was chosen.",
        ("fig3", "fig7", "fig8", "fig9", "fig10", "fig11"),
    ),
    ("caches", "Caches and the page walker", "", ("table7",)),
    ("inputs", "Which inputs explain the runtime", "", ("table8",)),
)


def page(facts) -> dict:
    parts = [
        {"id": name, "title": title, "text": text, "figures": [facts.figure(stem) for stem in figures]}
        for name, title, text, figures in PARTS
    ]
    return {"title": "Models", "parts": parts, "worst": _worst(facts)}


def anchor(figure: str) -> str:
    """Link to a figure by registry name; empty if no page shows it."""
    if any(figure in figures for _, _, _, figures in PARTS):
        return f"models.html#{figure}"
    return {"sensitivity": "workloads.html#sensitivity", "host": "host.html#host"}.get(figure, "")


def _worst(facts) -> list[dict]:
    errors = facts.results.errors
    rows = []
    for model, (label, *_) in style.MODELS.items():
        mine = errors[errors["model"] == model]
        for platform in [p for p in facts.platforms() if p in set(mine["platform"])]:
            here = mine[mine["platform"] == platform]
            every, test = (here[here["protocol"] == name] for name in ("all", "1gb"))
            if every.empty:
                continue
            worst = every.loc[every["max_error"].idxmax()]
            rows.append(
                {
                    "label": label,
                    "platform": platform,
                    "workload": worst["workload"],
                    "max_error": worst["max_error"],
                    "geomean_error": every["geomean_error"].max(),
                    "test_error": test["max_error"].max() if len(test) else None,
                }
            )
    return rows
