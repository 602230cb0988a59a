"""What was measured of marks and programs, as a table: only this part needs the machine to itself."""

from __future__ import annotations

import math
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.judge.clock import native
from tessera.judge.clock.marks import marks_of
from tessera.judge.clock.native import PAGES, Cycles, Found, Progress, Skipped
from tessera.judge.clock.programs import measure_programs, programs_of
from tessera.machine.reserve import HugePagesUnavailable
from tessera.results.read import read_file
from tessera.results.schema.clock import CLOCK_MEASURED
from tessera.results.status import is_ok
from tessera.results.write import frame_of, write

ROUNDS, PROCESSES = 5, {"default": 3, "smoke": 1}  #: measurements of a mark in a process
PROGRAM_ROUNDS = {"default": 6, "smoke": 2}
MARK, PROGRAM = "mark", "program"
Measured = dict[str, dict[str, dict[str, Found]]]  #: kind -> pages -> name -> what was found


def measure(scale: str, progress: Progress = lambda text: None) -> Measured:
    """Measure the marks and programs of a scale (``default`` or ``smoke``) in pages of both sizes.

    Rows with 2MB pages are ``Skipped`` if none can be reserved.
    """
    names, programs = [mark.name for mark in marks_of(scale)], programs_of(scale)
    found: Measured = {MARK: {}, PROGRAM: {}}
    for pages in PAGES:
        progress(f"clock: measuring {len(names)} micro-benchmarks with {pages} pages")
        found[MARK][pages] = marks(names, pages, scale)
        found[PROGRAM][pages] = measure_programs(programs, pages, PROGRAM_ROUNDS[scale], progress)
    return found


def marks(names: list[str], pages: str, scale: str) -> dict[str, Found]:
    """Measured marks; a run that fails as a whole fails each of them, with its reason."""
    try:
        return dict(native.measure_marks(names, pages, ROUNDS, PROCESSES[scale]))
    except HugePagesUnavailable as error:
        return {name: Skipped(f"{error.asked}: {error.found}; {error.remedy}") for name in names}
    except TesseraError as error:
        return {name: f"{error.asked}: {error.found}" for name in names}


def write_measured(found: Measured, out: Path) -> None:
    """Write a row of ``results.schema.clock.CLOCK_MEASURED`` for each mark and program."""
    rows = [
        {"kind": kind, "name": name, "pages": pages} | row_of(one)
        for kind, of_pages in found.items()
        for pages, of_names in of_pages.items()
        for name, one in of_names.items()
    ]
    write(CLOCK_MEASURED, frame_of(CLOCK_MEASURED, rows), out)


def read_measured(path: Path) -> Measured:
    """What :func:`write_measured` wrote.

    Raises:
        TesseraError: no such file, no table of measurements, or a row of another kind or page size.
    """
    found: Measured = {kind: {pages: {} for pages in PAGES} for kind in (MARK, PROGRAM)}
    for row in read_file(CLOCK_MEASURED, path).to_dict("records"):
        if row["kind"] not in found or row["pages"] not in PAGES:
            raise TesseraError(
                f"measurements {path}, row of {row['name']}",
                f"kind '{row['kind']}' with pages '{row['pages']}'; kinds are {MARK} and {PROGRAM}",
                "measure again: ./run tessera validate clock-measure",
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
