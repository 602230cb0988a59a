"""Real programs (``programs.csv``), and what was measured of marks and programs, as a table.

Only this part needs the machine to itself.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import built
from tessera.core.results.machine_tables import CLOCK_MEASURED
from tessera.core.results.outcomes import is_ok
from tessera.core.results.table_io import frame_of, read_file
from tessera.core.units import GB, MB
from tessera.lab.clock import marks
from tessera.lab.clock.marks import (
    PAGES,
    Cycles,
    Found,
    Progress,
    Skipped,
    frequency_ghz,
    layout_of,
    marks_of,
    median_cycles,
    roi_ns,
    run_on_last_processor,
)
from tessera.lab.study import Amount, Run, study
from tessera.machine.reserve import HugePagesUnavailable

# Real programs in sizes of their own: ``programs.csv``. They judge and never calibrate.
#
# Each prints the time of its region of interest and verifies its answer. A region is recorded whole (below
# 100 M instructions, below 2 GB), so nothing is sampled or scaled. A recording has no preparation, which
# fills caches and TLBs natively; so it is replayed once before it counts (:mod:`.simulated`).

ANON_BYTES = {"4KB": 2 * GB, "2MB": 640 * MB}  #: of 2MB pages, as many as the largest program needs


@dataclass(frozen=True)
class TimedProgram:
    """A program and its arguments; ``quick``: whether the small amount has it."""

    name: str
    command: tuple[str, ...]
    quick: bool

    def argv(self) -> list[str]:
        """The command line, with the built program's path."""
        return [str(built("workloads", self.command[0])), *self.command[1:]]


def programs_of(amount: Amount) -> list[TimedProgram]:
    """The programs of an amount, in the order of the table."""
    with Path(__file__).with_name("programs.csv").open() as stream:
        rows = [
            TimedProgram(row["program"], tuple(row["arguments"].split()), row["quick"] == "1")
            for row in csv.DictReader(stream)
        ]
    return [program for program in rows if amount == "full" or program.quick]


def measure_programs(
    programs: Sequence[TimedProgram], pages: str, rounds: int, progress: Progress
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
                said = run_on_last_processor(layout_of(pages, ANON_BYTES[pages]), program.argv())
                values[program.name].append(roi_ns(said) * gigahertz)
            except HugePagesUnavailable as error:
                why = Skipped(error.sentence)
                return {one.name: why for one in programs}
            except TesseraError as error:
                failed[program.name] = error.problem
    return failed | {
        name: median_cycles(found) for name, found in values.items() if found and name not in failed
    }


# What was measured of marks and programs, as a table.

ROUNDS, PROCESSES = 5, {"full": 3, "quick": 1}  #: measurements of a mark in a process
PROGRAM_ROUNDS = {"full": 6, "quick": 2}
MARK, PROGRAM = "mark", "program"
Measured = dict[str, dict[str, dict[str, Found]]]  #: kind -> pages -> name -> what was found


@study(CLOCK_MEASURED)
def clock_measure(run: Run, amount: Amount = "full") -> pd.DataFrame:
    """Measure the micro-benchmarks and programs of `tessera lab run clock`. Run nothing else meanwhile.

    Without reserved pages, the rows with 2MB pages are skipped.

    Example: ./run tessera lab run clock-measure amount=quick --out /tmp/clock_measured.csv

    Args:
        amount: quick measures a few marks and programs, in few rounds.
    """
    return measured_table(measure_marks_and_programs(amount, run.say))


def measure_marks_and_programs(amount: Amount, progress: Progress = lambda text: None) -> Measured:
    """Measure the marks and programs of an amount in pages of both sizes.

    Rows with 2MB pages are ``Skipped`` if none can be reserved.
    """
    names, programs = [mark.name for mark in marks_of(amount)], programs_of(amount)
    found: Measured = {MARK: {}, PROGRAM: {}}
    for pages in PAGES:
        progress(f"clock: measuring {len(names)} micro-benchmarks with {pages} pages")
        found[MARK][pages] = measured_marks(names, pages, amount)
        found[PROGRAM][pages] = measure_programs(programs, pages, PROGRAM_ROUNDS[amount], progress)
    return found


def measured_marks(names: list[str], pages: str, amount: Amount) -> dict[str, Found]:
    """Measured marks; a run that fails as a whole fails each of them, with its reason."""
    try:
        return dict(marks.measure_marks(names, pages, ROUNDS, PROCESSES[amount]))
    except HugePagesUnavailable as error:
        return {name: Skipped(error.sentence) for name in names}
    except TesseraError as error:
        return {name: error.problem for name in names}


def measured_table(found: Measured) -> pd.DataFrame:
    """A row of :data:`CLOCK_MEASURED` for each mark and program."""
    rows = [
        {"kind": kind, "name": name, "pages": pages} | row_of(one)
        for kind, of_pages in found.items()
        for pages, of_names in of_pages.items()
        for name, one in of_names.items()
    ]
    return frame_of(CLOCK_MEASURED, rows)


def read_measured(path: Path) -> Measured:
    """What :func:`clock_measure` measured.

    Raises:
        TesseraError: no such file, no table of measurements, or a row of another kind or page size.
    """
    found: Measured = {kind: {pages: {} for pages in PAGES} for kind in (MARK, PROGRAM)}
    for row in read_file(CLOCK_MEASURED, path).to_dict("records"):
        if row["kind"] not in found or row["pages"] not in PAGES:
            raise TesseraError(
                f"measurements {path}, row of {row['name']}",
                f"kind '{row['kind']}' with pages '{row['pages']}'; kinds are {MARK} and {PROGRAM}",
                "measure again: ./run tessera lab run clock-measure",
            )
        found[row["kind"]][row["pages"]][row["name"]] = _found(row)
    return found


def row_of(found: Found | None) -> dict:
    """Columns ``cycles`` to ``message``; None: the run had no row for it."""
    if isinstance(found, Skipped):
        return {"status": "skipped", "message": found.why}
    if not isinstance(found, Cycles):
        return {"status": "failed", "message": found or "it gave no measurement"}
    return {
        "cycles": found.median, "low_cycles": found.low, "high_cycles": found.high, "runs": found.runs,
        "status": "ok", "message": "",
    }  # fmt: skip


def _found(row: dict) -> Found:
    if row["status"] == "skipped":
        return Skipped(row["message"])
    if not is_ok(row["status"]):
        return row["message"]
    low, high = (None if math.isnan(row[key]) else row[key] for key in ("low_cycles", "high_cycles"))
    return Cycles(row["cycles"], low, high, int(row["runs"]))
