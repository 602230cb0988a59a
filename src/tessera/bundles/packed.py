"""Counts in gzip form: always the same bytes for the same counts, and a limit for what is unpacked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

from tessera.bundles import limits, names
from tessera.bundles.wrong import wrong
from tessera.core.units import KB, MB

_PIECE = 64 * KB  #: packed bytes that are handled at a time


def pack(data: bytes) -> bytes:
    """Without name and time, so that equal counts have equal sums."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def unpack(data: bytes) -> bytes:
    """The counts; raises as :func:`unpacked`."""
    return b"".join(unpacked(data))


def unpacked(data: bytes) -> Iterator[bytes]:
    """The counts in pieces of at most 1MB, so that they are never in memory together.

    Raises:
        TesseraError: the file is damaged, has something behind its end, or is too large.
    """
    if data[3:8] not in (b"", bytes(5)):
        raise wrong(names.PACKED, "its header has a name, a time or a comment", "gzip")
    stream, total = zlib.decompressobj(wbits=31), 0
    most = min(limits.UNPACKED, limits.RATIO * len(data) + limits.RATIO_FROM)
    for start in range(0, len(data), _PIECE):
        rest = data[start : start + _PIECE]
        while rest and not stream.eof:
            try:
                found = stream.decompress(rest, MB)
            except zlib.error as error:
                raise wrong(names.PACKED, f"not a gzip file that can be read: {error}", "gzip") from None
            rest, total = stream.unconsumed_tail, total + len(found)
            if total > most:
                raise limits.too_large(names.PACKED, f"more than {most} bytes when unpacked")
            yield found
        if stream.eof and (stream.unused_data or start + _PIECE < len(data)):
            raise wrong(names.PACKED, "it has bytes behind its end", "gzip")
    if not stream.eof:
        raise wrong(names.PACKED, "it is cut off", "gzip")
