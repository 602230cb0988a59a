"""Rule: operations whose cycles contradict the table that the paper prints (Mitosis: most of Table 5).

The printed overhead has one decimal, so on/off may be off by half a digit of rounding; one digit more is
allowed for the choice of statistic (the paper doesn't say which). Cycles themselves may differ by a factor
of 2. The paper doesn't say whether its memory is shared or private: both are compared with the same printed
number. Operations on and off fall together: a ratio needs both.
"""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from tessera.core.units import parse_bytes
from tessera.reference.quarantine.finding import Finding
from tessera.reference.records import Record
from tessera.reference.tables import load

OVERHEAD_SLACK = 0.15
CYCLES_FACTOR = 2.0


def not_as_printed(rows: pd.DataFrame, record: Record) -> Iterator[Finding]:
    """Cycles of an operation, or its overhead, that the paper prints otherwise (by over 0.15, or twice)."""
    measured = rows[rows["quantity"] == "avg"]
    if measured.empty:
        return
    printed = load("mitosis_table5").set_index(["operation", "region", "quantity"])["value"]
    table = {(name, parse_bytes(region), what): value for (name, region, what), value in printed.items()}
    for (file, label, region), pair in measured.groupby(["file", "workload", "region_bytes"], sort=False):
        found = dict(zip(pair["configuration"], pair["value"], strict=True))
        key = (str(label).removesuffix(" shared"), int(region))
        if (*key, "overhead") not in table or set(found) != {"on", "off"}:
            continue
        reasons = list(_differences(found, {what: table[*key, what] for what in ("off", "on", "overhead")}))
        for line in pair["line"] if reasons else ():
            yield Finding(str(file), f"{label} of {region} bytes: " + "; ".join(reasons), line=int(line))


def _differences(found: dict[str, float], printed: dict[str, float]) -> Iterator[str]:
    overhead = found["on"] / found["off"]
    if abs(overhead - printed["overhead"]) > OVERHEAD_SLACK:
        yield f"overhead {overhead:.2f}, printed {printed['overhead']:.1f}"
    for what in ("off", "on"):
        ratio = found[what] / printed[what]
        if not 1 / CYCLES_FACTOR <= ratio <= CYCLES_FACTOR:
            yield f"{what} {found[what]:.0f} cycles, printed {printed[what]:.0f}"
