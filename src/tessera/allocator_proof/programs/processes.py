"""Run programs so that none is left behind, however they fork.

The worker is a subreaper (prctl(2)): whatever its programs start stays among its descendants, also
daemons that changed their session, and can be found and killed there.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36

#: Seconds that killed processes get to vanish; the kernel must free their memory first.
VANISH_SECONDS = 10


def become_subreaper() -> None:
    """Orphans of this process's programs become its children."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def descendants(pid: int) -> list[int]:
    """Living processes below ``pid``, zombies left out."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            # The name (field 2) may hold spaces and parentheses; state and parent follow the last one.
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        if state not in "ZX":
            children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def kill_below(pid: int) -> list[int]:
    """Kill all descendants of ``pid``, wait until they have exited, and return them."""
    killed: set[int] = set()
    end = time.monotonic() + VANISH_SECONDS
    while (left := descendants(pid)) and time.monotonic() < end:
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(process)
        time.sleep(0.02)
    _reap_orphans()
    return sorted(killed)


def _reap_orphans() -> None:
    """Reap children whose parent does not wait for them."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass
