"""How full libmosalloc's pools were, for error messages; fields as in mosalloc/pool_map.h."""

from __future__ import annotations

import struct
from pathlib import Path

from tessera.units import format_bytes

_MAGIC = 0x3150414D4C4F4F50
_HEAD = struct.Struct("<5Q")
_POOL = struct.Struct("<6Q")


def pool_usage(path: Path) -> str:
    """`` (heap pool: x of y used; anonymous pool: ...)``, or nothing when there is no map."""
    try:
        data = path.read_bytes()
        if _HEAD.unpack_from(data)[0] != _MAGIC:
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
