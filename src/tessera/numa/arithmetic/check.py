"""One check of archived or printed numbers against algebra: a value, its bounds and a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

CONSISTENT, CONTRADICTED = "CONSISTENT", "CONTRADICTED"
COLUMNS = (
    "check",
    "workload",
    "page_size",
    "value",
    "lower",
    "upper",
    "unit",
    "verdict",
    "note",
    "provenance",
)


@dataclass(frozen=True)
class Check:
    """``value`` must lie in [``lower``, ``upper``]; without ``judged`` it is only listed.

    A value that cannot be computed (NaN: a number is missing or in quarantine) has no verdict either.
    """

    check: str
    workload: str
    page_size: str
    value: float
    lower: float
    upper: float
    unit: str
    note: str = ""
    judged: bool = True

    @property
    def verdict(self) -> str:
        """CONSISTENT, CONTRADICTED, or empty."""
        if math.isnan(self.value) or not self.judged:
            return ""
        return CONSISTENT if self.lower <= self.value <= self.upper else CONTRADICTED

    def row(self) -> list:
        """Values of :data:`COLUMNS`."""
        note = self.note
        if math.isnan(self.value):
            note = "a number that it needs is missing or was set aside"
        return [
            self.check, self.workload, self.page_size, self.value, self.lower, self.upper, self.unit,
            self.verdict, note, "published",
        ]  # fmt: skip
