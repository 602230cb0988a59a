"""The use of libmosalloc's pools, for error messages; fields as in mosalloc/pool_map.h."""

from __future__ import annotations

import struct
from pathlib import Path

from tessera.core.units import format_bytes

_MAGIC = b"POOLMAP"  # and a digit: what is read here is at the same place in all versions
_HEAD = struct.Struct("<5Q")
_POOL = struct.Struct("<6Q")


def pool_usage(path: Path) -> str:
    """`` (heap pool: x of y used; anonymous pool: ...)``, or nothing when there is no map."""
    try:
        data = path.read_bytes()
        if not data.startswith(_MAGIC):
            return ""
        pools = [_POOL.unpack_from(data, _HEAD.size + i * _POOL.size) for i in range(2)]
    except (OSError, struct.error):
        return ""
    names = ("heap pool", "anonymous pool")
    parts = [
        f"{names[kind]}: {format_bytes(used)} of {format_bytes(size)} used"
        for kind, _, size, used, *_ in pools
        if kind < len(names)
    ]
    return f" ({'; '.join(parts)})"
