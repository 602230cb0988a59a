"""The file in which libmosalloc shows its pools (artifacts/mosalloc/include/mosalloc/pool_map.h)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

MAGIC = 0x3450414D4C4F4F50
ACTIVE = 1
_POOLS = ("brk", "mmap")
_HEAD, _POOL = 5, 6  #: words of 8 bytes: before the pools, and of each pool


@dataclass(frozen=True)
class PoolPlace:
    """One pool: virtual address of offset 0, reserved bytes, and end of the highest byte ever allocated."""

    pool: str
    base: int
    size_bytes: int
    used_bytes: int


def clear_pool_map(path: Path) -> None:
    """Forget the pools of a program whose process now executes another one; they are gone."""
    if path.exists():
        with path.open("r+b") as stream:
            stream.write(bytes(8))


def started(path: Path) -> bool:
    """libmosalloc has started in a program that had this file; false if it was not preloaded."""
    words = np.fromfile(path, dtype="<u8", count=_HEAD).tolist() if path.exists() else []
    return len(words) == _HEAD and (words[0], words[2]) == (MAGIC, ACTIVE)


def read_pool_map(path: Path, pid: int) -> list[PoolPlace]:
    """Both pools of a process; none if the library is not active in it."""
    words = np.fromfile(path, dtype="<u8", count=_HEAD + len(_POOLS) * _POOL).tolist()
    if len(words) < _HEAD + len(_POOLS) * _POOL or words[:3] != [MAGIC, pid, ACTIVE]:
        return []
    starts = range(_HEAD, len(words), _POOL)
    return [PoolPlace(_POOLS[words[at]], *words[at + 1 : at + 4]) for at in starts]
