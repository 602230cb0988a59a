"""A clock of the processor's time: it interrupts what takes too long, on a busy machine as on an idle one."""

import contextlib
import gc
import signal
import time


class TooLong(BaseException):
    """Not an Exception, so that no handler of errors keeps it."""


def _ring(*_):
    raise TooLong


@contextlib.contextmanager
def at_most(seconds: float):
    """Raises :class:`TooLong` after so much time of this process; yields a function that gives it.

    It rings again and again, because callbacks of the garbage collector swallow an exception. Objects of
    other tests are no garbage here: to look through them would cost more than what is measured.
    """
    gc.freeze()
    before, began = signal.signal(signal.SIGPROF, _ring), time.process_time()
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.05)
    try:
        yield lambda: time.process_time() - began
    finally:
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        gc.unfreeze()
