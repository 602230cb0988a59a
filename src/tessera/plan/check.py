"""The cost model beside a finished run: seconds by rule from ``provenance/timeline.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.plan.estimate import Machines, of
from tessera.results.status import OK

#: Largest difference between the sum of the model and of the run, as a share of the run.
TOLERANCE = 0.3


@dataclass(frozen=True)
class Compared:
    """A rule's jobs in a run, and seconds of the run and of the model for that number of jobs."""

    rule: str
    jobs: int
    measured: float
    estimated: float


def timeline(path: Path) -> dict[str, tuple[int, float]]:
    """Number of jobs that ended well, and their seconds, by rule.

    Raises:
        TesseraError: there is no such table, or no job ended well.
    """
    found: dict[str, tuple[int, float]] = {}
    try:
        with path.open(newline="") as stream:
            for row in csv.DictReader(stream):
                if row["outcome"] == OK:
                    number, seconds = found.get(row["job"], (0, 0.0))
                    found[row["job"]] = number + 1, seconds + float(row["ended_s"]) - float(row["started_s"])
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        raise _no_run(path, str(error)) from None
    if not found:
        raise _no_run(path, "no job ended well")
    return found


def _no_run(path: Path, found: str) -> TesseraError:
    return TesseraError(
        f"the timeline {path}", found, "name the folder of a finished run, e.g. results/default"
    )


def compare(config: Mapping, measured: Mapping[str, tuple[int, float]]) -> list[Compared]:
    """The model for the jobs that a run had; the rules with most time come first."""
    counts = {rule: number for rule, (number, _) in measured.items()}
    lines = {line.rule: line for line in of(config, counts, Machines(1, 1, 1)).lines}
    found = [Compared(rule, n, seconds, lines[rule].seconds) for rule, (n, seconds) in measured.items()]
    return sorted(found, key=lambda one: -one.measured)


def difference(found: Iterable[Compared]) -> float:
    """(model - run) / run, over all jobs."""
    found = list(found)
    return sum(one.estimated for one in found) / sum(one.measured for one in found) - 1
