"""What runs beside a recorded program: a server's load, the recording's switch, the reading of its output."""

from __future__ import annotations

import mmap
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Protocol, TextIO

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import check_target
from tessera.machine.container.process import end_process
from tessera.machine.container.watchdog import hangs, idle_minutes, watchdog

# A callable that runs beside a recorded program: a server's load, which also stops the server.


class Companion(Protocol):
    """Called once, in a separate thread, after the program has started.

    Contract: it returns when its work is done, and has ended ``program`` then unless that ends by itself; it
    gives up when ``program`` ends early. What it raises is raised where the program was started, after the
    program's end.
    """

    def __call__(self, program: subprocess.Popen) -> None: ...


@contextmanager
def run_beside(program: subprocess.Popen, companion: Companion | None) -> Iterator[None]:
    """Run ``companion`` while the block waits for ``program``."""
    if companion is None:
        yield
        return
    failure: list[BaseException] = []

    def work() -> None:
        try:
            companion(program)
        except BaseException as error:  # raised again below, in the thread that can be seen
            failure.append(error)
            end_process(program)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield
    thread.join()
    if failure:
        raise failure[0]


# Show the output of a running program as it arrives, and keep it.


def communicate(
    process: subprocess.Popen,
    show_stdout: bool,
    asked: str,
    grown: Callable[[], int] | None = lambda: 0,
) -> tuple[str, str]:
    """Wait for ``process`` (text pipes); returns its standard output and error.

    Standard error always appears on ours at once; standard output on ours if ``show_stdout``.

    Args:
        asked: what the program is for, for the error.
        grown: bytes of the file that it makes; None: it may wait without a limit.

    Raises:
        ProgramHangs: it was ended because it hung, or a process that it left behind keeps its output open
            (:mod:`tessera.machine.container.watchdog`).
    """
    kept: dict[str, list[str]] = {"out": [], "err": []}
    writing: set[str] = set()  # our own output may be paused

    def copy(name: str, source: TextIO, target: TextIO | None) -> None:
        for line in source:
            kept[name].append(line)
            if target is not None:
                writing.add(name)
                target.write(line)
                target.flush()
                writing.discard(name)

    threads = [
        threading.Thread(target=copy, args=(name, source, target), daemon=True)
        for name, source, target in (
            ("out", process.stdout, sys.stdout if show_stdout else None),
            ("err", process.stderr, sys.stderr),
        )
    ]
    for thread in threads:
        thread.start()

    def signs() -> object:
        return object() if writing else (len(kept["out"]), len(kept["err"]), grown() if grown else 0)

    with watchdog(process, asked, signs) if grown else nullcontext():
        process.wait()
    minutes = idle_minutes()
    for thread in threads:
        thread.join(minutes * 60 if minutes and grown else None)
        if thread.is_alive():
            found = f"it has ended, but for {minutes:g} min a process that it started kept its output open"
            raise hangs(asked, found)
    return "".join(kept["out"]), "".join(kept["err"])


# Turn a recording on and off from outside the program, so that a server's load phase is not recorded.
#
# Both sides map a control file of four bytes, so that reading it needs no system call: ``asked`` (written
# here), ``attached``, ``state`` and ``limit`` (written by the plugin). The plugin reads the file at each
# system call of the program's main thread; a server makes them continuously. If no plugin is attached (the
# program runs without QEMU), the switch does nothing.

#: Positions in the file; artifacts/tracer/plugin/control.h has the same.
ASKED, ATTACHED, STATE, LIMIT = range(4)
BYTES = 4

#: Seconds between looks: the state is seen within this time.
POLL_SECONDS = 0.002


class RecordingSwitch:
    """The control file at ``path``, made if it is missing (an existing one goes back to "off").

    Pass ``roi=switch.roi`` to :func:`tessera.record.traces.recording.record_program`; the companion calls
    :meth:`on` and :meth:`off`.
    """

    def __init__(self, path: Path):
        self.path = check_target(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(bytes(BYTES))  # in place: a recording may have it mapped
        self._map()

    @classmethod
    def existing(cls, path: Path) -> RecordingSwitch:
        """The control file of a recording that runs, as it is."""
        found = cls.__new__(cls)
        found.path = Path(path).absolute()
        if found.path.stat().st_size != BYTES:
            raise TesseraError(
                f"switch {path}",
                f"it has {found.path.stat().st_size} bytes, not {BYTES}",
                "name another file",
            )
        found._map()
        return found

    def _map(self) -> None:
        with self.path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), BYTES)

    @property
    def roi(self) -> str:
        """The region of interest that this file controls."""
        return f"switch:{self.path}"

    @property
    def attached(self) -> bool:
        """Whether a recording listens."""
        return self._page[ATTACHED] == 1

    @property
    def limit_reached(self) -> bool:
        """Whether ``max_accesses`` are recorded: more load would be for nothing."""
        return self._page[LIMIT] == 1

    def on(self, wake: Callable[[], object] = lambda: None, timeout_seconds: float = 30) -> None:
        """Start recording; returns when the program has seen it.

        Args:
            wake: called again and again meanwhile; makes the program's main thread do a system call.

        Raises:
            TesseraError: the program did not look in time.
        """
        self._turn(1, wake, timeout_seconds)

    def off(self, wake: Callable[[], object] = lambda: None, timeout_seconds: float = 30) -> None:
        """Stop recording; like :meth:`on`."""
        self._turn(0, wake, timeout_seconds)

    def _turn(self, value: int, wake: Callable[[], object], timeout_seconds: float) -> None:
        self._page[ASKED] = value
        if not self.attached:
            return
        end = time.monotonic() + timeout_seconds
        while self._page[STATE] != value and not self.limit_reached:
            if time.monotonic() > end:
                raise TesseraError(
                    f"switch recording {'on' if value else 'off'}",
                    f"the program's main thread made no system call for {timeout_seconds:g} s",
                    "give it work, or record it with --roi skip:N",
                    exit_code=EXIT_FAILED,
                )
            wake()
            time.sleep(POLL_SECONDS)
