"""How far a run of ``tessera-os`` is, on standard error."""

from __future__ import annotations

import sys
import time

import click

from tessera.core.progress import Bars

#: Seconds between two lines where standard error is no terminal; a shorter run prints none.
LINE_SECONDS = 10


class Shown:
    """Progress on stderr: a bar on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, label: str):
        self.label = label
        self._bars = Bars() if sys.stderr.isatty() else None
        self._last = time.monotonic()

    def __call__(self, percent: int, accesses: int) -> None:
        """Show a state: percent of so many accesses."""
        text = f"{percent}% of {accesses} accesses"
        if self._bars is not None:
            self._bars.update(self.label, percent, 100, text)
        elif time.monotonic() - self._last >= LINE_SECONDS:
            self._last = time.monotonic()
            click.echo(f"{self.label}: {text}", err=True)

    def close(self) -> None:
        """Leave the bar as it is, if there is one."""
        if self._bars is not None:
            self._bars.close()
