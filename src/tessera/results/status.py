"""Status of a row, a recording or a part of a run. Numbers count only if it is `ok`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

OK, FAILED, SKIPPED = STATUSES = ("ok", "failed", "skipped")


def is_ok(record: Mapping | str) -> bool:
    """Whether the status of a row (or of info.json, or attempt.json) is ok. Also takes a status itself."""
    return (record if isinstance(record, str) else record["status"]) == OK


def ok_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Rows whose ``status`` is ok; all rows if the table has no such column (samples of a user)."""
    return table[table["status"].astype(str) == OK] if "status" in table.columns else table


def other_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that :func:`ok_rows` leaves out."""
    return table[table["status"].astype(str) != OK] if "status" in table.columns else table.iloc[:0]
