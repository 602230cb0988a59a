"""What a foreign file is packed in, by its content, because names differ (``.trace``, ``.XZ``, ``.txz``).

One stream of a compressor (xz, gzip, bzip2, lzma; several members are one stream) is read. Archives and other
compressors are refused with the command that unpacks them.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from tessera.core.errors import TesseraError

#: Errors of a damaged or cut stream.
DAMAGED = (OSError, EOFError, lzma.LZMAError, zlib.error)
_TAR_BYTES = 512  # its first block, which has a checksum of itself
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Packing:
    """A form of packing, and how its first bytes look; ``command`` unpacks FILE.

    ``decoder`` decompresses one stream; it is there where the opener ignores what follows and is no stream.
    """

    name: str
    marks: tuple[bytes, ...]
    command: str
    opener: Callable[..., BinaryIO] | None = None  #: None: it is refused
    decoder: Callable[[], Any] | None = None


#: Read: their marks could also be the first bytes of plain records, so a trial decides.
STREAMS = (
    Packing("xz", (b"\xfd7zXZ\0",), "xz -dk FILE", lzma.open, partial(lzma.LZMADecompressor, lzma.FORMAT_XZ)),
    Packing("gzip", (b"\x1f\x8b\x08",), "gzip -dk FILE", gzip.open),
    Packing("bzip2", (b"BZh",), "bzip2 -dk FILE", bz2.open, bz2.BZ2Decompressor),
    Packing(
        "lzma",
        (b"\x5d\0\0",),
        "xz -dk --format=lzma FILE",
        lzma.open,
        partial(lzma.LZMADecompressor, lzma.FORMAT_ALONE),
    ),
)
_ZIP = Packing("zip archive", (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"), "unzip FILE")
_TAR = Packing("tar archive", (), "tar -xf FILE")
REFUSED = (
    _ZIP,
    Packing("7z archive", (b"7z\xbc\xaf\x27\x1c",), "7z x FILE"),
    Packing("rar archive", (b"Rar!\x1a\x07",), "unrar x FILE"),
    Packing(
        "zstd file",
        (b"\x28\xb5\x2f\xfd", *(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60))),
        "zstd -d FILE",
    ),
    Packing("lz4 file", (b"\x04\x22\x4d\x18", b"\x02\x21\x4c\x18"), "lz4 -d FILE"),
    Packing("lzip file", (b"LZIP",), "lzip -dk FILE"),
    Packing("file of compress (.Z)", (b"\x1f\x9d",), "uncompress FILE"),
)


def packing_of(path: Path) -> Packing | None:
    """How the records in ``path`` are compressed; None for plain records.

    Raises:
        TesseraError: an archive, a compressor that is not read, or two of them in each other.
    """
    with path.open("rb") as file:
        begin = file.read(_TAR_BYTES)
    if _is_record(begin) and not any(
        _unpacks(path, form) for form in STREAMS if begin.startswith(form.marks)
    ):
        return None
    form = next((form for form in STREAMS if begin.startswith(form.marks)), None)
    if form is None:
        if refused := _refused_form(begin):
            raise _refuse(path, f"the file is a {refused.name}", refused.command)
        return None
    inner = _first_bytes(path, form)
    if refused := _refused_form(inner):
        second = refused.command.replace("FILE", "the result")
        command = "tar -xf FILE" if refused is _TAR else f"{form.command}, then {second}"
        raise _refuse(path, f"the file is a {refused.name} in {form.name} compression", command)
    again = next((f for f in STREAMS if inner.startswith(f.marks) and not _is_record(inner)), None)
    if again is not None:
        raise _refuse(path, f"the file is compressed twice, {again.name} in {form.name}", form.command)
    return form


def unpacked(path: Path, form: Packing) -> Iterator[bytes]:
    """The content of all streams in ``path``, in parts; zeros between and behind streams are padding.

    Raises:
        One of DAMAGED: a stream is damaged or cut, or what follows a stream is none.
    """
    if form.decoder is None:
        with form.opener(path, "rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk
        return
    decoder, data = form.decoder(), b""
    with path.open("rb") as file:
        while True:
            if decoder.eof:
                data = decoder.unused_data
                while not (data := data.lstrip(b"\0")):
                    if not (data := file.read(_CHUNK)):
                        return
                decoder = form.decoder()
            elif decoder.needs_input and not (data := file.read(_CHUNK)):
                raise EOFError("the file ended before the end of the stream")
            yield decoder.decompress(data, _CHUNK)
            data = b""


def _refuse(path: Path, found: str, command: str) -> TesseraError:
    shown = command.replace("FILE", path.name)
    remedy = f"unpack it and import what comes out: {shown}"
    return TesseraError(f"import {path}", found, remedy, code="trace-packed")


def _refused_form(begin: bytes) -> Packing | None:
    if _is_record(begin):
        return None
    form = next((form for form in REFUSED if begin.startswith(form.marks)), None)
    return form or (_TAR if _is_tar(begin) else None)


def _is_tar(begin: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(begin[:_TAR_BYTES], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _is_zip_member(begin: bytes) -> bool:
    """A member's name has no control characters; records have the zeros of an address in its place."""
    name = begin[30 : 30 + int.from_bytes(begin[26:28], "little")]
    return begin.startswith(_ZIP.marks[0]) and name != b"" and min(name) >= ord(" ")


def _is_record(begin: bytes) -> bool:
    """Whether the first 64 bytes can be a record: flags of 0 or 1, an instruction's address below 2^48.

    So can the head of an archive, by its first bytes: a short name, or a member that is only stored.
    """
    if len(begin) < 64 or _is_tar(begin) or _is_zip_member(begin):
        return False
    address, is_branch, taken = struct.unpack_from("<QBB", begin)
    return 0 < address < 1 << 48 and taken <= is_branch <= 1


def _first_bytes(path: Path, form: Packing) -> bytes:
    """The first bytes that come out; fewer if the file is damaged, which the one who reads it all reports."""
    try:
        with form.opener(path, "rb") as stream:
            return stream.read(_TAR_BYTES)
    except DAMAGED:
        return b""


def _unpacks(path: Path, form: Packing) -> bool:
    """Whether ``path`` is of this form by its content: the first bytes come out without an error."""
    try:
        with form.opener(path, "rb") as stream:
            stream.read(1 << 16)
    except DAMAGED:
        return False
    return True
