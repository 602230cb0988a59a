"""One run of a results folder at a time, also where several machines share the folder.

The lock is the file ``.lock`` in the folder. It is made by a hard link, which file servers make atomically,
and says who holds it: machine, boot, process and that process's start. What has died stands in nobody's way:
on the same machine its process is looked up. Of other machines only the last beat is known (the holder sets
the file's time every :data:`BEAT_SECONDS`), so their locks are never broken, but refused with how to remove
them.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.pipeline.holder import Holder, here
from tessera.results.tree import LOCK

BEAT_SECONDS = 30
#: After so long without a beat, a holder from before this machine's last start is dead.
SILENT_SECONDS = 4 * BEAT_SECONDS
#: Removing a dead holder's lock takes milliseconds; after so long, whoever does it is dead, too.
BREAKING_SECONDS = 10


class RunLock:
    """The lock of a results folder: ``hold()`` for the rest of this process, or ``take()`` and
    ``release()``."""

    def __init__(self, results: Path, name: str = LOCK):
        self.results, self.path = results, (results / name).absolute()
        self._token = ""

    def hold(self) -> None:
        """Take the lock until this process ends; it beats meanwhile. Holding it already is fine.

        Raises:
            TesseraError: another run holds it, or the file system has no hard links.
        """
        self.take()
        pid = os.getpid()
        atexit.register(lambda: self.release() if os.getpid() == pid else None)
        threading.Thread(target=self._beat, daemon=True).start()

    def take(self) -> None:
        """Take the lock, from a dead holder if need be; see :meth:`hold`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mine = here()
        candidate = self.path.with_name(f"{self.path.name}.{mine.token}.new")
        with candidate.open("x") as stream:
            json.dump(asdict(mine), stream)
            stream.flush()
            os.fsync(stream.fileno())  # else a power failure could leave a lock without words
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
        """Remove a dead holder's lock. Who does it locks that, so that nobody removes its successor's."""
        turn = RunLock(self.results, f"{self.path.name}.{dead.token}")
        try:
            turn.take()
        except TesseraError:  # somebody else is at it
            time.sleep(0.05)
            return
        try:
            if (now := self.holder()) and now.token == dead.token:
                self.path.unlink()
        finally:
            turn.release()

    def holder(self) -> Holder | None:
        """Who holds the lock, None if nobody does.

        Raises:
            TesseraError: the file does not say.
        """
        try:
            return Holder(**json.loads(self.path.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError):
            raise TesseraError(
                f"the lock of {self.results}", f"{self.path} does not say who holds it", self._by_hand(),
                exit_code=EXIT_FAILED,
            ) from None  # fmt: skip

    def release(self) -> None:
        """Give the lock back; nothing happens if it is not ours any more."""
        with suppress(TesseraError):
            if self._token and (now := self.holder()) and now.token == self._token:
                self.path.unlink(missing_ok=True)
        self._token = ""

    def alive(self) -> Holder | None:
        """The holder, if it is known to be at work on this machine."""
        other = None
        with suppress(TesseraError):
            other = self.holder()
        return other if other and other.is_near(here()) and other.lives() else None

    def _dead(self, other: Holder, mine: Holder, candidate: Path) -> bool:
        if other.is_near(mine):
            return not other.lives()
        if other.host == mine.host and other.boot != mine.boot:
            return self._silent_seconds(candidate) > SILENT_SECONDS
        return False

    def _silent_seconds(self, newer: Path) -> float:
        """Seconds since the last beat, by the file server's clock: that of a file just made."""
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
            remedy = f"wait for its end, or stop it: kill {other.pid}"
        else:
            with suppress(OSError):
                beat = time.strftime("%H:%M:%S", time.localtime(self.path.stat().st_mtime))
                where += f" (last sign of life: {beat}, one every {BEAT_SECONDS} s)"
            remedy = f"wait for its end; if it has died, {self._by_hand()}"
        return TesseraError(
            f"a run of {self.results}",
            f"another one is at work since {other.since}: process {other.pid}{where}",
            remedy,
            exit_code=EXIT_FAILED,
        )

    def _by_hand(self) -> str:
        return (
            f"make sure that no run is at work there, then: tessera pipeline unlock --results {self.results}"
        )


def _linked(candidate: Path, path: Path) -> bool:
    """Whether the candidate has become the lock; also where the server's answer was lost (two links)."""
    try:
        os.link(candidate, path)
    except FileExistsError:
        return candidate.stat().st_nlink == 2
    except OSError as error:
        raise TesseraError(
            f"the lock {path}",
            f"its file system makes no hard links ({error.strerror})",
            "put the results on one that does: make results/ a link to a folder there",
            exit_code=EXIT_FAILED,
        ) from None
    return True
