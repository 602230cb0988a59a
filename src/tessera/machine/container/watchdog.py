"""Ends a program that hangs, so that nobody waits for it for ever.

The rule, for N minutes of :data:`VARIABLE` (60 if it is not set; 0 ends nothing):

- *Idle*: for N minutes the program and all processes below it used no processor time, and no output came. A
  deadlock looks like this, and a program that waits for somebody who never comes. Programs that compute are
  never idle, however long they print nothing.
- *Silent*: for 24 N minutes no output came and no file of its results grew, though it computed. A loop that
  never ends looks like this. Only foreign programs have this limit, no simulator and no build.

The longest recording that was ever made took 8.5 minutes in all (docs/results/paper-inputs.md), so the
limits are far above every phase in which a program prints nothing.

A program whose output goes straight to the terminal has no limit: its user sees it, and may have paused it.

Time is counted in looks, six in N minutes, each of which must find the same. A machine that slept, or a
stopped Tessera, has not looked meanwhile, so that no program is ended because of it.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.engine import docker
from tessera.machine.container.process import ContainerProcess, end_process, stopped_at_exit

VARIABLE = "TESSERA_IDLE_MINUTES"
IDLE_MINUTES = 60.0
SILENT_FACTOR = 24  #: of a program that computes
LOOKS = 6  #: in the time of the variable

#: Seconds for Docker's answer to a look. An engine that hangs never says that the program has ended.
ANSWER_SECONDS = 60
NO_ANSWER = "the Docker engine gave no answer"


class ProgramHangs(TesseraError):
    """A program was ended because it hung, or its output does not end."""


def hangs(asked: str, found: str) -> ProgramHangs:
    """The error, with the variable that changes the limit."""
    return ProgramHangs(
        asked,
        found,
        "run it alone to see what it waits for; if it only needs longer, set a larger limit: "
        f"{VARIABLE}={2 * idle_minutes():g} (minutes; 0: no limit)",
        exit_code=EXIT_FAILED,
        code="program-hangs",
    )


def idle_minutes() -> float:
    """Minutes of :data:`VARIABLE`; 0: no limit.

    Raises:
        TesseraError: its value is no such number.
    """
    text = os.environ.get(VARIABLE, "").strip()
    with contextlib.suppress(ValueError):
        minutes = float(text) if text else IDLE_MINUTES
        if math.isfinite(minutes) and minutes >= 0:
            return minutes
    raise TesseraError(
        f"{VARIABLE}='{text}'",
        "it is no number of minutes from 0 on",
        f"set it to {IDLE_MINUTES:g}, or unset it",
    )


@contextmanager
def watchdog(
    process: subprocess.Popen, asked: str, signs: Callable[[], object] | None = None
) -> Iterator[None]:
    """End ``process`` when it hangs while the block waits for it; the rule is at the top of this file.

    Args:
        asked: what the program is for, for the error.
        signs: gives what changes with each sign of life besides processor time (lines of output, bytes of a
            file); it must not raise. None: a program that computes has no limit.

    Raises:
        ProgramHangs: it was ended. An error of the block, such as of a client that lost its server, is then
            the cause of this one.
    """
    minutes, reason, end = idle_minutes(), [], threading.Event()

    def watch() -> None:
        idle, silent, used, seen = 0, 0, None, None
        while not end.wait(minutes * 60 / LOOKS):
            before, used, seen_before, seen = used, processor_time(process), seen, signs() if signs else None
            silent = silent + 1 if seen == seen_before else 0
            idle = idle + 1 if used is not None and used == before and silent else 0
            if idle >= LOOKS:
                what = NO_ANSWER if used == NO_ANSWER else "it printed nothing and used no processor time"
                reason.append(f"{what} for {minutes:g} min")
            elif signs and silent >= LOOKS * SILENT_FACTOR:
                reason.append(f"it computed for {SILENT_FACTOR * minutes:g} min without any output")
            if reason and not end.is_set():
                _end(process)
                return

    if minutes:
        threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    except Exception as error:
        if reason:
            raise hangs(asked, f"{reason[0]}, so Tessera ended it") from error
        raise
    finally:
        end.set()
    if reason:
        raise hangs(asked, f"{reason[0]}, so Tessera ended it")


def run_to_end(argv: Sequence[str | os.PathLike[str]], asked: str, **keywords) -> subprocess.CompletedProcess:
    """As :func:`subprocess.run` with text, for a foreign program of this machine; it is ended if it hangs.

    Args:
        keywords: those of :class:`subprocess.Popen`.

    Raises:
        ProgramHangs: it was ended.
    """
    process = subprocess.Popen(argv, text=True, errors="replace", **keywords)
    with stopped_at_exit(process), watchdog(process, asked, lambda: None):
        output, errors = process.communicate()
    return subprocess.CompletedProcess(argv, process.returncode, output, errors)


def processor_time(process: subprocess.Popen) -> object:
    """What changes whenever a program, or a process below it, uses processor time; None if it is unknown."""
    if isinstance(process, ContainerProcess):
        return _of_container(process.container_name)
    return _of_processes(process.pid)


def _of_container(name: str) -> str | None:
    """Processes and their seconds, as the engine's own machine counts them."""
    try:
        done = docker("top", name, "-eo", "pid,cputimes", timeout=ANSWER_SECONDS)
    except TesseraError:
        return NO_ANSWER
    return done.stdout if done.returncode == 0 else None


def _of_processes(pid: int) -> int | None:
    """Ticks of :func:`_rows_below`, also of processes that have ended there."""
    rows = _rows_below(pid)
    return sum(int(ticks) for row in rows.values() for ticks in row[11:15]) if rows else None


def _rows_below(pid: int, proc: Path = Path("/proc")) -> dict[int, list[bytes]]:
    """``/proc/PID/stat`` behind the name: of the process, its process group, and all processes below them."""
    rows = {}
    for path in proc.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may end at any moment
            rows[int(path.parent.name)] = path.read_bytes().rpartition(b")")[2].split()
    found, members = {n for n, row in rows.items() if n == pid or int(row[2]) == pid}, set()
    while found - members:
        members |= found
        found = {n for n, row in rows.items() if int(row[1]) in members}
    return {n: rows[n] for n in members}


def _end(process: subprocess.Popen) -> None:
    """End the program and what it started, also if it has ended itself: children may keep its output open."""
    below = {} if isinstance(process, ContainerProcess) else _rows_below(process.pid)
    try:
        end_process(process)
    except TesseraError:  # the engine does not answer: at least its client ends
        subprocess.Popen.kill(process)
    for pid, row in below.items():
        with contextlib.suppress(OSError):
            now = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            if now[19] == row[19]:  # it started at the same time, so it is the same
                os.kill(pid, signal.SIGKILL)
