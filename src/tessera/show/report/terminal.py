"""The claims as a table for a terminal: claim | published | obtained | tolerance | verdict."""

from __future__ import annotations

import sys

import pandas as pd

from tessera.core.tables import print_table, table_text
from tessera.show.report.claims import shown
from tessera.show.verdicts import SCORES, Score, of_kind

LONGEST_VALUE = 36  #: characters of a value in a log; claims.csv has all of it
HEADS = ("claim", "published", "obtained", "tolerance", "verdict")


def table(claims: pd.DataFrame, width: int | None = None) -> str:
    """The table as plain lines of at most ``width`` characters; None: of any width."""
    return table_text(HEADS, map(_row, claims.to_dict("records")), whole=(4,), width=width)


def show(claims: pd.DataFrame) -> None:
    """Print the table. A terminal folds long cells, except verdicts; a log has a line per claim."""
    rows = map(_row, claims.to_dict("records"))
    if not sys.stdout.isatty():
        rows = [(name, *map(_short, values), verdict) for name, *values, verdict in rows]
    print_table(HEADS, rows, whole=(4,))


def counts(claims: pd.DataFrame) -> str:
    """A line for each score, each with its own words and counts; no count is over two scores.

    ``findings: 3 REPRODUCED, 5 HOLDS-IN-SIMULATION``.
    """
    return "\n".join(_score(score, claims) for score in SCORES.values())


def _score(score: Score, claims: pd.DataFrame) -> str:
    mine = claims.loc[claims["kind"] == score.kind, "verdict"].tolist()
    known = [(mine.count(one.name), one.name) for one in of_kind(score.kind)]
    words = ", ".join(f"{number} {name}" for number, name in known if number)
    return f"{score.name}: {words or 'none'}"


def _row(claim: dict) -> tuple[str, ...]:
    claim = shown(claim)
    unit = f" {claim['unit']}" if claim["unit"] else ""
    values = [claim[name] + unit if claim[name] else "-" for name in ("published", "obtained")]
    return (claim["id"], *values, claim["tolerance"] or "-", claim["verdict"])


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 3] + "..."
