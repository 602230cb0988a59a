"""Claims of a results tree: evaluated, checked against the rule of verdicts, written to ``claims.csv``."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root

COLUMNS = (
    "id",
    "paper",
    "section",
    "statement",
    "kind",
    "published",
    "obtained",
    "unit",
    "tolerance",
    "verdict",
    "reason",
    "protocol",
    "scope",
    "provenance",
    "hardware_class",
    "required",
    "figure",
    "explanation",
)


def claims_path() -> Path:
    """``config/claims.yaml`` of this checkout."""
    return repo_root() / "config" / "claims.yaml"


def evaluate(results: Path, claims: Path, reference: Path) -> tuple[pd.DataFrame, str]:
    """The claims table, written to ``<results>/claims.csv``, and why it is empty if it is."""
    from tessera.judge.claims import evaluate as judge  # heavy; and a report without claims is still a report

    try:
        table = judge(results, claims, reference)
    except TesseraError as error:
        return pd.DataFrame(columns=list(COLUMNS)), str(error)
    table = tidy(table)
    table.to_csv(results / "claims.csv", index=False)
    return table, "" if len(table) else f"{claims.name} holds no claims"


def read(results: Path) -> pd.DataFrame:
    """``claims.csv`` as it was written by the last report."""
    path = results / "claims.csv"
    if not path.exists():
        raise TesseraError(
            f"claims of {results}", "no claims.csv", f"run: ./run tessera report render --results {results}"
        )
    return tidy(pd.read_csv(path, dtype=str, keep_default_na=False))


def tidy(table: pd.DataFrame) -> pd.DataFrame:
    """The contract's columns, as text without NaN; ``required`` as a truth value."""
    table = table.reindex(columns=list(COLUMNS))
    required = table["required"].map(lambda value: str(value).strip().lower() in ("true", "1", "yes"))
    text = table.drop(columns="required").map(write)
    return text.assign(required=required)[list(COLUMNS)]


#: units of claims.csv -> as people read them
UNITS = {"percent": "%", "1": "", "1e9": "billion"}
_LONG = re.compile(r"-?\d+\.\d{3,}(?:e[+-]?\d+)?")


def shown(claim: dict) -> dict:
    """A claim for reading: four significant digits, ``%`` for percent. claims.csv keeps every digit."""
    values = {name: _LONG.sub(_round, claim[name]) for name in ("published", "obtained")}
    return {**claim, **values, "unit": UNITS.get(claim["unit"], claim["unit"])}


def _round(number: re.Match) -> str:
    return f"{float(number.group()):.4g}"


def write(value: object) -> str:
    """One value as people read it: no NaN, at most four significant digits."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.4e}"
    return str(value)
