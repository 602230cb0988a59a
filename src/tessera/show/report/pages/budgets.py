"""The 1GB layout predicted from the others, with its interval; and the error budget of that prediction."""

from __future__ import annotations

from tessera.layouts.names import ALL_1GB
from tessera.results.schema.models import OF_RUN
from tessera.show.figures import finding_one_gb, looks

PARTS = ("model", "simulator", "sampling", "noise", "total")


def one_gb(facts) -> list[dict]:
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
                "label": _label(row["model"]),
                "actual": actual,
                "error": predicted / actual - 1 if known else None,
                "half": (high - low) / 2 / predicted if None not in (low, high, predicted) else None,
                "covered": low <= actual <= high if known and None not in (low, high) else None,
            }
        )
    return rows


def one_gb_worse(facts) -> tuple[int, int] | None:
    """(pairs where Mosmodel's error at 1GB exceeds Yaniv's, pairs with both); None if there are none."""
    worse, pairs = finding_one_gb.worse(facts.results.models("errors"))
    return (worse, pairs) if pairs else None


def budget(facts) -> dict | None:
    """Half-widths as shares of the prediction, a row per pair and model, and the reasons of unknown parts."""
    table = facts.results.analysed(facts.results.read(OF_RUN["budget"]))
    if table.empty:
        return None
    parts = [name for name in PARTS if name in set(table["part"])]
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
        rows.append({"workload": workload, "platform": platform, "model": _label(model), "cells": cells})
    unknown = table[table["relative"].isna() & (table["message"] != "")]
    why = unknown.groupby(["part", "message"]).size().reset_index(name="pairs").to_dict("records")
    return {"parts": parts, "rows": rows, "unknown": why}


def _label(model: str) -> str:
    return looks.look(model).label
