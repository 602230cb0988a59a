"""Peak memory of a recorded program, read from /proc while it runs.

QEMU may run in a container whose processes are no children of ours, so it is found by its name and by a word
of its command line or of its table of mounts that no other process has. (Programs with fixed names of files
have the recording's folder in their mounts only.) Without such a process (an engine in another machine, or a
results folder on a file system of its own) nothing is known. psutil 7 does not read VmHWM.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from tessera.record.traces.guest import QEMU

INTERVAL_SECONDS = 0.5


class PeakMemory:
    """``with PeakMemory(word) as peak: ...`` leaves bytes, or None, in ``peak.bytes``."""

    def __init__(self, word: str, proc: Path = Path("/proc"), name: str = QEMU):
        self.bytes: int | None = None
        self._word, self._proc, self._name = word.encode(), proc, name
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(INTERVAL_SECONDS):
            self.look()

    def _texts(self, process: Path) -> Iterator[Path]:
        return (file for name in ("cmdline", "mountinfo") if (file := process / name).exists())

    def look(self) -> None:
        """Read VmHWM, the kernel's own record of the peak, of every process that matches."""
        for process in self._proc.glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):  # it may end at any moment
                if not self._name.startswith((process / "comm").read_text().strip()):
                    continue  # the kernel keeps 15 characters of a name
                if not any(self._word in file.read_bytes() for file in self._texts(process)):
                    continue
                _, _, peak_kb = (process / "status").read_text().partition("VmHWM:")
                if peak_kb:  # a process that is ending has lost its memory, and this line
                    self.bytes = max(self.bytes or 0, int(peak_kb.split()[0]) << 10)
