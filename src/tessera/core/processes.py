"""How this package starts Python, and cleans up when its own process is told to end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# A start that does not look into the current folder.
#
# ``python -m MODULE`` puts the current folder in front of the standard library. So a file ``json.py`` that
# anybody left in /tmp would be executed by the user who stands there, also by root. ``-P`` (Python 3.11)
# leaves the folder out. The variable PYTHONSAFEPATH would reach the programs of users, too, and those may
# import from their own folder.


def module_command(
    module: str, *arguments: str | os.PathLike[str], python: str = sys.executable
) -> list[str | os.PathLike[str]]:
    """The words that run ``module`` with ``arguments``, without the current folder on its path.

    Args:
        python: another interpreter, such as the one of an image.
    """
    return [python, "-P", "-m", module, *arguments]


# Clean-up that also happens when the process is told to end.

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_raise() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit(128 + number), so that ``finally`` blocks run.

    Only the main thread can receive signals in Python; elsewhere this does nothing, and the main thread's
    own handling applies.
    """

    def on_signal(number, frame):
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, on_signal) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
