"""The tables of a fit: their columns, and how they are written.

Numbers are written with as many digits as bring the same double back. `message` is empty unless the
numbers of its row are. The first columns are those of docs/contracts.md ("Samples").
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

ACCURACY = ("max_error", "geomean_error", "zero_errors", "dropped_zero_errors")
TABLES: dict[str, tuple[str, ...]] = {
    "coefficients": ("model", "term", "coefficient"),
    "predictions": ("layout", "model", "predicted_runtime_cycles"),
    "errors": ("model", "protocol", "samples", *ACCURACY, "message"),
    "cv": (
        "model", "folds", "seed", "max_error", "geomean_error",
        "samples", "zero_errors", "dropped_zero_errors", "message",
    ),
    "rsquared": ("input", "r_squared"),
}  # fmt: skip
#: written by `tessera models protocols`, `models adaptive` and `predict` into the same folder, on request
JUDGED = ("protocols", "learning_curve", "adaptive_curve", "adaptive", "one_gb", "budget")
COUNTS = {"samples", "zero_errors", "dropped_zero_errors", "folds", "seed"}


def frame(table: str, rows: list[dict]) -> pd.DataFrame:
    """Rows as a data frame with the table's columns; counts stay integers beside empty cells."""
    result = pd.DataFrame(rows, columns=list(TABLES[table]))
    for column in COUNTS & set(result.columns):
        result[column] = result[column].astype("Int64")
    if "message" in result:
        result["message"] = [text if isinstance(text, str) else "" for text in result["message"]]
    return result


def write_table(table: pd.DataFrame, path: Path) -> None:
    """CSV; pandas writes the shortest text that reads back as the same double."""
    table.to_csv(path, index=False, lineterminator="\n")
