"""``--minutes N``: which rows and layouts fit, and how long everything takes.

Every row that is chosen has 4KB and 2MB pages: models need both. Further layouts are added in tiers, to the
rows in turn, the fastest row first, as long as the least number of rounds fits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from tessera.core.errors import TesseraError
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB

#: Share of the minutes that is planned: a trial run tells the time of a run only roughly.
MARGIN = 0.8
ANCHORS = (ALL_4KB, ALL_2MB)
TIERS = (
    ANCHORS,
    ("growing-4",),
    ("growing-1", "growing-2", "growing-3", "growing-5", "growing-6", "growing-7"),
    (ALL_1GB,),
    tuple(f"random-{n}" for n in range(9)),
    tuple(f"sliding-{percent}-{n}" for percent in (20, 40, 60, 80) for n in range(9)),
)


def seconds_of(runs: Mapping[str, tuple[float, int]], passes: int, rounds: int) -> float:
    """Time of all runs: workload -> (seconds a run, layouts)."""
    return sum(seconds * count for seconds, count in runs.values()) * passes * rounds


def fitting(
    seconds: Mapping[str, float],
    layouts: Mapping[str, Sequence[str]],
    passes: int,
    rounds: int,
    minutes: float,
    spent: float = 0.0,
) -> dict[str, list[str]]:
    """workload -> layouts that fit, in the order of ``layouts``; workloads for which nothing fits are absent.

    Args:
        seconds: workload -> seconds of one run.
        minutes: what is left for rounds; ``spent``: minutes that trials took, for the remedy.

    Raises:
        TesseraError: not even one row with two layouts fits.
    """
    left = minutes * 60
    chosen: dict[str, set[str]] = {}
    for tier in TIERS:
        for workload in sorted(seconds, key=lambda name: (seconds[name], name)):
            new = [name for name in layouts[workload] if name in tier]
            cost = seconds[workload] * len(new) * passes * rounds
            if (tier == ANCHORS or workload in chosen) and new and cost <= left:
                chosen.setdefault(workload, set()).update(new)
                left -= cost
    if not chosen:
        least = min(seconds[w] * len(ANCHORS) * passes * rounds for w in seconds) / 60
        raise TesseraError(
            f"--minutes: {max(0.0, minutes):.1f} are left for rounds",
            f"{rounds} rounds of 4KB and 2MB pages take about {least:.1f} minutes with the fastest workload",
            f"give --minutes {math.ceil((least + spent) / MARGIN) + 1} or more, or a smaller --size",
            code="too-few-minutes",
        )
    return {name: [one for one in layouts[name] if one in chosen[name]] for name in seconds if name in chosen}


def hours(seconds: float) -> str:
    """``2 h 05 min``, ``12 min`` or ``40 s``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
