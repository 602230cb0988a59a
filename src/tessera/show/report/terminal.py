"""The claims as a table for a terminal: claim | published | obtained | tolerance | verdict."""

from __future__ import annotations

import sys

import pandas as pd

from tessera.core.tables import print_table, table_text
from tessera.show.report.claims import shown
from tessera.show.verdicts import with_kind

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


def _row(claim: dict) -> tuple[str, ...]:
    claim = shown(claim)
    unit = f" {claim['unit']}" if claim["unit"] else ""
    values = [claim[name] + unit if claim[name] else "-" for name in ("published", "obtained")]
    return (claim["id"], *values, claim["tolerance"] or "-", _verdict(claim))


def _verdict(claim: dict) -> str:
    """The verdict, with the kind of doubt and the assumption that it depends on."""
    depends = claim.get("depends_on", "")
    verdict = with_kind(claim)
    return f"{verdict}, depends on {depends}" if depends else verdict


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else value[: LONGEST_VALUE - 3] + "..."
