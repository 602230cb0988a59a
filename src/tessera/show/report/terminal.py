"""The claims as a table for a terminal: claim | published | obtained | tolerance | verdict."""

from __future__ import annotations

import pandas as pd

from tessera.core.tables import print_table, table_text
from tessera.show.report.claims import shown

HEADS = ("claim", "published", "obtained", "tolerance", "verdict")


def table(claims: pd.DataFrame, width: int | None = None) -> str:
    """The table as plain lines of at most ``width`` characters; None: of any width."""
    return table_text(HEADS, map(_row, claims.to_dict("records")), whole=(4,), width=width)


def show(claims: pd.DataFrame) -> None:
    """Print the table; long cells are folded on a terminal, verdicts only where nothing else is left."""
    print_table(HEADS, map(_row, claims.to_dict("records")), whole=(4,))


def counts(claims: pd.DataFrame) -> str:
    """``3 REPRODUCED, 5 HOLDS-IN-SIMULATION``."""
    found = claims["verdict"].value_counts()
    return ", ".join(f"{number} {name}" for name, number in found.items()) or "no claims"


def _row(claim: dict) -> tuple[str, ...]:
    claim = shown(claim)
    unit = f" {claim['unit']}" if claim["unit"] else ""
    values = [claim[name] + unit if claim[name] else "-" for name in ("published", "obtained")]
    return (claim["id"], *values, claim["tolerance"] or "-", claim["verdict"])
