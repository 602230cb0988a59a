"""Rows of a cells file from the numbers of runs: one for each layout, or one for each run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from tessera.core.stats import mean_interval
from tessera.counters.classes import INPUTS, CounterClass
from tessera.results.status import FAILED, OK

PERF, LAUNCHER = "perf", "launcher"  #: engines of measured cells
_WITH_INTERVAL = {"runtime_cycles": "runtime_cycles_ci95", "walk_cycles": "walk_cycles_ci95"}
Numbers = dict[str, Decimal | None]


def note(how: str, found: CounterClass, mode: str) -> str:
    """The message of a row: how the numbers came about, and what the class does not count."""
    absent = [symbol for symbol in INPUTS if not found.sides(symbol)]
    return f"{how}, mode {mode}" + "".join(f"; {found.name} does not count {symbol}" for symbol in absent)


def mean(values: Sequence[Decimal]) -> Decimal:
    """The mean of a count over the runs of a layout, not rounded."""
    return sum(values, Decimal(0)) / len(values)


def row(head: dict, runs: list[Numbers], message: str, *, engine: str, provenance: str = "measured") -> dict:
    """The mean of runs of one layout, with 95% intervals of R and C if there are several."""
    cell = head | {"status": OK, "message": message, "engine": engine}
    for column in runs[0]:
        values = [numbers[column] for numbers in runs]
        if any(value is None for value in values):
            continue
        cell[column] = _whole(mean(values))
        if column in _WITH_INTERVAL and len(values) > 1:
            half_width = mean_interval([float(value) for value in values]).half_width
            cell[_WITH_INTERVAL[column]] = math.ceil(half_width)
    return cell | {"runtime_provenance": provenance, "tlb_provenance": provenance}


def empty_row(head: dict, message: str, *, engine: str, status: str = FAILED) -> dict:
    """A row without numbers."""
    return head | {"status": status, "message": message, "engine": engine}


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))
