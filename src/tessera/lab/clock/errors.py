"""Errors of the simulated core against this machine's clock, the aims, and what explains large errors."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.results.outcomes import OK
from tessera.lab.clock.marks import JUDGE, NATIVE

# What explains a large error of a mark or a program: ``causes.csv``. It is text, and changes no number.
#
# The sentences were written after the first comparison; a cause is a hypothesis about the difference between
# core and processor, not a result.


def causes() -> dict[str, str]:
    """Name of a mark or program -> sentence."""
    with Path(__file__).with_name("causes.csv").open() as stream:
        return {row["name"]: row["cause"] for row in csv.DictReader(stream)}


# Errors of the simulated core against this machine's clock, and whether the aims are reached.
#
# An error is simulated over native cycles, minus one. Only 4KB pages are judged: in a guest, walks of 4KB
# and 2MB pages are nested, and the hypervisor may split the guest's 2MB pages. The aims were fixed before
# the first comparison.

JUDGED_PAGES = "4KB"
MEDIAN_AIM, WORST_AIM, NAMED_AIM, PROGRAMS_AIM = 0.10, 0.35, 0.15, 0.20
NAMED = ("memset-1mb", "memcpy-64kb", "fib-24", "push-pop")


def errors(table: pd.DataFrame, key: str) -> pd.DataFrame:
    """Native and simulated cycles of each (``key``, pages), and ``error``; NaN where one has no number.

    Args:
        table: CLOCK_MARKS or CLOCK_PROGRAMS.
        key: ``mark`` or ``program``; other columns of the native rows are kept.
    """
    native = table[table["source"] == NATIVE]
    simulated = table[table["source"] != NATIVE]
    columns = [key, "pages", "source", "cycles", "status", "message"]
    names = {name: f"simulated_{name}" for name in ("source", "cycles", "status", "message")}
    both = native.merge(simulated[columns].rename(columns=names), on=[key, "pages"], how="left")
    return both.assign(error=both["simulated_cycles"] / both["cycles"] - 1)


@dataclass(frozen=True)
class Aim:
    """One aim: what was wanted, what was found (a share; None: nothing was measured)."""

    text: str
    aim: float
    found: float | None
    detail: str = ""

    @property
    def reached(self) -> bool:
        return self.found is not None and abs(self.found) <= self.aim


def aims(marks: pd.DataFrame, programs: pd.DataFrame, causes: dict[str, str]) -> list[Aim]:
    """Every aim with its figure, from tables of :func:`errors`."""
    judged = _judged(marks[marks["half"] == JUDGE], "mark")
    unexplained = judged[[name not in causes for name in judged.index]]
    found = [
        Aim("median error of the judging micro-benchmarks", MEDIAN_AIM, _median(judged)),
        Aim(
            "largest error of a judging micro-benchmark without a named cause",
            WORST_AIM,
            _worst(unexplained),
            "" if unexplained.empty else str(unexplained.abs().idxmax()),
        ),
    ]
    found += [Aim(f"error of {name}", NAMED_AIM, _one(judged, name)) for name in NAMED]
    return [*found, Aim("median error of the programs", PROGRAMS_AIM, _median(_judged(programs, "program")))]


def calibrating_median(marks: pd.DataFrame) -> float | None:
    """Median error of the half that calibrates, for comparison; it is no judgement."""
    return _median(_judged(marks[marks["half"] != JUDGE], "mark"))


def _judged(table: pd.DataFrame, key: str) -> pd.Series:
    """Errors by name, of the pages that are judged, where both numbers exist."""
    good = (table["pages"] == JUDGED_PAGES) & (table["status"] == OK) & table["error"].notna()
    return table[good].set_index(key)["error"]


def _median(values: pd.Series) -> float | None:
    return float(values.abs().median()) if len(values) else None


def _worst(values: pd.Series) -> float | None:
    return float(values.abs().max()) if len(values) else None


def _one(values: pd.Series, name: str) -> float | None:
    return float(values[name]) if name in values.index else None
