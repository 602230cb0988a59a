"""What Tessera has changed on this machine: locks and records in one folder, for all checkouts.

``NAME.json`` is a record. It exists only while something is changed. Whoever reads or writes it holds the
lock ``NAME.lock``. It is replaced as a whole (:mod:`tessera.core.files`), so a killed process leaves the old
record or the new one. A record of an earlier boot is void: the changes ended with that boot.

Root's folder is ``/run/tessera``. Other users, who may change little, have one each in ``/run/lock`` or in
their runtime folder. Only its owner may write to it, because a record decides what root writes.
``$TESSERA_MACHINE_STATE`` names another folder, for tests.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shlex
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import publish, repo_root, write_text
from tessera.core.processes import start_ticks

Facts = TypeVar("Facts")

VARIABLE = "TESSERA_MACHINE_STATE"
ROOTS_FOLDER = Path("/run/tessera")
#: Parent of the folders of other users; it may be written by everybody.
USERS_FOLDERS = Path("/run/lock")
#: Differs at each boot. Not ``psutil.boot_time()``: that changes when the clock is set.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def say(text: str) -> None:
    """Tell the user what was found, on stderr."""
    print(f"tessera: {text}", file=sys.stderr, flush=True)


# The folder.


def state_folder() -> Path:
    """The folder of this user, created.

    Raises:
        TesseraError: it can't be created, or others can write to it (``machine-state``).
    """
    refused = []
    for place in _places():
        try:
            with contextlib.suppress(FileExistsError):
                place.mkdir(mode=0o700)
            _require_own(place)
            return place
        except OSError as error:
            refused.append(f"{place}: {error.strerror}")
    raise _unusable("; ".join(refused))


def _places() -> list[Path]:
    """Folders of this user, from the best one."""
    if VARIABLE in os.environ:
        return [Path(os.environ[VARIABLE])]
    user = os.geteuid()
    if user == 0:
        return [ROOTS_FOLDER]
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return [USERS_FOLDERS / f"tessera-{user}", *([Path(runtime) / "tessera"] if runtime else [])]


def _require_own(place: Path) -> None:
    """Raises OSError if it is no folder, or if another user owns it or can write to it."""
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(errno.EPERM, "another user owns it, or can write to it")


def _existing() -> Path | None:
    """The folder, if there is one."""
    for place in _places():
        with contextlib.suppress(OSError):
            _require_own(place)
            return place
    return None


def _unusable(found: str) -> TesseraError:
    return TesseraError(
        "record what is changed on this machine", found,
        "name a folder of yours: TESSERA_MACHINE_STATE=/FOLDER",
        exit_code=EXIT_FAILED, code="machine-state",
    )  # fmt: skip


# The locks.


@contextlib.contextmanager
def locked(name: str, *, wait: bool = True) -> Iterator[bool]:
    """Inside, this process has the lock. Without ``wait``: False if another one has it.

    The kernel drops the lock when its process ends, however it ends.

    Raises:
        TesseraError: the folder or its lock can't be used (``machine-state``).
    """
    stream = _lock_of(state_folder() / f"{name}.lock", wait)
    if stream is None:
        yield False
        return
    try:
        yield True
    finally:
        with contextlib.suppress(OSError):  # nothing was written
            stream.close()


def _lock_of(path: Path, wait: bool) -> IO | None:
    """The locked file. It is open for writing, which NFS needs for an exclusive lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with contextlib.ExitStack() as stack:
            stream = stack.enter_context(os.fdopen(descriptor, "r+"))
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                return None
            stack.pop_all()
            return stream
    except OSError as error:
        raise _unusable(f"{path}: {error.strerror}") from None


# The records.


def is_recorded(name: str) -> bool:
    """Whether there is a record; needs no lock, and creates nothing."""
    folder = _existing()
    return folder is not None and _record(folder, name).exists()


