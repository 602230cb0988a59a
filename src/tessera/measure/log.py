"""Finished runs, one CSV row each, appended as they complete: a killed experiment keeps them.

Rounds are never continued: the runs of a round belong to one uninterrupted sequence, so that pairs of
them saw the same machine. A later process starts a new round.
"""

from __future__ import annotations

import csv
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.files import write_text
from tessera.results.schema.machine import RUNS


@dataclass(frozen=True)
class LoggedRun:
    """One run of a workload under one layout."""

    key: str  #: :func:`tessera.measure.identity.run_key`
    workload: str
    layout: str
    round: int
    status: str  #: ``ok`` or ``failed``
    message: str  #: why it failed
    runtime_ns: int | None  #: time of the region of interest; None if it failed

    @property
    def runtime(self) -> int | None:
        """What :mod:`tessera.measure.rounds` compares."""
        return self.runtime_ns


COLUMNS = RUNS.names


class RunLog:
    """The runs file of an experiment."""

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> list[LoggedRun]:
        """All whole rows; a last row that was cut by a kill is dropped from the file."""
        if not self.path.exists():
            return []
        text = self.path.read_text()
        if text and not text.endswith("\n"):
            text = text[: text.rfind("\n") + 1]
            write_text(self.path, text)
        rows = list(csv.DictReader(text.splitlines()))
        if rows and tuple(rows[0]) != COLUMNS:
            return []  # written by another version: measured again, overwritten by `append`
        return [_run(row) for row in rows]

    def append(self, run: LoggedRun) -> None:
        """Add one run and have it on disk before returning."""
        if not self.path.exists() or self._header() != COLUMNS:
            write_text(self.path, ",".join(COLUMNS) + "\n")
        with self.path.open("a", newline="") as stream:
            csv.DictWriter(stream, COLUMNS, lineterminator="\n").writerow(asdict(run))
            stream.flush()
            os.fsync(stream.fileno())

    def _header(self) -> tuple[str, ...]:
        with self.path.open() as stream:
            return tuple(stream.readline().rstrip("\n").split(","))


def _run(row: dict[str, str]) -> LoggedRun:
    runtime = int(row["runtime_ns"]) if row["runtime_ns"] else None
    values = row | {"round": int(row["round"]), "runtime_ns": runtime}
    return LoggedRun(**values)
