"""Real programs in sizes of their own: ``programs.csv``. They judge and never calibrate.

Each prints the time of its region of interest and verifies its answer. A region is recorded whole (below
100 M instructions, below 2 GB), so nothing is sampled or scaled. A recording has no preparation, which fills
caches and TLBs natively; so it is replayed once before it counts (clock/simulated.py).
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.paths import built
from tessera.core.units import GB, MB
from tessera.judge.clock.native import (
    Found,
    Progress,
    Skipped,
    cycles_of,
    frequency_ghz,
    layout_of,
    roi_ns,
    run_under,
)
from tessera.machine.reserve import HugePagesUnavailable

ANON_BYTES = {"4KB": 2 * GB, "2MB": 640 * MB}  #: of 2MB pages, as many as the largest program needs


@dataclass(frozen=True)
class Program:
    """A program and its arguments; ``smoke``: whether the small configuration has it."""

    name: str
    command: tuple[str, ...]
    smoke: bool

    def argv(self) -> list[str]:
        """The command line, with the built program's path."""
        return [str(built("workloads", self.command[0])), *self.command[1:]]


def programs_of(scale: str) -> list[Program]:
    """The programs of a scale, in the order of the table."""
    with Path(__file__).with_name("programs.csv").open() as stream:
        rows = [
            Program(row["program"], tuple(row["arguments"].split()), row["smoke"] == "1")
            for row in csv.DictReader(stream)
        ]
    return [program for program in rows if scale != "smoke" or program.smoke]


def measure_programs(
    programs: Sequence[Program], pages: str, rounds: int, progress: Progress
) -> dict[str, Found]:
    """Cycles of each program's region, or why there are none. Rounds take turns, each with its frequency."""
    values: dict[str, list[float]] = {program.name: [] for program in programs}
    failed: dict[str, str] = {}
    for number in range(rounds):
        progress(f"clock: programs with {pages} pages, round {number + 1} of {rounds}")
        gigahertz = frequency_ghz()
        for program in programs:
            if program.name in failed:
                continue
            try:
                said = run_under(layout_of(pages, ANON_BYTES[pages]), program.argv())
                values[program.name].append(roi_ns(said) * gigahertz)
            except HugePagesUnavailable as error:
                why = Skipped(f"{error.asked}: {error.found}; {error.remedy}")
                return {one.name: why for one in programs}
            except TesseraError as error:
                failed[program.name] = f"{error.asked}: {error.found}"
    return failed | {name: cycles_of(found) for name, found in values.items() if found and name not in failed}
