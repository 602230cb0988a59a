"""The lock of a results folder, which one run holds at a time, and the process that holds it."""

from __future__ import annotations

import atexit
import errno
import json
import os
import secrets
import socket
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import refused_by_system
from tessera.core.processes import start_ticks
from tessera.core.results.tree import LOCK

# The holder: a process, written so that another one can tell whether it is still at work, also from another
# machine.


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
        try:
            return start_ticks(self.pid) == self.started
        except OSError:
            return True  # nobody knows


def this_process() -> Holder:
    """This process, with a new token."""
    return Holder(
        host=socket.gethostname(),
        boot=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
        processes=os.readlink("/proc/self/ns/pid"),
        pid=os.getpid(),
        started=start_ticks(os.getpid()) or 0,
        since=time.strftime("%Y-%m-%d %H:%M:%S"),
        token=secrets.token_hex(8),
    )


# The lock allows one run of a results folder at a time, also if several machines share the folder.
#
# It is the file ``.lock`` in the folder. It is created by a hard link, which is atomic on file
# servers. It contains its holder: machine, boot, process, and start of the process. On the same machine, a
# new run looks up this process and removes the lock if the process has died. Of a holder on another machine,
# only the last beat is known (the holder sets the time of the file every :data:`BEAT_SECONDS`), so its lock
# is never removed; the error message has the command that removes it.

BEAT_SECONDS = 30
#: A holder from before the last boot of this machine is dead after so many seconds without a beat.
SILENT_SECONDS = 4 * BEAT_SECONDS
#: Removing the lock of a dead holder takes milliseconds; after so many seconds, the remover is dead, too.
BREAKING_SECONDS = 10


class RunLock:
    """The lock of a results folder: ``hold()`` until this process ends, or ``take()`` and ``release()``."""

    def __init__(self, results: Path, name: str = LOCK):
        self.results, self.path = results, (results / name).absolute()
        self._token = ""

    def hold(self) -> None:
        """Take the lock until this process ends, with a beat. Does nothing if this process holds it.

        Raises:
            TesseraError: another run holds it, the folder cannot be written, or its file system has no hard
                links.
        """
        self.take()
        pid = os.getpid()
        atexit.register(lambda: self.release() if os.getpid() == pid else None)
        threading.Thread(target=self._beat, daemon=True).start()

    def take(self) -> None:
        """Take the lock, also from a dead holder; see :meth:`hold`."""
        mine = this_process()
        candidate = self.path.with_name(f"{self.path.name}.{mine.token}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with candidate.open("x") as stream:
                json.dump(asdict(mine), stream)
                stream.flush()
                os.fsync(stream.fileno())  # so that a power failure leaves no empty lock
        except OSError as error:
            with suppress(OSError):
                candidate.unlink()
            error.filename = str(self.results)
            raise refused_by_system(error) from None
        try:
            self._token = self._take(mine, candidate)
        finally:
            candidate.unlink(missing_ok=True)

    def _take(self, mine: Holder, candidate: Path) -> str:
        give_up = time.monotonic() + BREAKING_SECONDS
        while not _linked(candidate, self.path):
            other = self.holder()
            if other is None:
                continue  # released in between
            if other.is_same_process(mine):
                return other.token
            if not self._dead(other, mine, candidate) or time.monotonic() > give_up:
                raise self._refusal(other, mine)
            self._remove(other)
        return mine.token

    def _remove(self, dead: Holder) -> None:
        """Remove the lock of a dead holder, under a second lock, so that no new lock is removed."""
        turn = RunLock(self.results, f"{self.path.name}.{dead.token}")
        try:
            turn.take()
        except TesseraError:  # another process removes it
            time.sleep(0.05)
            return
        try:
            if (now := self.holder()) and now.token == dead.token:
                self.path.unlink()
        finally:
            turn.release()

    def holder(self) -> Holder | None:
        """The holder of the lock, or None.

        Raises:
            TesseraError: the file is damaged.
        """
        try:
            return Holder(**json.loads(self.path.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            raise TesseraError(
                f"the lock of {self.results}", f"{self.path} does not name its holder", self._by_hand(),
                exit_code=EXIT_FAILED,
            ) from None  # fmt: skip

    def release(self) -> None:
        """Release the lock; does nothing if this object does not hold it any more."""
        with suppress(TesseraError):
            if self._token and (now := self.holder()) and now.token == self._token:
                self.path.unlink(missing_ok=True)
        self._token = ""

    def alive(self) -> Holder | None:
        """The holder, if its process runs on this machine."""
        other = None
        with suppress(TesseraError):
            other = self.holder()
        return other if other and other.is_near(this_process()) and other.lives() else None

    def _dead(self, other: Holder, mine: Holder, candidate: Path) -> bool:
        if other.is_near(mine):
            return not other.lives()
        if other.host == mine.host and other.boot != mine.boot:
            return self._silent_seconds(candidate) > SILENT_SECONDS
        return False

    def _silent_seconds(self, newer: Path) -> float:
        """Seconds since the last beat, by the clock of the file server: the time of a new file."""
        try:
            return newer.stat().st_mtime - self.path.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def _beat(self) -> None:
        token = self._token
        while self._token == token:
            time.sleep(BEAT_SECONDS)
            with suppress(OSError, TesseraError):
                if (now := self.holder()) is None or now.token != token:
                    return
                os.utime(self.path)

    def _refusal(self, other: Holder, mine: Holder) -> TesseraError:
        where = "" if other.host == mine.host else f" on {other.host}"
        if other.is_near(mine):
            remedy = f"wait until it ends, or stop it: kill {other.pid}"
        else:
            with suppress(OSError):
                beat = time.strftime("%H:%M:%S", time.localtime(self.path.stat().st_mtime))
                where += f" (last beat at {beat}; it beats every {BEAT_SECONDS} s)"
            remedy = f"wait until it ends; if it has died, {self._by_hand()}"
        return TesseraError(
            f"a run of {self.results}",
            f"another run has used this folder since {other.since}: process {other.pid}{where}",
            remedy,
            exit_code=EXIT_FAILED,
        )

    def _by_hand(self) -> str:
        return f"check that no run uses it there, then: tessera dev unlock --results {self.results}"


#: Errors of link(2) on a file system that has hard links.
_NOT_OF_LINKS = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES, errno.EROFS}


def _linked(candidate: Path, path: Path) -> bool:
    """Whether the candidate has become the lock; also if the answer of the server was lost (two links)."""
    try:
        os.link(candidate, path)
    except FileExistsError:
        return candidate.stat().st_nlink == 2
    except OSError as error:
        if error.errno in _NOT_OF_LINKS:
            error.filename = str(path)
            raise refused_by_system(error) from None
        raise TesseraError(
            f"the lock {path}",
            f"the file system does not support hard links ({error.strerror})",
            "make results/ a symbolic link to a folder on another file system",
            code="lock-no-hard-links",
            exit_code=EXIT_FAILED,
        ) from None
    return True
