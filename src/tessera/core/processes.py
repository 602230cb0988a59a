"""How this package starts Python, names its processes, and cleans up when one is told to end."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

# A start that does not look into the current folder.
#
# ``python -m MODULE`` puts the current folder in front of the standard library. So a file ``json.py`` that
# anybody left in /tmp would be executed by the user who stands there, also by root. ``-P`` (Python 3.11)
# leaves the folder out. The variable PYTHONSAFEPATH would reach the programs of users, too, and those may
# import from their own folder.


def module_command(
    module: str, *arguments: str | os.PathLike[str], python: str = sys.executable
) -> list[str | os.PathLike[str]]:
    """The words that run ``module`` with ``arguments``, without the current folder on its path.

    Args:
        python: another interpreter, such as the one of an image.
    """
    return [python, "-P", "-m", module, *arguments]


# Clean-up that also happens when the process is told to end.

SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_raise() -> Iterator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit(128 + number), so that ``finally`` blocks run.

    Only the main thread can receive signals in Python; elsewhere this does nothing, and the main thread's
    own handling applies.
    """

    def on_signal(number, frame):
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, on_signal) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


# The name of a process in the names of its temporary files, by which later ones know that it has died.


@functools.cache
def _this_boot() -> tuple[str, str, str]:
    """Digests of the machine and of its boot, and the namespace that process numbers belong to."""
    identity = os.uname().nodename
    with suppress(OSError):  # nodes of a cluster may be clones with one machine-id, others have one host name
        identity += Path("/etc/machine-id").read_text()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    namespace = os.stat("/proc/self/ns/pid").st_ino
    machine, boot = (hashlib.sha256(text.encode()).hexdigest()[:8] for text in (identity, boot))
    return machine, boot, f"{namespace:x}"


def process_name() -> str:
    """Machine, boot, namespace, number and start of this process: hexadecimal digits, with ``-`` between.

    All names have one length: the length of paths and variables moves addresses in a recording.
    """
    return "-".join((*_this_boot(), f"{os.getpid():06x}", f"{start_ticks(os.getpid()) or 0:010x}"))


def has_died(name: str) -> bool:
    """Whether the process of this :func:`process_name` has certainly ended.

    False for processes of other machines and containers, which can't be looked up.
    """
    machine, boot, namespace, pid, ticks = name.split("-") if name.count("-") == 4 else ("",) * 5
    here = _this_boot()
    if machine != here[0]:
        return False
    if boot != here[1]:
        return True
    try:
        return namespace == here[2] and start_ticks(int(pid, 16)) != int(ticks, 16)
    except OSError:
        return False


def process_number(name: str) -> int:
    """The number of the process of a :func:`process_name`."""
    return int(name.split("-")[3], 16)


def start_ticks(pid: int) -> int | None:
    """When a process started, None if there is none or it only waits to be reaped.

    Not ``psutil.Process(pid).create_time()``: that adds the time of boot, which changes when the clock is
    set, so a live process could seem to be another one. Ticks since boot never change.

    Raises:
        OSError: it can't be looked up: it may be alive. For example there are too many open files, or it is
            another user's, which ``/proc`` can hide.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        with suppress(ProcessLookupError, OverflowError):
            os.kill(pid, 0)  # sends nothing; PermissionError: there is one
        return None
    return None if fields[0] in ("Z", "X") else int(fields[19])


# Whose work a process or a container does. A run's steps carry its mark in a variable, containers in a label.

#: Variable of the processes of a run.
MARK_VARIABLE = "TESSERA_RUN"


@dataclass(frozen=True)
class WorkMark:
    """The main process of a run, or a command that was started alone, by its name; and its checkout."""

    owner: str
    checkout: str

    def __str__(self) -> str:
        return f"{self.owner} {self.checkout}"

    @classmethod
    def parse(cls, text: str) -> WorkMark | None:
        """What :meth:`__str__` gave; None for another text."""
        found = re.fullmatch(r"([0-9a-f]+(?:-[0-9a-f]+){4}) (/.*)", text, re.DOTALL)
        return cls(found[1], found[2]) if found else None


def work_mark(checkout: Path) -> WorkMark:
    """The mark of the run that this process is a step of, else its own."""
    of_run = WorkMark.parse(os.environ.get(MARK_VARIABLE, ""))
    return of_run or WorkMark(process_name(), str(checkout))
