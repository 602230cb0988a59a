"""Claims of a results tree: evaluated, and written to ``claims.csv``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.results.read import empty
from tessera.results.read import read as read_table
from tessera.results.schema.shown import CLAIMS, ELSEWHERE
from tessera.results.tree import Tree
from tessera.results.write import write as write_table
from tessera.show.figures import registry


def claims_path() -> Path:
    """``config/claims.yaml`` of this checkout."""
    return repo_root() / "config" / "claims.yaml"


@dataclass(frozen=True)
class Evaluated:
    """The claims table and the reason if it is empty; what machines gave, by :class:`Judged`'s names."""

    claims: pd.DataFrame
    reason: str = ""
    elsewhere: pd.DataFrame = field(default_factory=lambda: empty(ELSEWHERE))
    measured: Mapping[str, list] = field(default_factory=dict)


def evaluate(results: Path, claims: Path, reference: Path) -> Evaluated:
    """Judge the claims; write ``claims.csv``, and ``claims_elsewhere.csv`` if a machine gave a row of it."""
    from tessera.judge.machines import of_results  # imported here, because it is slow

    tree = Tree(results)
    try:
        judged = of_results(results, claims, reference)
        for name in set(judged.claims["figure"]) - {""}:
            registry.get(name)
    except TesseraError as error:
        return Evaluated(empty(CLAIMS), str(error))
    table = write_table(CLAIMS, tidy(judged.claims), tree.claims)
    if len(judged.elsewhere):
        write_table(ELSEWHERE, judged.elsewhere, tree.claims_elsewhere)
    else:
        tree.claims_elsewhere.unlink(missing_ok=True)
    reason = "" if len(table) else f"{claims.name} has no claims"
    return Evaluated(table, reason, judged.elsewhere, judged.measured)


def read_claims(results: Path) -> pd.DataFrame:
    """``claims.csv`` of the last report."""
    return read_table(CLAIMS, Tree(results))


def tidy(table: pd.DataFrame) -> pd.DataFrame:
    """Claims as they are written: text without NaN, numbers with four digits; ``required`` a truth value."""
    text = table.drop(columns="required").map(write)
    return text.assign(required=table["required"].astype(bool))[list(CLAIMS.names)]


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
