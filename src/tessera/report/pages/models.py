"""Errors of the models: figures 2, 3, 5 to 11, tables 6 to 8, protocols, learning curve, 1GB prediction."""

from __future__ import annotations

from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.loader import pairs_of
from tessera.report.figures import findings, style
from tessera.report.page_elements import figures_on

MODELS_HREF = "models.html"
#: (id, title, text, figures); figures of the page that are not named here follow under "More" or "OPERA"
SECTIONS = (
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


def models_page(facts) -> dict:
    return {
        "title": "Models",
        "parts": _sections(facts),
        "worst": _worst(facts),
        "protocols": protocol_errors(facts),
        "anchored": anchored_errors(facts),
        "one_gb_worse": one_gb_worse(facts),
        "learning": learning(facts),
        "adaptive": adaptive_orders(facts),
        "one_gb": one_gb_rows(facts),
        "budget": budget(facts),
    }


def _sections(facts) -> list[dict]:
    named = {figure for *_, figures in SECTIONS for figure in figures}
    rest = [name for name in figures_on(MODELS_HREF) if name not in named]
    opera = [name for name in rest if name.startswith("opera-")]
    other = [name for name in rest if name not in opera]
    extra = (
        ("opera", "OPERA D5.10, chapter 2", "The same findings, in the figures of the deliverable.", opera),
        ("more", "More figures", "", other),
    )
    return [
        {"id": name, "title": title, "text": text, "figures": [facts.figure(stem) for stem in figures]}
        for name, title, text, figures in (*SECTIONS, *extra)
        if figures
    ]


def _worst(facts) -> list[dict]:
    errors = facts.results.models("errors")
    rows = []
    for model in style.ordered_models(errors["model"]):
        mine = errors[errors["model"] == model]
        for platform in [p for p in facts.platforms() if p in set(mine["platform"])]:
            here = mine[mine["platform"] == platform]
            every, test = (here[here["protocol"] == name] for name in ("all", ALL_1GB))
            if every.empty:
                continue
            worst = every.loc[every["max_error"].idxmax()]
            rows.append(
                {
                    "label": style.model_look(model).label,
                    "platform": platform,
                    "workload": worst["workload"],
                    "max_error": worst["max_error"],
                    "geomean_error": every["geomean_error"].max(),
                    "test_error": test["max_error"].max() if len(test) else None,
                    "effective_n": worst["effective_n"],
                }
            )
    return rows


# The errors of the models by protocol, learning curve and adaptive order, each as one small table.
#
# Numbers are over the analysed pairs: the largest, and the median in brackets (one bad pair hides the
# others).

#: protocol -> what it is fitted to and tested on
PROTOCOL_WORDS = {
    "all": "fitted to all layouts and tested on the same ones (the paper's first method)",
    "kfold": "each fold of layouts is tested with a fit to the other folds; duplicates stay in one fold "
    "(Table 6). Without the five models that one or two runs define: they are not trained (VI-C)",
    "hundred": "6 folds of the number of layouts in the setting (VI-C); more than 54 need random_count: 55 "
    "in the configuration",
    "heuristics": "fitted to the layouts of some heuristics, tested on those of another",
    ALL_1GB: "fitted to all layouts, tested on the layout of 1GB pages only (VII-D)",
}

#: protocol of anchored.csv -> what its rows are called
ANCHORED_WORDS = {"anchored": "6 folds", ALL_1GB: "1GB pages"}
ANCHORED_PARTS = ("all", "low-leverage", "interpolation", "extrapolation")


def _model_labels(models) -> list[tuple[str, str]]:
    """(name, label) in the order of the registry."""
    return [(name, style.model_look(name).label) for name in style.ordered_models(models)]


def protocol_errors(facts) -> dict | None:
    """Largest error of each model under each protocol."""
    table = facts.results.analysed(facts.results.read(MODELS_OF_RUN["protocols"]))
    if table.empty:
        return None
    models = _model_labels(table["model"])
    rows = []
    for (protocol, setting), part in table.groupby(["protocol", "setting"], sort=False):
        good = part[part["max_error"].notna()]
        worst = good.groupby("model")["max_error"].agg(["max", "median", "count"])
        if good.empty:
            continue
        rows.append(
            {
                "protocol": protocol,
                "setting": setting.replace("->", " \u2192 "),
                "words": PROTOCOL_WORDS.get(protocol, ""),
                "pairs": len(pairs_of(good)),
                "effective_n": _effective(good),
                "cells": [worst.loc[name].to_dict() if name in worst.index else None for name, _ in models],
            }
        )
    shown = list(dict.fromkeys(row["protocol"] for row in rows))
    words = [(name, PROTOCOL_WORDS[name]) for name in shown if name in PROTOCOL_WORDS]
    return {
        "models": [label for _, label in models],
        "rows": rows,
        "pairs": len(pairs_of(table)),
        "words": words,
    }


def anchored_errors(facts) -> dict | None:
    """Largest errors with both anchors in training, by kind of tested row; medians over shuffles.

    ``low`` and ``high``: range over the shuffles of the pair with the largest error over all tested rows.
    """
    table = facts.results.models("anchored")
    if table.empty:
        return None
    rows = []
    for protocol, words in ANCHORED_WORDS.items():
        for name, label in _model_labels(table["model"]):
            mine = table[(table["protocol"] == protocol) & (table["model"] == name)]
            every = mine[mine["part"] == "all"]
            if every.empty:
                continue
            seen = mine.groupby("part")["max_error"].agg(["max", "median", "count"])
            worst = every.loc[every["max_error"].idxmax()]
            rows.append(
                {
                    "protocol": words,
                    "label": label,
                    "pairs": len(pairs_of(every)),
                    "cells": [seen.loc[p].to_dict() if p in seen.index else None for p in ANCHORED_PARTS],
                    "low": worst["max_error_low"],
                    "high": worst["max_error_high"],
                    "worst": f"{worst['workload']} on {worst['platform']}",
                }
            )
    return {"parts": list(ANCHORED_PARTS), "rows": rows, "seeds": int(table["seeds"].max())}


def _effective(rows) -> str:
    """Distinct training samples: median over the pairs, and the range; a model that anchors define has 2."""
    known = rows[[style.is_trained(name) for name in rows["model"]]]["effective_n"].dropna()
    known = known if len(known) else rows["effective_n"].dropna()
    return f"{known.median():g} ({known.min():g} to {known.max():g})" if len(known) else ""


def learning(facts) -> dict | None:
    """Largest error (median over draws) against the number of layouts, median and largest over pairs."""
    table = facts.results.models("learning_curve")
    if table.empty:
        return None
    sizes = sorted(table["train_samples"].unique())
    rows = []
    for name, label in _model_labels(table["model"]):
        mine = table[table["model"] == name].groupby("train_samples")["max_error"]
        seen = mine.agg(["median", "max"])
        rows.append(
            {"label": label, "cells": [seen.loc[n].to_dict() if n in seen.index else None for n in sizes]}
        )
    return {"sizes": [int(n) for n in sizes], "rows": rows, "pairs": len(pairs_of(table))}


def adaptive_orders(facts) -> dict | None:
    """Layouts that an order needs to reach the error of all of them, and to hold it."""
    table = facts.results.models("adaptive")
    if table.empty:
        return None
    rows = []
    for (model, slack, order), part in table.groupby(["model", "slack", "order"]):
        reached, held = part["reached_median"], part["held_median"]
        rows.append(
            {
                "model": dict(_model_labels([model]))[model],
                "slack": slack,
                "order": order,
                "pairs": len(pairs_of(part)),
                "total": int(part["total_layouts"].median()),
                "reached": (reached.median(), reached.min(), reached.max()),
                "held": (held.median(), held.min(), held.max()),
            }
        )
    return {"rows": rows, "pairs": len(pairs_of(table))}


# The 1GB layout predicted from the others, with its interval; and the error budget of that prediction.

BUDGET_PARTS = ("model", "simulator", "sampling", "noise", "total")


def one_gb_rows(facts) -> list[dict]:
    """A row per pair and model: prediction, interval, simulated runtime, and whether it lies inside."""
    table = facts.results.models("one_gb")
    cells = facts.results.simulated
    real = cells[cells["layout"] == ALL_1GB].drop_duplicates(["workload", "platform"])
    real = real.set_index(["workload", "platform"])["runtime_cycles"]
    rows = []
    for row in table.astype(object).where(table.notna(), None).to_dict("records"):
        actual, predicted = real.get((row["workload"], row["platform"])), row["predicted_runtime_cycles"]
        low, high = row["low_cycles"], row["high_cycles"]
        known = actual is not None and predicted is not None
        rows.append(
            row
            | {
                "label": _model_label(row["model"]),
                "actual": actual,
                "error": predicted / actual - 1 if known else None,
                "half": (high - low) / 2 / predicted if None not in (low, high, predicted) else None,
                "covered": low <= actual <= high if known and None not in (low, high) else None,
            }
        )
    return rows


def one_gb_worse(facts) -> tuple[int, int] | None:
    """(pairs where Mosmodel's error at 1GB exceeds Yaniv's, pairs with both); None if there are none."""
    worse, pairs = findings.pairs_worse_at_1gb(facts.results.models("errors"))
    return (worse, pairs) if pairs else None


def budget(facts) -> dict | None:
    """Half-widths as shares of the prediction, a row per pair and model, and the reasons of unknown parts."""
    table = facts.results.analysed(facts.results.read(MODELS_OF_RUN["budget"]))
    if table.empty:
        return None
    parts = [name for name in BUDGET_PARTS if name in set(table["part"])]
    rows = []
    for (workload, platform, model), group in table.groupby(["workload", "platform", "model"]):
        by = group.drop_duplicates("part").set_index("part")
        cells = [
            {
                "share": by["relative"].get(name),
                "provenance": by["provenance"].get(name, ""),
                "message": by["message"].get(name, ""),
            }
            for name in parts
        ]
        rows.append(
            {"workload": workload, "platform": platform, "model": _model_label(model), "cells": cells}
        )
    unknown = table[table["relative"].isna() & (table["message"] != "")]
    why = unknown.groupby(["part", "message"]).size().reset_index(name="pairs").to_dict("records")
    return {"parts": parts, "rows": rows, "unknown": why}


def _model_label(model: str) -> str:
    return style.model_look(model).label
