"""Whether a file is still the one that was read, so that gigabytes are hashed once and not at every look."""

from __future__ import annotations

import time
from pathlib import Path

#: Times of files are coarse: a second write soon after the first one may have the same time.
SETTLED_NS = 1_000_000_000


def stamp(path: Path) -> list[int]:
    """What changes when somebody writes or replaces the file: inode, size in bytes, mtime and ctime in ns."""
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def settled(path: Path, before: list[int]) -> list[int] | None:
    """The stamp to keep after reading, or None: the file must be read again the next time.

    Args:
        path: the file that was read.
        before: its stamp when reading began. A file that has changed since gets none. Neither does one that
            was written less than :data:`SETTLED_NS` ago.
    """
    old = time.time_ns() - max(before[2:]) > SETTLED_NS
    return before if old and stamp(path) == before else None
