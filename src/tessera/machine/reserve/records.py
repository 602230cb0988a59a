"""What each reservation added to the pools, on disk, so that ``kill -9`` can't leak it.

One file per reservation in ``.tessera/reserve/``, held locked by its owner: the kernel drops the lock when
the owner dies, however it dies, and whoever starts next takes back what an unlocked file says was added.
A reservation that is to outlive its process says so (``kept``) and stays until :func:`release_kept`.
Adding and taking back are relative, so reservations may nest and overlap.
"""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tessera.core.paths import repo_root
from tessera.machine.reserve.pools import huge_pages_total, set_total

#: Differs at each boot. Not ``psutil.boot_time()``: that changes when the clock is set.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

#: A pool: the machine's pages of a size in bytes, or (size, NUMA node).
PoolKey = int | tuple[int, int]


def records_folder() -> Path:
    """``.tessera/reserve`` of the checkout, created."""
    folder = repo_root() / ".tessera" / "reserve"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def adjusting() -> Iterator[None]:
    """One change of the pools at a time."""
    with (records_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Record:
    """A reservation's file; ``added`` maps a pool to the pages added."""

    def __init__(self):
        self.path = records_folder() / f"{uuid.uuid4().hex}.json"
        # The file gets its name when it is locked: no one takes it for a killed process's.
        unfinished = self.path.with_suffix(".new")
        self._stream: IO[str] = unfinished.open("w")
        fcntl.flock(self._stream, fcntl.LOCK_EX)
        unfinished.rename(self.path)
        self.added: dict[PoolKey, int] = {}
        self.kept = False

    def write(self) -> None:
        """Put ``added`` on disk, before the pools are touched."""
        added = {_key_text(key): count for key, count in self.added.items()}
        facts = {"boot_id": BOOT_ID.read_text().strip(), "pid": os.getpid(), "added": added}
        self._stream.seek(0)
        self._stream.truncate()
        json.dump(facts | {"kept": True} if self.kept else facts, self._stream)
        self._stream.flush()

    def keep(self) -> None:
        """From now on the pages stay when this process ends, until :func:`release_kept`."""
        self.kept = True
        self.write()
        self._stream.close()

    def close(self) -> None:
        """Nothing is reserved any more."""
        self.path.unlink(missing_ok=True)
        self._stream.close()


def take_back(added: dict[PoolKey, int]) -> None:
    """Shrink the pools by what a reservation added; pages still in use go when they are freed."""
    for key, count in added.items():
        page_bytes, *node = key if isinstance(key, tuple) else (key,)
        set_total(page_bytes, max(0, huge_pages_total(page_bytes, *node) - count), *node)


def restore_leftovers() -> dict[int, int]:
    """Take back what killed processes left reserved; returns page size in bytes -> pages."""
    return _take_back_records(kept=False)


def release_kept() -> dict[int, int]:
    """Take back what was reserved to stay; returns page size in bytes -> pages."""
    return _take_back_records(kept=True)


def _take_back_records(kept: bool) -> dict[int, int]:
    """Take back all records of one kind whose owner does not live."""
    restored: dict[int, int] = {}
    for path in records_folder().glob("*.json"):
        with ownerless(path) as stream:
            if stream is None:
                continue
            facts = _facts(stream.read())
            if facts is not None and facts.get("kept", False) != kept:
                continue
            with adjusting():
                for text, count in facts["added"].items() if facts else ():
                    key = _key(text)
                    take_back({key: count})
                    page_bytes = key[0] if isinstance(key, tuple) else key
                    restored[page_bytes] = restored.get(page_bytes, 0) + count
                path.unlink(missing_ok=True)
    return restored


@contextmanager
def ownerless(path: Path) -> Iterator[IO[str] | None]:
    """The record, locked; None if its owner lives, or if its owner or another process has removed it."""
    try:
        stream = path.open()
    except FileNotFoundError:
        yield None
        return
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        # Opened before it was removed, locked after that: what it says has been taken back.
        yield stream if os.fstat(stream.fileno()).st_nlink else None


def _facts(content: str) -> dict | None:
    """A record of this boot, else None: an empty one's owner had added nothing, a reboot freed the rest."""
    facts = json.loads(content) if content else None
    return facts if facts and facts["boot_id"] == BOOT_ID.read_text().strip() else None


def _key_text(key: PoolKey) -> str:
    return f"{key[0]}@node{key[1]}" if isinstance(key, tuple) else str(key)


def _key(text: str) -> PoolKey:
    page_bytes, _, node = text.partition("@node")
    return (int(page_bytes), int(node)) if node else int(page_bytes)
