"""Claims of a results tree as a table: evaluated, written to ``claims.csv``, shown in a terminal."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.report_tables import CLAIMS, ELSEWHERE
from tessera.core.results.table_io import empty_table, read_tree_table, write_table
from tessera.core.results.tree import ResultsTree
from tessera.core.tables import print_table, table_text
from tessera.report.figures import registry
from tessera.report.verdicts import with_kind


@dataclass(frozen=True)
class Evaluated:
    """The claims table and the reason if it is empty.

    ``elsewhere`` and ``measured`` are what machines gave, as in :class:`tessera.report.machines.Judged`.
    """

    claims: pd.DataFrame
    reason: str = ""
    elsewhere: pd.DataFrame = field(default_factory=lambda: empty_table(ELSEWHERE))
    measured: Mapping[str, list] = field(default_factory=dict)


def evaluate_claims(results: Path, claims: Path, reference: Path) -> Evaluated:
    """Judge the claims; write ``claims.csv``, and ``claims_elsewhere.csv`` if a machine gave a row of it."""
    from tessera.report.machines import judge_results  # imported here, because it is slow

    tree = ResultsTree(results)
    try:
        judged = judge_results(results, claims, reference)
        for name in set(judged.claims["figure"]) - {""}:
            registry.get(name)
    except TesseraError as error:
        return Evaluated(empty_table(CLAIMS), str(error))
    table = write_table(CLAIMS, tidy_claims(judged.claims), tree.claims)
    if len(judged.elsewhere):
        write_table(ELSEWHERE, judged.elsewhere, tree.claims_elsewhere)
    else:
        tree.claims_elsewhere.unlink(missing_ok=True)
    reason = "" if len(table) else f"{claims.name} has no claims"
    return Evaluated(table, reason, judged.elsewhere, judged.measured)


def read_claims(results: Path) -> pd.DataFrame:
    """``claims.csv`` of the last report."""
    return read_tree_table(CLAIMS, ResultsTree(results))


def tidy_claims(table: pd.DataFrame) -> pd.DataFrame:
    """Claims as they are written: text without NaN, numbers with four digits; ``required`` a truth value."""
    text = table.drop(columns="required").map(readable_value)
    return text.assign(required=table["required"].astype(bool))[list(CLAIMS.names)]


#: units of claims.csv -> as people read them
READABLE_UNITS = {"percent": "%", "1": "", "1e9": "billion"}
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}(?:e[+-]?\d+)?")


def claim_for_reading(claim: dict) -> dict:
    """A claim for reading: four significant digits, ``%`` for percent. claims.csv keeps every digit."""
    values = {name: rounded(claim[name]) for name in ("published", "obtained")}
    return {**claim, **values, "unit": READABLE_UNITS.get(claim["unit"], claim["unit"])}


def rounded(text: str) -> str:
    """The text with each number in at most four significant digits."""
    return _LONG_NUMBER.sub(lambda number: f"{float(number.group()):.4g}", text)


def readable_value(value: object) -> str:
    """One value as people read it: no NaN, at most four significant digits."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.4e}"
    return str(value)


# The claims as a table for a terminal: claim | published | obtained | tolerance | verdict.

LONGEST_VALUE = 36  #: characters of a value in a log; claims.csv has all of it
TERMINAL_HEADS = ("claim", "published", "obtained", "tolerance", "verdict")


def claims_text(claims: pd.DataFrame, width: int | None = None) -> str:
    """The table as plain lines of at most ``width`` characters; None: of any width."""
    return table_text(TERMINAL_HEADS, map(_terminal_row, claims.to_dict("records")), whole=(4,), width=width)


def print_claims(claims: pd.DataFrame) -> None:
    """Print the table. A terminal folds long cells, except verdicts; a log has a line per claim."""
    rows = map(_terminal_row, claims.to_dict("records"))
    if not sys.stdout.isatty():
        rows = [(name, *map(_shortened, values), verdict) for name, *values, verdict in rows]
    print_table(TERMINAL_HEADS, rows, whole=(4,))


def _terminal_row(claim: dict) -> tuple[str, ...]:
    claim = claim_for_reading(claim)
    unit = f" {claim['unit']}" if claim["unit"] else ""
    values = [claim[name] + unit if claim[name] else "-" for name in ("published", "obtained")]
    return (claim["id"], *values, claim["tolerance"] or "-", _verdict_text(claim))


def _verdict_text(claim: dict) -> str:
    """The verdict, with the kind of doubt and the assumption that it depends on."""
    depends = claim.get("depends_on", "")
    verdict = with_kind(claim)
    return f"{verdict}, depends on {depends}" if depends else verdict


def _shortened(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 3] + "..."
