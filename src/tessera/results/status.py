"""How a row, a recording or a part of a run went. Numbers count where it is `ok`, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

OK, FAILED, SKIPPED = STATUSES = ("ok", "failed", "skipped")


def is_ok(record: Mapping | str) -> bool:
    """Whether a row (or info.json, or attempt.json) or a status says that it went well."""
    return (record if isinstance(record, str) else record["status"]) == OK


def ok_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Rows whose ``status`` is ok; all rows of a table that has no such column (samples of a user)."""
    return table[table["status"].astype(str) == OK] if "status" in table.columns else table


def other_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that :func:`ok_rows` leaves out."""
    return table[table["status"].astype(str) != OK] if "status" in table.columns else table.iloc[:0]
