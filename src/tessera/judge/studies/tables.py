"""What the studies wrote into a results tree, as tables; whatever is missing is an empty table.

``studies/sampling/<workload>/{errors,intervals}.csv``,
``studies/ablations/<workload>/<platform>/{shapes,cells}.csv``,
``studies/sweep/<workload>/<platform>/sweep.csv``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.judge.studies import ablations, sampling, sweep

FOLDER = "studies"
#: name -> (files below a results folder, columns)
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "sampling": (f"{FOLDER}/sampling/*/errors.csv", sampling.ERRORS),
    "intervals": (f"{FOLDER}/sampling/*/intervals.csv", sampling.INTERVALS),
    "shapes": (f"{FOLDER}/ablations/*/*/shapes.csv", ablations.SHAPES),
    "variants": (f"{FOLDER}/ablations/*/*/cells.csv", ablations.CELLS),
    "sweep": (f"{FOLDER}/sweep/*/*/sweep.csv", sweep.COLUMNS),
}
_TEXT = ("workload", "platform", "status", "message", "alternative", "values", "methods", "provenance", "key")


def read(results: Path, name: str) -> pd.DataFrame:
    """One of :data:`FILES`, all its files in one table; text columns hold no NaN."""
    pattern, columns = FILES[name]
    parts = [pd.read_csv(path) for path in sorted(Path(results).glob(pattern))]
    parts = [part for part in parts if len(part)]
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(columns))
    for column in set(_TEXT) & set(table.columns):
        table[column] = table[column].astype(object).where(table[column].notna(), "").astype(str)
    return table.reindex(columns=list(columns))


def good(results: Path, name: str) -> pd.DataFrame:
    """Rows of :func:`read` whose ``status`` is ``ok``."""
    table = read(results, name)
    return table[table["status"] == "ok"].reset_index(drop=True)


def truth(values: pd.Series) -> pd.Series:
    """Truth values of a column read from CSV: True, False, or None where it is empty."""
    words = {"True": True, "False": False, "1": True, "0": False, "1.0": True, "0.0": False}
    return values.map(lambda value: words.get(str(value)))
