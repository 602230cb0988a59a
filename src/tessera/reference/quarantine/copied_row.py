"""Rule: two configurations of a workload with the same cycles to the last digit (Mitosis: BTree's TRPI-LD).

Two runs never agree in three counters. The rule treats the later row as the copy: in the known case, that
row has exactly the same cycles for 2MB pages as for 4KB pages.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.reference.quarantine.finding import Finding
from tessera.reference.records import Record

_COUNTERS = {"runtime", "walk", "non_walk"}


def copied_row(rows: pd.DataFrame, record: Record) -> Iterator[Finding]:
    """A configuration with the very runtime, walk and non-walk cycles of an earlier one of its workload."""
    counted = rows[rows["quantity"].isin(_COUNTERS)]
    seen: dict[tuple, str] = {}
    for (file, line), row in counted.groupby(["file", "line"], sort=False):
        first = row.iloc[0]
        key = (file, first["workload"], *row.sort_values("quantity")["value"])
        if key in seen:
            reason = f"{first['workload']} {first['configuration']} repeats {seen[key]} to the last digit"
            yield Finding(str(file), reason, line=int(line))
        else:
            seen[key] = first["configuration"]
