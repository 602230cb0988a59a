"""The errors of the models by protocol, learning curve and adaptive order, each as one small table.

Numbers are over the analysed pairs: the largest, and the median in brackets (one bad pair hides the others).
"""

from __future__ import annotations

from tessera.layouts.names import ALL_1GB
from tessera.results.pair import pairs_of
from tessera.results.schema.models import OF_RUN
from tessera.show.figures import looks

#: protocol -> what it is fitted to and tested on
WORDS = {
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


def _labels(models) -> list[tuple[str, str]]:
    """(name, label) in the order of the registry."""
    return [(name, looks.look(name).label) for name in looks.ordered(models)]


def protocols(facts) -> dict | None:
    """Largest error of each model under each protocol."""
    table = facts.results.analysed(facts.results.read(OF_RUN["protocols"]))
    if table.empty:
        return None
    models = _labels(table["model"])
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
                "words": WORDS.get(protocol, ""),
                "pairs": len(pairs_of(good)),
                "effective_n": _effective(good),
                "cells": [worst.loc[name].to_dict() if name in worst.index else None for name, _ in models],
            }
        )
    shown = list(dict.fromkeys(row["protocol"] for row in rows))
    words = [(name, WORDS[name]) for name in shown if name in WORDS]
    return {
        "models": [label for _, label in models],
        "rows": rows,
        "pairs": len(pairs_of(table)),
        "words": words,
    }


def anchored(facts) -> dict | None:
    """Largest errors with both anchors in training, by kind of tested row; medians over shuffles.

    ``low`` and ``high``: range over the shuffles of the pair with the largest error over all tested rows.
    """
    table = facts.results.models("anchored")
    if table.empty:
        return None
    rows = []
    for protocol, words in ANCHORED_WORDS.items():
        for name, label in _labels(table["model"]):
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
    known = rows[[looks.is_trained(name) for name in rows["model"]]]["effective_n"].dropna()
    known = known if len(known) else rows["effective_n"].dropna()
    return f"{known.median():g} ({known.min():g} to {known.max():g})" if len(known) else ""


def learning(facts) -> dict | None:
    """Largest error (median over draws) against the number of layouts, median and largest over pairs."""
    table = facts.results.models("learning_curve")
    if table.empty:
        return None
    sizes = sorted(table["train_samples"].unique())
    rows = []
    for name, label in _labels(table["model"]):
        mine = table[table["model"] == name].groupby("train_samples")["max_error"]
        seen = mine.agg(["median", "max"])
        rows.append(
            {"label": label, "cells": [seen.loc[n].to_dict() if n in seen.index else None for n in sizes]}
        )
    return {"sizes": [int(n) for n in sizes], "rows": rows, "pairs": len(pairs_of(table))}


def adaptive(facts) -> dict | None:
    """Layouts that an order needs to reach the error of all of them, and to hold it."""
    table = facts.results.models("adaptive")
    if table.empty:
        return None
    rows = []
    for (model, slack, order), part in table.groupby(["model", "slack", "order"]):
        reached, held = part["reached_median"], part["held_median"]
        rows.append(
            {
                "model": dict(_labels([model]))[model],
                "slack": slack,
                "order": order,
                "pairs": len(pairs_of(part)),
                "total": int(part["total_layouts"].median()),
                "reached": (reached.median(), reached.min(), reached.max()),
                "held": (held.median(), held.min(), held.max()),
            }
        )
    return {"rows": rows, "pairs": len(pairs_of(table))}
