"""Which micro-benchmarks there are, and which of them calibrate: ``marks.csv``.

The table was fixed before any of them was simulated. What judges is never used to set a key. The program is
``clockmarks`` of artifacts/workloads, which must have each of them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

CALIBRATE, JUDGE = "calibrate", "judge"
SCALES = ("default", "smoke")


@dataclass(frozen=True)
class Mark:
    """One micro-benchmark.

    Attributes:
        half: :data:`CALIBRATE` or :data:`JUDGE`.
        key: platform key that it sets, or an empty text (a calibrating mark may only be looked at).
        smoke: whether the small configuration has it.
    """

    name: str
    family: str
    half: str
    key: str
    smoke: bool


def all_marks() -> list[Mark]:
    """Every mark, in the order of the table."""
    with Path(__file__).with_name("marks.csv").open() as stream:
        return [
            Mark(row["mark"], row["family"], row["half"], row["key"], row["smoke"] == "1")
            for row in csv.DictReader(stream)
        ]


def marks_of(scale: str) -> list[Mark]:
    """The marks of a scale: all of them, or the small configuration's."""
    return [mark for mark in all_marks() if scale != "smoke" or mark.smoke]
