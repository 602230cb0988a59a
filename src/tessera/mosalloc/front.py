"""A command in front of the user's program: signals reach the program, and it ends in its own time.

A program may save its data when it gets SIGINT or SIGTERM. So the command never kills it: it passes the
signal on, waits for the end, and cleans up afterwards.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

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
            output, errors = child.communicate()
    if then_raise and forwarder.received:
        signal.raise_signal(forwarder.received[0])
    return subprocess.CompletedProcess(list(argv), child.returncode, output, errors)
