"""The use of libmosalloc's pools, for error messages; fields as in mosalloc/pool_map.h."""

from __future__ import annotations

import struct
from pathlib import Path

from tessera.core.units import MB, format_bytes

_MAGIC = b"POOLMAP"  # and a digit: what is read here is at the same place in all versions
_HEAD = struct.Struct("<5Q")
_POOL = struct.Struct("<6Q")
#: Behind the file pool, 14 counts of calls and 16 counters: failed requests of each pool, then the largest.
_FULL, _FULL_OFFSET = struct.Struct("<6Q"), _HEAD.size + 3 * _POOL.size + 8 * (14 * 3 + 16)
_NAMES = {"heap pool": "--heap-pool", "anonymous pool": "--anon-pool"}


def pool_usage(path: Path) -> str:
    """`` (heap pool: x of y used; anonymous pool: ...)``, or nothing when there is no map."""
    parts = [
        f"{name}: {format_bytes(used)} of {format_bytes(size)} used"
        for name, (_, _, size, used, *_) in zip(_NAMES, _pools(path), strict=False)
    ]
    return f" ({'; '.join(parts)})" if parts else ""


def full_pools(path: Path) -> list[str]:
    """For each pool that refused a request: the option with a size that would have been enough."""
    pools = _pools(path)
    if not pools:
        return []
    data = path.read_bytes()
    if len(data) < _FULL_OFFSET + _FULL.size:
        return []
    refused = _FULL.unpack_from(data, _FULL_OFFSET)
    found = []
    for kind, (option, (_, _, size, used, *_)) in enumerate(zip(_NAMES.values(), pools, strict=True)):
        # A request for the heap names the new break; 0: each was larger than this machine's memory.
        calls, largest = refused[kind], refused[3 + kind]
        if calls and largest:
            enough = largest if kind == 0 else used + largest
            found.append(f"{option} {-(-max(enough, size) // MB)}MB")
    return found


def _pools(path: Path) -> list[tuple[int, ...]]:
    """The fields of both pools that have mosaics; none when there is no map."""
    try:
        data = path.read_bytes()
        if not data.startswith(_MAGIC):
            return []
        return [_POOL.unpack_from(data, _HEAD.size + i * _POOL.size) for i in range(len(_NAMES))]
    except (OSError, struct.error):
        return []
