"""From the simulator's progress lines to what a person wants to read.

``tessera-sim`` writes ``progress <done> <total> <rate> <eta>`` (accesses x layouts, the same a second,
seconds; ``-`` while unknown); the runner hands on what follows the first word. Other text is shown as it is.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import click


@dataclass(frozen=True)
class State:
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


def parse(line: str) -> State | None:
    """The state in a line, without the word ``progress``; ``None`` if it is some other text."""
    words = line.split()
    if len(words) != 4 or not all(word.isdecimal() for word in words[:2]):
        return None
    if not all(word == "-" or word.isdecimal() for word in words[2:]):
        return None
    rate, eta = (None if word == "-" else int(word) for word in words[2:])
    return State(int(words[0]), int(words[1]), rate, eta)


def duration(seconds: int) -> str:
    """``12 s``, ``3 min 5 s``, ``2 h 7 min``."""
    minutes, hours = seconds // 60, seconds // 3600
    if hours:
        return f"{hours} h {minutes % 60} min"
    return f"{minutes} min {seconds % 60} s" if minutes else f"{seconds} s"


class Ticker:
    """Progress on stderr: rewritten in place on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, label: str):
        self.label = label
        self.tty = sys.stderr.isatty()
        self.last = -1e9
        self.open = False

    def __call__(self, line: str) -> None:
        now = time.monotonic()
        if now - self.last < (0.2 if self.tty else 10):
            return
        self.last = now
        state = parse(line)
        text = f"{self.label}: {state.sentence() if state else line}"
        click.echo(f"\r{text:<79}" if self.tty else f"{text}\n", nl=False, err=True)
        self.open = self.tty

    def close(self) -> None:
        """End the line that is rewritten in place, if there is one."""
        if self.open:
            click.echo("", err=True)
        self.open = False
