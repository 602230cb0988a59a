"""The claims as a table, cut to the terminal: claim | published | obtained | tolerance | verdict."""

from __future__ import annotations

import shutil

import pandas as pd

from tessera.show.report.claims import shown

COLUMNS = ("id", "published", "obtained", "tolerance", "verdict")
HEADS = ("claim", "published", "obtained", "tolerance", "verdict")
_LEAST = (16, 11, 11, 9)  #: claim, published, obtained, tolerance: cut to here before anything else
_GAP = 2


def table(claims: pd.DataFrame, width: int | None = None) -> str:
    """Lines of at most ``width`` characters (default: the terminal's)."""
    width = width or shutil.get_terminal_size((100, 24)).columns
    rows = [HEADS, *(_row(claim) for claim in claims.to_dict("records"))]
    widths = _fit([max(len(row[i]) for row in rows) for i in range(len(HEADS))], width)
    lines = [_line(row, widths) for row in rows]
    lines.insert(1, "-" * min(width, sum(widths) + _GAP * (len(widths) - 1)))
    return "\n".join(lines)


def counts(claims: pd.DataFrame) -> str:
    """``3 REPRODUCED, 5 HOLDS-IN-SIMULATION``."""
    found = claims["verdict"].value_counts()
    return ", ".join(f"{number} {name}" for name, number in found.items()) or "no claims"


def _row(claim: dict) -> tuple[str, ...]:
    claim = shown(claim)
    unit = f" {claim['unit']}" if claim["unit"] else ""
    values = [claim[name] + unit if claim[name] else "-" for name in ("published", "obtained")]
    return (claim["id"], *values, claim["tolerance"] or "-", claim["verdict"])


def _fit(widths: list[int], total: int) -> list[int]:
    """Shrink values before names, and the verdict only when nothing else is left."""
    widths = list(widths)
    while sum(widths) + _GAP * (len(widths) - 1) > total:
        candidates = (
            [i for i in (1, 2, 3) if widths[i] > _LEAST[i]]
            or [i for i in (0,) if widths[i] > _LEAST[i]]
            or list(range(len(widths)))
        )
        widest = max(candidates, key=lambda i: widths[i])
        if widths[widest] <= 1:
            break
        widths[widest] -= 1
    return widths


def _line(row: tuple[str, ...], widths: list[int]) -> str:
    cells = [
        text if len(text) <= w else text[: w - 1] + "\u2026" for text, w in zip(row, widths, strict=True)
    ]
    return (" " * _GAP).join(text.ljust(w) for text, w in zip(cells, widths, strict=True)).rstrip()
