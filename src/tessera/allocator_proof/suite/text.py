"""Rows of cells as aligned lines."""

from __future__ import annotations

from collections.abc import Sequence


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lines with each column as wide as its widest cell; the last column is free."""
    if not rows:
        return ""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]) - 1)] + [0]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def tail(text: str, lines: int = 8) -> str:
    """The last lines that hold anything, joined: for reasons, which are one line."""
    return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
