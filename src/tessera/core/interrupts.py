"""Clean-up that also happens when the process is told to end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
