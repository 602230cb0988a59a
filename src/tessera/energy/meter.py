"""Joules of a socket during a run: a thread reads the counters often enough that no wrap is missed.

:class:`Powercap` sums the differences of all dies of a socket, modulo each counter's range. If two readings
are farther apart than the counter needs for a wrap, the sum is unknown and an error says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.counters import powercap
from tessera.counters.powercap import Package

#: Readings between two wraps, so a late one does no harm.
READINGS_PER_WRAP = 8
LONGEST_PAUSE_S = 5.0


class Powercap:
    """Context manager: ``joules`` has the energy between enter and exit.

    Args:
        packages: counters of one socket.
        clock: seconds; tests replace it.
    """

    def __init__(self, packages: list[Package], clock: Callable[[], float] = time.monotonic):
        self.packages, self._clock = packages, clock
        self.joules, self.seconds = 0.0, 0.0
        self._uj = dict.fromkeys(packages, 0)
        self._last: dict[Package, tuple[float, int]] = {}
        self._stop, self._failure = threading.Event(), None
        self._thread: threading.Thread | None = None

    @classmethod
    def of_socket(cls, socket: int, root: Path = powercap.ROOT) -> Powercap:
        """Raises TesseraError as :func:`tessera.counters.powercap.of_socket`."""
        return cls(powercap.of_socket(socket, root))

    @property
    def pause_s(self) -> float:
        """Between two readings."""
        return min(LONGEST_PAUSE_S, min(one.seconds_to_wrap for one in self.packages) / READINGS_PER_WRAP)

    def read(self) -> None:
        """Add what every counter gained since its last reading.

        Raises:
            TesseraError: a counter is unreadable, or may have wrapped more than once.
        """
        for package in self.packages:
            now, value = self._clock(), package.read_uj()
            if package in self._last:
                then, before = self._last[package]
                if now - then > package.seconds_to_wrap:
                    raise _missed(package, now - then)
                self._uj[package] += powercap.difference_uj(before, value, package.range_uj)
            self._last[package] = now, value

    def __enter__(self) -> Powercap:
        self.read()
        self._started = self._clock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind, error, trace) -> None:
        self._stop.set()
        self._thread.join()
        if kind is None and self._failure:
            raise self._failure
        if kind is None:
            self.read()
            self.seconds = self._clock() - self._started
            self.joules = sum(self._uj.values()) / 1e6

    def _run(self) -> None:
        while not self._stop.wait(self.pause_s):
            try:
                self.read()
            except TesseraError as error:
                self._failure = error
                return


def _missed(package: Package, seconds: float) -> TesseraError:
    found = f"{seconds:.1f} s between readings, and it may wrap in {package.seconds_to_wrap:.1f} s"
    remedy = "repeat it on an idle machine"
    return TesseraError(f"energy of {package.name}", found, remedy, exit_code=EXIT_FAILED, code="rapl-wraps")
