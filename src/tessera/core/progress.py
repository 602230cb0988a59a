"""Progress for people: bars by rich if stderr is a terminal; otherwise plain lines, for logs.

rich is imported with the first bar, so that commands without one start as fast as before.
"""

from __future__ import annotations

import atexit
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tessera.core.terminal import escape_streams, shown, unescaped
from tessera.core.units import GB, MB

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

REFRESH_SECONDS = 0.1  #: between two drawings of the bars
LOG_SECONDS = 30  #: between two lines about one download in a log
GROWTH_SECONDS = 1  #: between two looks at the size of growing files

#: Called with a file's name, its bytes so far, and its bytes in all (None if the server does not say).
Show = Callable[[str, int, int | None], None]


class Bars:
    """Bars on the terminal of stderr, one for each name, drawn from the first update to :meth:`close`."""

    def __init__(self, *, downloads: bool = False):
        self._downloads = downloads
        self._live: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._drawn = -1e9

    def update(self, name: str, done: int, total: int | None, text: str = "") -> None:
        """Set a bar; ``text`` stands behind it where bars are not those of downloads."""
        if self._live is None:
            self._live = self._start()
        if name not in self._tasks:
            self._tasks[name] = self._live.add_task(shown(name), total=total, text=text)
        self._live.update(self._tasks[name], completed=done, total=total, text=text)
        now = time.monotonic()
        if now - self._drawn >= REFRESH_SECONDS or done == total:
            self._drawn = now
            self._live.refresh()

    def say(self, line: str) -> None:
        """Write a line above the bars."""
        if self._live is None:
            print(line, file=sys.stderr, flush=True)
        else:
            self._live.console.print(shown(line), markup=False, highlight=False)

    def close(self) -> None:
        """Leave the bars as they are; the next update starts new ones."""
        if self._live is not None:
            self._live.stop()
            atexit.unregister(self.close)
        self._live, self._tasks = None, {}

    def _start(self) -> Progress:
        from rich import progress
        from rich.console import Console

        columns = [progress.TextColumn("{task.description}", markup=False), progress.BarColumn(bar_width=24)]
        if self._downloads:
            columns += [progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn()]
            columns += [progress.TimeRemainingColumn()]
        else:
            columns += [progress.TextColumn("{task.fields[text]}", markup=False)]
        # Without a thread that refreshes: bars change only when numbers arrive.
        live = progress.Progress(
            *columns,
            console=Console(file=unescaped(sys.stderr), force_jupyter=False),
            auto_refresh=False,
        )
        live.start()
        escape_streams()  # rich replaced both streams, until the bars are closed
        live.console.show_cursor(True)  # rich hides it, and a killed process could not show it again
        atexit.register(self.close)
        return live


@contextmanager
def download_progress() -> Iterator[Show]:
    """A function that shows the progress of downloads: bars, or in a log a line every 30 s and at the end."""
    if sys.stderr.isatty():
        bars = Bars(downloads=True)
        try:
            yield bars.update
        finally:
            bars.close()
        return
    last: dict[str, float] = {}

    def line(name: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if done != total and now - last.setdefault(name, now) < LOG_SECONDS:
            return
        last[name] = now
        of = f" of {amount(total)} ({100 * done / total:.0f}%)" if total else ""
        print(f"{name}: {amount(done)}{of}", file=sys.stderr, flush=True)

    yield line


@contextmanager
def growth(name: str, folder: Path, pattern: str) -> Iterator[None]:
    """On a terminal, show how many bytes the files have that match ``pattern`` in ``folder``.

    For programs that do not report how much is left. Lines that Python writes meanwhile stand above the bar.
    """
    if not sys.stderr.isatty():
        yield
        return
    bars, end = Bars(), threading.Event()

    def show() -> None:
        while True:
            with contextlib.suppress(OSError):  # a file may be renamed at any moment
                size = sum(path.stat().st_size for path in folder.glob(pattern))
                bars.update(name, size, None, f"{amount(size)} written")
            if end.wait(GROWTH_SECONDS):
                return

    bars.update(name, 0, None)
    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
        bars.close()


def amount(count: int) -> str:
    """Bytes for people: one decimal of MB or GB (powers of two)."""
    return f"{count / GB:.1f} GB" if count >= GB else f"{count / MB:.1f} MB"


# How far a run of ``tessera-os`` is, on standard error.

#: Seconds between two lines where standard error is no terminal; a shorter run prints none.
PERCENT_SECONDS = 10


class PercentProgress:
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
        elif time.monotonic() - self._last >= PERCENT_SECONDS:
            self._last = time.monotonic()
            click.echo(f"{self.label}: {text}", err=True)

    def close(self) -> None:
        """Leave the bar as it is, if there is one."""
        if self._bars is not None:
            self._bars.close()
