"""Pick numbers out of a published table by the values of its keys.

``select`` returns rows, ``lookup`` exactly one number. A condition is a text, or a list of texts
of which one must match.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.reference.tables import load


def select(
    table: str, where: Mapping[str, object] | None = None, reference_dir: Path | str | None = None
) -> pd.DataFrame:
    """Rows of ``table`` that satisfy every condition of ``where``; at least one.

    Raises:
        TesseraError: an unknown key, or conditions that no row satisfies.
    """
    frame = load(table, reference_dir)
    rows = frame
    for key, wanted in (where or {}).items():
        if key not in frame.columns:
            raise TesseraError(
                f"key '{key}' of reference table '{table}'",
                "the table has no such column",
                f"use one of: {', '.join(frame.columns)}",
                code="no-column",
            )
        options = [str(item) for item in wanted] if isinstance(wanted, list) else [str(wanted)]
        rows = rows[rows[key].isin(options)]
    if rows.empty:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            "no row matches these conditions",
            f"read reference-results/{table}.csv and change the conditions",
            code="no-row",
        )
    return rows


def lookup(
    table: str, where: Mapping[str, object] | None = None, reference_dir: Path | str | None = None
) -> float:
    """The one number that ``where`` selects.

    Raises:
        TesseraError: no row, several rows, or a row without a number.
    """
    rows = select(table, where, reference_dir)
    if len(rows) != 1:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            f"{len(rows)} rows match, but exactly one must",
            "add conditions",
            code="several-rows",
        )
    value = float(rows["value"].iloc[0])
    if value != value:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            "the column 'value' of this row is empty",
            "choose a row with a value",
            code="no-number",
        )
    return value
