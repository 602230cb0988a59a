"""How large the directory of a zip file is, before ``zipfile`` makes an object of each of its entries.

A zip file of 64MB can have a million entries, which take a gigabyte of memory.
"""

from __future__ import annotations

import os
import struct
from typing import BinaryIO

#: APPNOTE.TXT 4.3.16, 4.3.15 and 4.3.14: ends of the directory, the latter two of zip64.
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LONGEST_COMMENT = (1 << 16) - 1
_ENTRY_BYTES = 400  #: of an entry in the directory, with its name and times


def too_large(stream: BinaryIO, most: int) -> str:
    """What is wrong with a directory of more than ``most`` entries; empty if nothing is.

    The end is found as ``zipfile`` finds it: without a comment, else by its last signature. Without an end,
    ``zipfile`` gives the error.
    """
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _END.size - _LONGEST_COMMENT - _LOCATOR.size - _END64.size))
    tail = stream.read()
    at = len(tail) - _END.size
    if at < 0 or not tail.startswith(b"PK\x05\x06", at) or not tail.endswith(b"\0\0"):
        at = tail.rfind(b"PK\x05\x06")
    if not 0 <= at <= len(tail) - _END.size:
        return ""
    entries, directory = _END.unpack_from(tail, at)[4:6]
    at -= _LOCATOR.size + _END64.size
    if at >= 0 and tail.startswith(b"PK\x06\x07", at + _END64.size) and tail.startswith(b"PK\x06\x06", at):
        entries, directory = _END64.unpack_from(tail, at)[7:9]
    if entries <= most and directory <= most * _ENTRY_BYTES:
        return ""
    return f"{entries} entries in a directory of {directory} bytes; it has at most {most}"
