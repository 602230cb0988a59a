"""Pairs of workload and platform (the unit of fits, figures and most claims), and their order in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

#: Classes of processors, those of the papers first, each family oldest first. The table of events
#: (``pmu-events.csv``) has exactly these, in this order.
GENERATIONS = (
    "sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "cascadelake", "icelake", "tigerlake",
    "sapphirerapids", "emeraldrapids", "graniterapids", "goldencove", "gracemont", "redwoodcove", "lioncove",
    "crestmont", "zen1", "zen2", "zen3", "zen4", "zen5",
)  # fmt: skip


class Pair(NamedTuple):
    """A workload on a platform."""

    workload: str
    platform: str

    def __str__(self) -> str:
        return f"{self.workload} on {self.platform}"

    @property
    def generation(self) -> str:
        """``broadwell`` for ``broadwell-sim`` or ``broadwell-lab``; ``unknown`` for other names."""
        first = self.platform.split("-")[0]
        return first if first in GENERATIONS else "unknown"

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of this pair in a table with ``workload`` and ``platform``."""
        return table[(table["workload"] == self.workload) & (table["platform"] == self.platform)]


def pairs_of(table: pd.DataFrame) -> list[Pair]:
    """The distinct pairs of a table, sorted."""
    return sorted({Pair(*names) for names in zip(table["workload"], table["platform"], strict=True)})


def platform_order(names: Iterable[str]) -> list[str]:
    """Distinct platforms: by generation, then by name; those of the host last."""

    def rank(name: str) -> tuple:
        generation = name.split("-")[0]
        known = GENERATIONS.index(generation) if generation in GENERATIONS else len(GENERATIONS)
        return generation == "host", known, name

    return sorted(set(names), key=rank)


def workload_order(names: Iterable[str]) -> list[str]:
    """Distinct workloads by name; numbers in names count by value, so 8gb comes before 16gb."""
    pieces = re.compile(r"(\d+)")
    return sorted(set(names), key=lambda name: [int(x) if x.isdigit() else x for x in pieces.split(name)])
