"""A process, said so that another one can tell whether it is still at work, also from another machine."""

from __future__ import annotations

import os
import secrets
import socket
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Holder:
    """Who holds a lock; ``started`` is in clock ticks since boot, as the kernel gives it."""

    host: str
    boot: str
    processes: str  #: the namespace that ``pid`` belongs to: a container's differs from its host's
    pid: int
    started: int
    since: str
    token: str

    def is_near(self, other: Holder) -> bool:
        """Whether each can look the other's process up."""
        return (self.boot, self.processes) == (other.boot, other.processes)

    def is_same_process(self, other: Holder) -> bool:
        """Whether both are one process, whatever program it runs by now."""
        return self.is_near(other) and (self.pid, self.started) == (other.pid, other.started)

    def lives(self) -> bool:
        """Whether its process is at work; asked of one that is near."""
        return _started(self.pid) == self.started


def here() -> Holder:
    """This process, with a new token."""
    return Holder(
        host=socket.gethostname(),
        boot=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        processes=os.readlink("/proc/self/ns/pid"),
        pid=os.getpid(),
        started=_started(os.getpid()) or 0,
        since=time.strftime("%Y-%m-%d %H:%M:%S"),
        token=secrets.token_hex(8),
    )


def _started(pid: int) -> int | None:
    """When a process started, None if there is none or it only waits to be reaped.

    Not ``psutil.Process(pid).create_time()``: that adds the time of boot, which changes when the clock is
    set, so a live process could seem to be another one. Ticks since boot never change.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ValueError):
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])
