"""Rule: two figures whose files hold the same numbers in the same places (Mitosis: 9a and 9b, 10a and 10b).

The first is kept: it has both page sizes, so no number is lost, and each number counts once. It is unknown
which of the two should have other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.reference.quarantine.finding import Finding
from tessera.reference.records import Record

_CONTENT = ["workload", "configuration", "region_bytes", "quantity", "value"]


def same_file_twice(rows: pd.DataFrame, record: Record) -> Iterator[Finding]:
    """A file that repeats another one number by number."""
    seen: dict[tuple, str] = {}
    for table in record.tables:
        content = tuple(rows.loc[rows["file"] == table.file, _CONTENT].itertuples(index=False, name=None))
        if not content:
            continue
        if content in seen:
            reason = f"the same {len(content)} numbers as {seen[content]}: counted once, there"
            yield Finding(table.file, reason)
        else:
            seen[content] = table.file