def read_record(name: str, parse: Callable[[dict[str, Any]], Facts], lost: str) -> Facts | None:
    """The record, parsed; None if there is none of this boot.

    A damaged record is moved aside, and the user is told.

    Args:
        parse: may raise ValueError, KeyError, TypeError or AttributeError: the record is damaged.
        lost: what follows from a damaged record, for the user.

    Raises:
        TesseraError: it can't be read (``machine-state``).
    """
    folder = _existing()
    if folder is None:
        return None
    path = _record(folder, name)
    try:
        facts = json.loads(path.read_bytes())
        if facts["boot_id"] == _boot_id():
            return parse(facts)
        path.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unusable(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        _move_aside(path, f"{path} is damaged ({type(error).__name__}: {error})", lost)
    return None


def read_unlocked(name: str) -> dict[str, Any]:
    """What another process has recorded, as far as it can be read: for messages only."""
    folder = _existing()
    try:
        facts = json.loads(_record(folder, name).read_bytes()) if folder else {}
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def write_record(name: str, facts: dict[str, Any]) -> None:
    """Replace the record, synced before it gets its name."""
    write_text(_record(state_folder(), name), json.dumps({"boot_id": _boot_id(), **facts}) + "\n")


def remove_record(name: str) -> None:
    """Nothing is changed any more."""
    _record(state_folder(), name).unlink(missing_ok=True)


def _move_aside(path: Path, found: str, lost: str) -> None:
    """Give a record another name, so that it is found once; tell the user."""
    aside = path.with_suffix(".damaged")
    try:
        publish(path, aside)
        say(f"{found}. It is now {aside}. {lost}")
    except TesseraError as error:
        say(f"{found}. It can't be moved aside: {error.found}. {lost}")


def _record(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def _boot_id() -> str:
    return BOOT_ID.read_text().strip()


# The owner of a change: a process, written so that another one can tell whether it lives.


@dataclass(frozen=True)
class Owner:
    """``started`` is in clock ticks since boot; ``processes`` is the namespace that ``pid`` belongs to."""

    pid: int
    started: int
    processes: str
    checkout: str
    since: str

    @classmethod
    def of(cls, pid: int) -> Owner:
        """A process of this checkout, from now on."""
        now = time.strftime("%Y-%m-%d %H:%M:%S %Z")
        return cls(pid, start_ticks(pid) or 0, _namespace(), str(repo_root()), now)

    @classmethod
    def parsed(cls, facts: dict[str, Any]) -> Owner:
        """Raises KeyError, TypeError or ValueError."""
        texts = [str(facts[name]) for name in ("processes", "checkout", "since")]
        return cls(int(facts["pid"]), int(facts["started"]), *texts)

    def lives(self) -> bool:
        """Whether it is at work; yes if that can't be looked up, as for a process of another container."""
        try:
            return self.processes != _namespace() or start_ticks(self.pid) == self.started
        except OSError:
            return True

    def __str__(self) -> str:
        try:
            words = Path(f"/proc/{self.pid}/cmdline").read_bytes().split(b"\0")[:-1]
        except OSError:
            words = []
        command = f" ({shlex.join(word.decode(errors='replace') for word in words)})" if words else ""
        return f"process {self.pid}{command} of {self.checkout}, since {self.since},"


def ancestors() -> set[int]:
    """This process, and those that started it."""
    found, pid = set(), os.getpid()
    while pid > 0 and pid not in found:
        found.add(pid)
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
            pid = int(fields[1])
        except OSError:
            break
    return found


def _namespace() -> str:
    return os.readlink("/proc/self/ns/pid")


# Records of earlier versions, in two folders of each checkout.


def say_earlier_records() -> None:
    """Tell the user about them. They are neither used nor moved.

    Programs in containers of those versions could write to a checkout, and root must not do what such a file
    or link says.
    """
    for folder in (repo_root() / ".tessera" / kind for kind in ("reserve", "settings")):
        if any(folder.glob("*.json")):
            say(
                f"{folder} has records of an earlier version, which are not used. If a run of it was killed "
                f"since this machine was started, huge pages or settings may still be changed: then restart "
                f"the machine. Afterwards: rm -r {shlex.quote(str(folder))}"
            )
