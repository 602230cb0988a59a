"""Byte sizes as people write them (``64MB``) and as programs write them (``67108864``); shares in per cent.

Powers of two throughout, as in the virtual-memory literature: 1KB = 1024 bytes.
"""

from __future__ import annotations

import re

from tessera.core.errors import TesseraError

KB = 1 << 10
MB = 1 << 20
GB = 1 << 30

PAGE_4KB = 4 * KB
PAGE_2MB = 2 * MB
PAGE_1GB = GB
PAGE_SIZES = (PAGE_4KB, PAGE_2MB, PAGE_1GB)

_SUFFIXES = {"": 1, "B": 1, "KB": KB, "MB": MB, "GB": GB, "TB": GB << 10}
_PATTERN = re.compile(r"^\s*(\d+)\s*([KMGT]?I?B?)\s*$", re.IGNORECASE)


def parse_bytes(text: str | int, *, owner: str = "size") -> int:
    """Bytes of ``64MB``, ``64MiB``, ``64M`` or ``67108864``; ``owner`` names the value in the error."""
    if isinstance(text, int) and not isinstance(text, bool):
        if text < 0:
            raise TesseraError(f"{owner} {text}", "a size can't be negative", "give bytes or 64MB")
        return text
    match = _PATTERN.match(str(text))
    if match:
        unit = match.group(2).upper().replace("I", "")
        unit = unit if unit in _SUFFIXES else unit + "B"
        if unit in _SUFFIXES:
            return int(match.group(1)) * _SUFFIXES[unit]
    raise TesseraError(
        f"{owner} '{text}'",
        "not a size",
        "write bytes or a number with KB, MB, GB: 4096, 64MB, 2GB",
    )


def format_bytes(count: int) -> str:
    """The shortest exact form: ``64MB``, ``4KB``, ``1000B``."""
    for suffix, unit in (("TB", GB << 10), ("GB", GB), ("MB", MB), ("KB", KB)):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{suffix}"
    return f"{count}B"


def round_up(count: int, unit: int) -> int:
    """Smallest multiple of ``unit`` that is at least ``count``."""
    return -(-count // unit) * unit


def percent_text(fraction: float, digits: int | None = None) -> str:
    """``0.0123`` as ``1.2%``; as many digits as are worth reading."""
    value = 100 * fraction
    if digits is None:
        size = abs(value)
        digits = 0 if size >= 10 else 1 if size >= 1 else 2
    return f"{value:.{digits}f}%"
