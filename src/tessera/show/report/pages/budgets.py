"""The 1GB layout predicted from the others, with its interval; and the error budget of that prediction."""

from __future__ import annotations

import pandas as pd

from tessera.show.figures import style
from tessera.show.report import tables
from tessera.show.report.pages.judgements import analysed

PARTS = ("model", "simulator", "sampling", "noise", "total")


def one_gb(facts) -> list[dict]:
    """A row per pair and model: predicted, its interval, what was simulated, and whether it lies inside."""
    table = analysed(facts, "one_gb")
    if table.empty:
        return []
    cells = facts.results.simulated
    real = cells[cells["layout"] == "1gb"].drop_duplicates(["workload", "platform"])
    real = real.set_index(["workload", "platform"])["runtime_cycles"]
    rows = []
    for row in tables.rows(table):
        actual, predicted = real.get((row["workload"], row["platform"])), row["predicted_runtime_cycles"]
        low, high = row["low_cycles"], row["high_cycles"]
        known = actual is not None and predicted is not None
        rows.append(
            row
            | {
                "label": _label(row["model"]),
                "actual": actual,
                "error": predicted / actual - 1 if known else None,
                "half": (high - low) / 2 / predicted if None not in (low, high, predicted) else None,
                "covered": low <= actual <= high if known and None not in (low, high) else None,
            }
        )
    return rows


def budget(facts) -> dict | None:
    """Half-widths as shares of the prediction, a row per pair and model, and what each part's words are."""
    table = analysed(facts, "budget")
    if table.empty:
        return None
    parts = [name for name in PARTS if name in set(table["part"])]
    rows = []
    for (workload, platform, model), group in table.groupby(["workload", "platform", "model"]):
        by = group.drop_duplicates("part").set_index("part")
        cells = [
            {
                "share": by["relative"].get(name),
                "provenance": _text(by["provenance"].get(name)),
                "message": _text(by["message"].get(name)),
            }
            for name in parts
        ]
        rows.append({"workload": workload, "platform": platform, "model": _label(model), "cells": cells})
    unknown = table[table["relative"].isna() & table["message"].notna()]
    why = unknown.groupby(["part", "message"]).size().reset_index(name="pairs").to_dict("records")
    return {"parts": parts, "rows": rows, "unknown": why}


def _label(model: str) -> str:
    return style.MODELS[model][0] if model in style.MODELS else model


def _text(value) -> str:
    return "" if value is None or pd.isna(value) else str(value)
