"""The models judged in several ways: protocols, learning curves, adaptive orders, each as one small table.

Numbers are over the analysed pairs: the largest, and the median in brackets (one bad pair hides the others).
"""

from __future__ import annotations

import pandas as pd

from tessera.show.figures import style
from tessera.show.report import tables

#: protocol -> what it is fitted to and tested on
WORDS = {
    "all": "all layouts, the same ones (the paper's first method)",
    "kfold": "folds: fitted to the others, tested on one; duplicates stay together (Table 6). "
    "The five models that one or two runs define take no part: nothing of theirs is trained (VI-C)",
    "hundred": "6 folds of so many layouts (VI-C); more than 54 need random_count: 55 in the configuration",
    "heuristics": "the layouts of some heuristics, tested on those of another",
    "1gb": "all layouts, tested on the layout of 1GB pages only (VII-D)",
}


def analysed(facts, name: str) -> pd.DataFrame:
    """A table of the models without the pairs that are not TLB-sensitive."""
    table = tables.of_models(facts.results.directory, name)
    if table.empty:
        return table
    dropped = set(facts.results.dropped)
    keep = [pair not in dropped for pair in zip(table["workload"], table["platform"], strict=True)]
    return table[keep]


def _pairs(table: pd.DataFrame) -> int:
    return len(table[["workload", "platform"]].drop_duplicates())


def _labels(models) -> list[tuple[str, str]]:
    """(name, label), the paper's order first."""
    known = [name for name in style.MODELS if name in set(models)]
    others = sorted(set(models) - set(known))
    return [(name, style.MODELS[name][0]) for name in known] + [(name, name) for name in others]


def protocols(facts) -> dict | None:
    """Largest error of each model under each protocol."""
    table = analysed(facts, "protocols")
    if table.empty:
        return None
    table["setting"] = table["setting"].astype(object).fillna("").astype(str).str.removesuffix(".0")
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
                "pairs": _pairs(good),
                "cells": [worst.loc[name].to_dict() if name in worst.index else None for name, _ in models],
            }
        )
    shown = list(dict.fromkeys(row["protocol"] for row in rows))
    words = [(name, WORDS[name]) for name in shown if name in WORDS]
    return {"models": [label for _, label in models], "rows": rows, "pairs": _pairs(table), "words": words}


def learning(facts) -> dict | None:
    """Largest error (median over draws) against the number of layouts, median and largest over pairs."""
    table = analysed(facts, "learning_curve")
    table = table[table["max_error"].notna()] if len(table) else table
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
    return {"sizes": [int(n) for n in sizes], "rows": rows, "pairs": _pairs(table)}


def adaptive(facts) -> dict | None:
    """Layouts that an order needs to reach the error of all of them, and to hold it."""
    table = analysed(facts, "adaptive")
    table = table[table["reached_median"].notna()] if len(table) else table
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
                "pairs": _pairs(part),
                "total": int(part["total_layouts"].median()),
                "reached": (reached.median(), reached.min(), reached.max()),
                "held": (held.median(), held.min(), held.max()),
            }
        )
    return {"rows": rows, "pairs": _pairs(table)}
