"""One program under its layouts, where the program is installed: in the image, or on this machine.

    python3 -m tessera.lab.allocator_proof.programs.worker NAME --folder DIR [--launcher FILE] LAYOUT...

``DIR`` holds a file ``LAYOUT.csv`` for each layout. Standard output gets one JSON line per finished layout,
a :class:`ProgramOutcome`; everything that the programs print stays in files below DIR. PASS or FAIL come
from the run's own checks, its answer beside the plain run's, and its pages.
"""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
import glob
import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.core.processes import signals_raise
from tessera.lab.allocator_proof.programs.driver import (
    Box,
    ProgramOutcome,
    ProvedProgram,
    TimedOut,
    WrongAnswer,
)

# Run programs so that none is left behind, however they fork.
#
# The worker is a subreaper (prctl(2)): whatever its programs start stays among its descendants, also
# daemons that changed their session, and can be found and killed there.

PR_SET_CHILD_SUBREAPER = 36

#: Seconds that killed processes get to vanish; the kernel must free their memory first.
VANISH_SECONDS = 10


def become_subreaper() -> None:
    """Orphans of this process's programs become its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def descendants(pid: int) -> list[int]:
    """Living processes below ``pid``, zombies left out."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name (field 2) may hold spaces and parentheses; state and parent follow the last one.
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        if state not in "ZX":
            children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def kill_below(pid: int) -> list[int]:
    """Kill all descendants of ``pid``, wait until they have exited, and return them."""
    killed: set[int] = set()
    end = time.monotonic() + VANISH_SECONDS
    while (left := descendants(pid)) and time.monotonic() < end:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(process)
        time.sleep(0.02)
    _reap_orphans()
    return sorted(killed)


def _reap_orphans() -> None:
    """Reap children whose parent does not wait for them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


# PASS or FAIL of one run: its own checks, its answer beside the plain run's, and its pages.

OUTSIDE_KEYS = ("kernel_heap_bytes", "stack_bytes", "anonymous_bytes", "unseen_bytes")


def read_reports(paths: list[Path]) -> list[dict]:
    """The launcher's reports that were written."""
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def page_fault(program: ProvedProgram, reports: list[dict], asked: int) -> str:
    """Why the pages differ from the layout; empty if they do not.

    ``fallback`` passes only where the row says that it protects parts of huge pages, or maps some itself, and
    only when this is the whole reason: a window that never got its pages is a failure for every program.
    """
    if len(reports) != asked:
        return f"{asked} runs wrote {len(reports)} reports"
    for report in reports:
        verdict, counters = report["verdict"], report["counters"]
        split = counters.get("split_pages", 0)
        splits = program.splits and split > 0
        maps = program.maps_huge_pages and _maps_huge_pages(report) and split == 0
        expected = (splits or maps) and counters["fallback_windows"] == 0
        if verdict == "confirmed" or (verdict == "fallback" and expected):
            continue
        return f"pages: {verdict} ({report['reason'] or 'no reason given'})"
    return ""


def _maps_huge_pages(report: dict) -> bool:
    """The program or a forked child mapped huge pages itself, and the pools have the pages of the layout."""
    parts = (report["counters"], report.get("children") or {})
    if not any(part.get("own_huge_bytes", 0) for part in parts):
        return False
    small = report["small_pages"]
    wrong = small["anon_huge_bytes"] or small["wrong_page_bytes"]
    return not wrong and all(window["confirmed"] for window in report["windows"])


def answer_fault(found: str, plain: str) -> str:
    """The first difference to the plain run's answer; empty if there is none."""
    if found == plain:
        return ""
    pairs = zip(found.splitlines() + [""], plain.splitlines() + [""], strict=False)
    ours, theirs = next(((a, b) for a, b in pairs if a != b), (found[-80:], plain[-80:]))
    return f"answer differs from the plain run's: {ours[:120]!r}, plain {theirs[:120]!r}"


def report_numbers(reports: list[dict]) -> dict[str, int | None]:
    """What the table shows of the reports; None where this build of the library doesn't report it."""
    if not reports:
        return {}
    pools = [{pool["type"]: pool["used_bytes"] for pool in report["pools"]} for report in reports]
    return {
        "heap_used_bytes": max(pool["brk"] for pool in pools),
        "anon_used_bytes": max(pool["mmap"] for pool in pools),
        "split_pages": _sum(report["counters"].get("split_pages") for report in reports),
        "outside_bytes": _max(_outside(report) for report in reports),
        "pool_calls": _sum(_calls(report, "pool") for report in reports),
        "kernel_calls": _sum(_calls(report, "kernel") for report in reports),
    }


def _outside(report: dict) -> int | None:
    outside = report.get("outside")
    return None if outside is None else sum(outside.get(key, 0) for key in OUTSIDE_KEYS)


def _calls(report: dict, where: str) -> int | None:
    calls = report.get("calls")
    return None if calls is None else sum(row.get(where, 0) for row in calls.values())


def _sum(values) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _max(values) -> int | None:
    known = [value for value in values if value is not None]
    return max(known) if known else None


# The program's runs: plain, then under each layout.


def install_command(program: ProvedProgram) -> str:
    """The command that installs missing programs; empty if none is missing."""
    packages = [need.package for need in program.needs if not _installed(need.probe)]
    return f"sudo apt-get install {' '.join(dict.fromkeys(packages))}" if packages else ""


def _installed(probe: str) -> bool:
    return bool(glob.glob(probe)) if "/" in probe else shutil.which(probe) is not None


def drive_once(program: ProvedProgram, box: Box) -> tuple[str, str]:
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
    program: ProvedProgram, layout: str, folder: Path, plain: str, launcher: Path | None
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
    answer, fault = drive_once(program, box)
    seconds = round(time.monotonic() - started, 2)
    reports = read_reports([step.report for step in box.steps])
    pages = page_fault(program, reports, len(box.steps))
    reasons = [fault or answer_fault(answer, plain), pages]
    reason = "; ".join(part for part in reasons if part)
    outcome = ProgramOutcome(
        program.name, layout, FAIL if reason else PASS, reason, seconds, **report_numbers(reports)
    )
    if reason and box.last is not None:
        outcome = dataclasses.replace(outcome, tail=box.last.tail(), repeat=box.last.shell())
    return outcome


def run_program(
    program: ProvedProgram, layouts: list[str], folder: Path, launcher: Path | None, emit
) -> None:
    """Every layout after one plain run, whose answer is the measure."""
    if command := install_command(program):
        for layout in layouts:
            emit(ProgramOutcome(program.name, layout, SKIP, f"not installed: {command}"))
        return
    box = Box(_clean(folder / "plain"), layout=None, timeout_seconds=program.timeout_seconds)
    plain, fault = drive_once(program, box)
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
    from tessera.lab.allocator_proof.programs.registry import program_named

    parser = argparse.ArgumentParser(prog="worker")
    parser.add_argument("name")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--launcher", type=Path)
    parser.add_argument("layouts", nargs="+")
    asked = parser.parse_args()
    become_subreaper()
    with signals_raise():
        try:
            run_program(program_named(asked.name), asked.layouts, asked.folder, asked.launcher, _emit)
        finally:
            kill_below(os.getpid())


if __name__ == "__main__":
    try:
        main()
    except TesseraError as error:
        print(f"worker: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
