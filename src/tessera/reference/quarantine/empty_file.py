"""Rule: a listed file without a single number (Mitosis: table6)."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.reference.quarantine.finding import Finding
from tessera.reference.records import Record


def empty_file(rows: pd.DataFrame, record: Record) -> Iterator[Finding]:
    """A file of the record that holds no number."""
    filled = set(rows["file"])
    for table in record.tables:
        if table.file not in filled:
            yield Finding(table.file, f"{table.location}: the archived file holds no number")
