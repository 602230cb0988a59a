"""The cost model: seconds of one core for a job of each rule, linear in what the configuration asks for.

``costs.csv`` has one line for each term: ``fixed_seconds`` once per job, ``seconds_per_unit`` times the job's
number of units. The numbers come from runs of 19 workloads on 2 cores (docs/cluster.md).
A rule without a line takes :data:`UNKNOWN_SECONDS`. ``GB built in the emulator`` is assumed, not measured:
the recorded programs of these runs computed no large data themselves.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

UNKNOWN_SECONDS = 2.0
TABLE = Path(__file__).with_name("costs.csv")


@dataclass(frozen=True)
class Term:
    """``fixed_seconds`` + ``seconds_per_unit`` x units; ``unit`` is empty where nothing scales."""

    unit: str
    fixed_seconds: float
    seconds_per_unit: float


def load(path: Path = TABLE) -> dict[str, list[Term]]:
    """Terms by rule."""
    found: dict[str, list[Term]] = {}
    with path.open(newline="") as stream:
        for row in csv.DictReader(stream):
            term = Term(row["unit"], float(row["fixed_seconds"]), float(row["seconds_per_unit"]))
            found.setdefault(row["rule"], []).append(term)
    return found


def seconds(terms: list[Term], units: Mapping[str, float]) -> float:
    """Seconds of one job with these numbers of units.

    Raises:
        KeyError: a term scales with a unit that ``units`` has no number for.
    """
    total = 0.0
    for term in terms:
        total += term.fixed_seconds
        if term.seconds_per_unit:
            total += term.seconds_per_unit * units[term.unit]
    return total
