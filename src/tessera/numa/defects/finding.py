"""A suspicious place in the archive: what it is about, its value, and the limit that it breaks."""

from __future__ import annotations

from dataclasses import dataclass

COLUMNS = ("rule", "location", "workload", "configuration", "value", "limit", "unit", "reason")


@dataclass(frozen=True)
class Finding:
    """``value`` is beyond ``limit``, both in ``unit``."""

    location: str
    workload: str
    configuration: str
    value: float
    limit: float
    unit: str
    reason: str
