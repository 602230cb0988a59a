"""Text of a suite's findings."""

from __future__ import annotations


def tail(text: str, lines: int = 8) -> str:
    """The last lines that hold anything, joined: for reasons, which are one line."""
    return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-lines:])
