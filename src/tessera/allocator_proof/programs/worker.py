"""One program under its layouts, where the program is installed: in the image, or on this machine.

    python3 -m tessera.allocator_proof.programs.worker NAME --folder DIR [--launcher FILE] LAYOUT...

``DIR`` holds a file ``LAYOUT.csv`` for each layout. Standard output gets one JSON line per finished layout,
an :class:`Outcome`; everything that the programs print stays in files below DIR.
"""

from __future__ import annotations

import argparse
import dataclasses
import glob
import json
import os
import shutil
import sys
import time
from pathlib import Path

from tessera.allocator_proof.programs.box import Box, TimedOut
from tessera.allocator_proof.programs.judge import answer_fault, numbers, page_fault, read_reports
from tessera.allocator_proof.programs.model import FAIL, PASS, SKIP, Program, ProgramOutcome, WrongAnswer
from tessera.allocator_proof.programs.processes import become_subreaper, kill_below
from tessera.core.errors import TesseraError
from tessera.core.interrupts import signals_raise


def missing(program: Program) -> str:
    """The command that installs missing programs; empty if none is missing."""
    packages = [need.package for need in program.needs if not _installed(need.probe)]
    return f"sudo apt-get install {' '.join(dict.fromkeys(packages))}" if packages else ""


def _installed(probe: str) -> bool:
    return bool(glob.glob(probe)) if "/" in probe else shutil.which(probe) is not None


def attempt(program: Program, box: Box) -> tuple[str, str]:
    """Drive the program once; returns its answer and why it failed (one of them empty)."""
    try:
        return program.drive(box), ""
    except (WrongAnswer, TimedOut, TesseraError) as error:
        return "", str(error)
    except (OSError, ValueError, LookupError) as error:  # a server died under its client, and the like
        return "", f"{type(error).__name__}: {error}"
    finally:
        killed = kill_below(os.getpid())
        if killed and box.last is not None:
            with box.last.err.open("a") as stream:
                stream.write(f"(killed {len(killed)} processes that still ran at the end)\n")


def run_layout(
    program: Program, layout: str, folder: Path, plain: str, launcher: Path | None
) -> ProgramOutcome:
    """One layout: drive, then judge answer and pages."""
    box = Box(
        _clean(folder / layout),
        layout=folder / f"{layout}.csv",
        timeout_seconds=program.timeout_seconds,
        options=program.options,
        allow_fallback=program.splits or program.maps_huge_pages,
        launcher=launcher,
    )
    started = time.monotonic()
    answer, fault = attempt(program, box)
    seconds = round(time.monotonic() - started, 2)
    reports = read_reports([step.report for step in box.steps])
    pages = page_fault(program, reports, len(box.steps))
    reasons = [fault or answer_fault(answer, plain), pages]
    reason = "; ".join(part for part in reasons if part)
    outcome = ProgramOutcome(
        program.name, layout, FAIL if reason else PASS, reason, seconds, **numbers(reports)
    )
    if reason and box.last is not None:
        outcome = dataclasses.replace(outcome, tail=box.last.tail(), repeat=box.last.shell())
    return outcome


def run_program(program: Program, layouts: list[str], folder: Path, launcher: Path | None, emit) -> None:
    """Every layout after one plain run, whose answer is the measure."""
    if command := missing(program):
        for layout in layouts:
            emit(ProgramOutcome(program.name, layout, SKIP, f"not installed: {command}"))
        return
    box = Box(_clean(folder / "plain"), layout=None, timeout_seconds=program.timeout_seconds)
    plain, fault = attempt(program, box)
    for layout in layouts:
        if fault:
            tail, repeat = (box.last.tail(), box.last.shell()) if box.last else ("", "")
            reason = f"already without the library: {fault}"
            emit(ProgramOutcome(program.name, layout, FAIL, reason, tail=tail, repeat=repeat))
        else:
            emit(run_layout(program, layout, folder, plain, launcher))


def _clean(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _emit(outcome: ProgramOutcome) -> None:
    print(json.dumps(dataclasses.asdict(outcome)), flush=True)


def main() -> None:
    """Parse, run, and kill all started processes at the end, also after a signal."""
    from tessera.allocator_proof.programs.registry import program

    parser = argparse.ArgumentParser(prog="worker")
    parser.add_argument("name")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--launcher", type=Path)
    parser.add_argument("layouts", nargs="+")
    asked = parser.parse_args()
    become_subreaper()
    with signals_raise():
        try:
            run_program(program(asked.name), asked.layouts, asked.folder, asked.launcher, _emit)
        finally:
            kill_below(os.getpid())


if __name__ == "__main__":
    try:
        main()
    except TesseraError as error:
        print(f"worker: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
