"""A clock of the processor's time: it interrupts what takes too long, on a busy machine as on an idle one."""

import contextlib
import signal
import time


class TooLong(BaseException):
    """Not an Exception, so that no handler of errors keeps it."""


def _ring(*_):
    raise TooLong


@contextlib.contextmanager
def at_most(seconds: float):
    """Raises :class:`TooLong` after so much time of this process; yields a function that gives it."""
    before, began = signal.signal(signal.SIGPROF, _ring), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield lambda: time.process_time() - began
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
