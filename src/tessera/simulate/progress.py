"""Convert the simulator's progress lines to a readable form.

``tessera-sim`` writes ``progress <done> <total> <rate> <eta>`` (accesses x layouts, the same per second,
seconds; ``-`` while unknown). The runner passes on the words after the first. Other text is shown as it is.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import click

from tessera.core.progress import Bars


@dataclass(frozen=True)
class SimulationProgress:
    """How far a run is.

    Attributes:
        done: accesses x layouts simulated so far.
        total: of so many.
        rate: accesses x layouts a second, ``None`` while unknown.
        eta_seconds: time left at this rate, ``None`` while unknown.
    """

    done: int
    total: int
    rate: int | None
    eta_seconds: int | None

    def sentence(self) -> str:
        """For people: ``37%, 1250.0 M accesses x layouts/s, 1 min 12 s left``."""
        text = f"{100 * self.done // self.total if self.total else 100}%"
        if self.rate is None:
            return text
        text += f", {self.rate / 1e6:.1f} M accesses x layouts/s"
        return text if self.eta_seconds is None else f"{text}, {duration(self.eta_seconds)} left"


def parse_progress(line: str) -> SimulationProgress | None:
    """The state in a line, without the word ``progress``; ``None`` if it is some other text."""
    words = line.split()
    if len(words) != 4 or not all(word.isdecimal() for word in words[:2]):
        return None
    if not all(word == "-" or word.isdecimal() for word in words[2:]):
        return None
    rate, eta = (None if word == "-" else int(word) for word in words[2:])
    return SimulationProgress(int(words[0]), int(words[1]), rate, eta)


def duration(seconds: int) -> str:
    """``12 s``, ``3 min 5 s``, ``2 h 7 min``."""
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


class Ticker:
    """Progress on stderr: a bar on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, label: str):
        self.label = label
        self.last = -1e9
        self._bars = Bars() if sys.stderr.isatty() else None

    def __call__(self, line: str) -> None:
        state = parse_progress(line)
        if self._bars is not None:
            if state:
                self._bars.update(self.label, state.done, state.total, state.sentence())
            else:
                self._bars.say(f"{self.label}: {line}")
            return
        now = time.monotonic()
        if now - self.last >= 10:
            self.last = now
            click.echo(f"{self.label}: {state.sentence() if state else line}", err=True)

    def close(self) -> None:
        """Leave the bar as it is, if there is one; the next call starts a new one."""
        if self._bars is not None:
            self._bars.close()
