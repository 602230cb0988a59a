"""Rule: runtime isn't walk plus non-walk cycles (Mitosis: Figure 11, GUPS TRPI-LD+M).

If non-walk cycles are the difference without its last digit, only that number goes into quarantine, because
the other two agree with each other. Otherwise it is unknown which of the three is wrong, and all three go.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.reference.quarantine.finding import Finding
from tessera.reference.records import Record

#: Averages of three runs are printed with up to three decimals.
_ROUNDING_CYCLES = 1.0


def broken_sum(rows: pd.DataFrame, record: Record) -> Iterator[Finding]:
    """Runtime cycles that differ from walk plus non-walk cycles by more than rounding."""
    counted = rows[rows["quantity"].isin({"runtime", "walk", "non_walk"})]
    for (file, line), row in counted.groupby(["file", "line"], sort=False):
        values = dict(zip(row["quantity"], row["value"], strict=True))
        wanted = values["runtime"] - values["walk"]
        if abs(wanted - values["non_walk"]) <= _ROUNDING_CYCLES:
            continue
        first = row.iloc[0]
        what = f"{first['workload']} {first['configuration']}: runtime minus walk cycles is {wanted:.0f}"
        if wanted > 0 and f"{wanted:.0f}"[:-1] == f"{values['non_walk']:.0f}":
            reason = f"{what}, non-walk cycles lost its last digit"
            yield Finding(str(file), reason, line=int(line), quantity="non_walk")
        else:
            yield Finding(str(file), f"{what}, non-walk cycles are {values['non_walk']:.0f}", line=int(line))
