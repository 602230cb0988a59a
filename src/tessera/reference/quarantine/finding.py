"""The finding of a rule: a place in the archive, and why the numbers there cannot be used."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from tessera.reference.records import Record


@dataclass(frozen=True)
class Finding:
    """Numbers of ``file``: of one ``line`` (0: all lines), of one ``quantity`` (empty: all of them)."""

    file: str
    reason: str
    line: int = 0
    quantity: str = ""

    def select(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows that it is about."""
        hit = rows["file"] == self.file
        if self.line:
            hit &= rows["line"] == self.line
        if self.quantity:
            hit &= rows["quantity"] == self.quantity
        return rows[hit]

    def blank(self, record: Record, columns: list[str]) -> dict:
        """A row without a value, for a file that has none."""
        table = next(table for table in record.tables if table.file == self.file)
        known = {
            "paper": record.paper,
            "location": table.location,
            "section": table.section,
            "file": self.file,
            "line": 0,
            "value": float("nan"),
            "provenance": "published",
        }
        return dict.fromkeys(columns, "") | known
