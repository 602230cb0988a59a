"""Call ``mosalloc-run``: the one place that knows its command line.

A command in front of the user's program passes signals on, and ends in the program's own time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NoReturn

from tessera.core.files import built
from tessera.core.layouts.layout import read_layout
from tessera.machine.container.watchdog import watchdog

# Real runs happen on the host itself, not in a container: the huge pages, the CPU and the program are the
# host's. The launcher and the library are linked so that any host with glibc 2.34 or later can load them.


def mosalloc_command(
    program: Sequence[str],
    layout: Path | str,
    *,
    report: Path | str | None = None,
    target: str | None = None,
    allow_fallback: bool = False,
    prefault: bool = True,
    verbose: bool = False,
    hints: str | None = None,
    stacks: str | None = None,
    protections: str | None = None,
    analyze: Path | str | None = None,
    interval_ms: int | None = None,
) -> list[str]:
    """The argv that runs ``program`` under ``layout``.

    Args:
        program: argv of the program; its first word is looked up in PATH.
        report: JSON file for what was asked and found (:func:`tessera.measure.mosalloc.report.read_report`).
        target: executable that gets the layout, when ``program`` is a script that starts it.
        allow_fallback: go on with 4KB pages where huge pages can't be had; the report says so.
        prefault: fault windows in before the program starts; without, they grow on demand.
        hints, stacks: ``kernel`` or ``pool``: who gets memory with an address hint, and threads' stacks.
        protections: ``guards``, ``soft`` or ``exact``: when a huge page is split to keep protections.
        analyze: JSON file for the footprint over time (:mod:`tessera.measure.mosalloc.analysis` reads it).
        interval_ms: time between its samples.

    Raises:
        TesseraError: the layout is malformed, or the launcher is not built.
    """
    read_layout(layout)
    argv = [str(built("mosalloc", "mosalloc-run")), "--layout", str(layout)]
    if report is not None:
        argv += ["--report", str(report)]
    if target is not None:
        argv += ["--target", target]
    argv += ["--allow-fallback"] * allow_fallback
    argv += ["--no-prefault"] * (not prefault)
    argv += ["--verbose"] * verbose
    valued = {
        "--hints": hints,
        "--stacks": stacks,
        "--protections": protections,
        "--analyze": analyze,
        "--interval-ms": interval_ms,
    }
    for option, value in valued.items():
        if value is not None:  # absent options keep the launcher's own defaults
            argv += [option, str(value)]
    return [*argv, "--", *map(str, program)]


def run_under_layout(
    program: Sequence[str],
    layout: Path | str,
    *,
    env: Mapping[str, str] | None = None,
    capture: bool = False,
    cwd: Path | str | None = None,
    then_raise: bool = True,
    **options,
) -> subprocess.CompletedProcess:
    """Run ``program`` under ``layout`` to its end; ``options`` are those of :func:`mosalloc_command`.

    The return code is the program's own, 2 for a wrong request or missing huge pages, 1 if the pages found
    are not the pages asked for; the launcher has then said why on stderr. Signals are passed on, and the
    program ends in its own time. With ``then_raise`` they have their usual effect afterwards.
    """
    argv = mosalloc_command(program, layout, **options)
    return run_forwarding(argv, env=env, capture=capture, cwd=cwd, then_raise=then_raise)


def become_launcher(program: Sequence[str], layout: Path | str, **options) -> NoReturn:
    """Replace this process by the launcher; ``options`` are those of :func:`mosalloc_command`."""
    become(mosalloc_command(program, layout, **options))


# Signals reach the program, and it ends in its own time.
#
# A program may save its data when it gets SIGINT or SIGTERM. So the command never kills it: it passes the
# signal on, waits for the end, and cleans up afterwards.

FORWARDED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
#: Python ignores these; programs expect the default.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def become(argv: Sequence[str]) -> NoReturn:
    """Replace this process by ``argv``: nothing is left that could get or lose a signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    for number in IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    os.execv(argv[0], argv)


class Forwarder:
    """Passes signals on to one child; those that come before it is known wait for it."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._early: list[int] = []
        self._child: subprocess.Popen | None = None

    def __call__(self, number: int, frame: object) -> None:
        self.received.append(number)
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def follow(self, child: subprocess.Popen) -> None:
        """From now on signals go to ``child``; the launcher drops those that the terminal sent to it, too."""
        self._child = child
        for number in self._early:  # does not grow any more: later signals go to the child at once
            child.send_signal(number)


@contextmanager
def forwarding() -> Iterator[Forwarder]:
    """Inside, signals go to the forwarder. Only in the main thread: it receives all signals in Python."""
    forwarder = Forwarder()
    if threading.current_thread() is not threading.main_thread():
        yield forwarder
        return
    previous = {number: signal.signal(number, forwarder) for number in FORWARDED}
    try:
        yield forwarder
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def run_forwarding(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    capture: bool = False,
    cwd: Path | str | None = None,
    then_raise: bool = True,
) -> subprocess.CompletedProcess:
    """As :func:`subprocess.run`, but signals are passed on, and the program is waited for.

    Args:
        then_raise: after the program's end, the first signal has its usual effect on this process.
    """
    pipe = subprocess.PIPE if capture else None
    with forwarding() as forwarder:
        with subprocess.Popen(argv, env=env, cwd=cwd, stdout=pipe, stderr=pipe, text=True) as child:
            forwarder.follow(child)
            # Its user ends a program that has the terminal; of another one, nobody sees that it hangs.
            with watchdog(child, f"run '{' '.join(argv)}'", lambda: None) if capture else nullcontext():
                output, errors = child.communicate()
    if then_raise and forwarder.received:
        signal.raise_signal(forwarder.received[0])
    return subprocess.CompletedProcess(list(argv), child.returncode, output, errors)
