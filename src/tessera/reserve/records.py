"""What each live reservation added to the pools, on disk, so that ``kill -9`` can't leak it.

One file per reservation in ``.tessera/reserve/``, held locked by its owner: the kernel drops the lock when
the owner dies, however it dies, and whoever starts next takes back what an unlocked file says was added.
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

from tessera.paths import repo_root
from tessera.reserve.pools import huge_pages_total, set_total

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


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
    """A reservation's file; ``added`` maps a page size in bytes to the pages added."""

    def __init__(self):
        self.path = records_folder() / f"{uuid.uuid4().hex}.json"
        self._stream: IO[str] = self.path.open("w")
        fcntl.flock(self._stream, fcntl.LOCK_EX)
        self.added: dict[int, int] = {}

    def write(self) -> None:
        """Put ``added`` on disk, before the pools are touched."""
        self._stream.seek(0)
        self._stream.truncate()
        facts = {"boot_id": BOOT_ID.read_text().strip(), "pid": os.getpid(), "added": self.added}
        json.dump(facts, self._stream)
        self._stream.flush()

    def close(self) -> None:
        """Nothing is reserved any more."""
        self.path.unlink(missing_ok=True)
        self._stream.close()


def take_back(added: dict[int, int]) -> None:
    """Shrink the pools by what a reservation added; pages still in use go when they are freed."""
    for page_bytes, count in added.items():
        set_total(page_bytes, max(0, huge_pages_total(page_bytes) - count))


def restore_leftovers() -> dict[int, int]:
    """Take back what killed processes left reserved; returns page size in bytes -> pages."""
    restored: dict[int, int] = {}
    for path in records_folder().glob("*.json"):
        with path.open() as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # its owner lives
            with adjusting():
                for page_bytes, count in _added(stream.read()).items():
                    take_back({page_bytes: count})
                    restored[page_bytes] = restored.get(page_bytes, 0) + count
                path.unlink(missing_ok=True)
    return restored


def _added(content: str) -> dict[int, int]:
    """What a record says was added since this boot; an empty record's owner had added nothing yet."""
    if not content:
        return {}
    facts = json.loads(content)
    if facts["boot_id"] != BOOT_ID.read_text().strip():
        return {}
    return {int(size): count for size, count in facts["added"].items()}
