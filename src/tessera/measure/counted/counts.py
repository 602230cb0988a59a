"""The counts of one run, as a back end gives them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """``events``: (event, value, enabled_ns, running_ns); ``region_ns``: the clock of the region."""

    events: tuple[tuple[str, int, int, int], ...] = ()
    region_ns: int = 0
