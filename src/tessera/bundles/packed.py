"""Counts in gzip form: always the same bytes for the same counts, and a limit for what is unpacked."""

from __future__ import annotations

import gzip
import zlib

from tessera.bundles import names
from tessera.bundles.contents import LARGEST_FILE
from tessera.bundles.wrong import wrong
from tessera.core.units import MB


def pack(data: bytes) -> bytes:
    """Without name and time, so that equal counts have equal sums."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def unpack(data: bytes) -> bytes:
    """The counts; TesseraError if the file is damaged, has something behind its end, or is too large."""
    if data[3:8] not in (b"", bytes(5)):
        raise wrong(names.PACKED, "its header has a name, a time or a comment", "gzip")
    stream = zlib.decompressobj(wbits=31)
    try:
        found = stream.decompress(data, LARGEST_FILE + 1)
    except zlib.error as error:
        raise wrong(names.PACKED, f"not a gzip file that can be read: {error}", "gzip") from None
    if len(found) > LARGEST_FILE:
        raise wrong(names.PACKED, f"more than {LARGEST_FILE // MB} MB when unpacked", "size")
    if not stream.eof or stream.unused_data:
        found = "it is cut off" if not stream.eof else "it has bytes behind its end"
        raise wrong(names.PACKED, found, "gzip")
    return found
