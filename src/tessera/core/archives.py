"""Take chosen files out of a zip or tar archive that is not trusted, if its directory is not too large."""

from __future__ import annotations

import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, cast

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import GB, MB

# How large the directory of a zip file is, before ``zipfile`` makes an object of each of its entries.
#
# A zip file of 64MB can have a million entries, which take a gigabyte of memory.

#: APPNOTE.TXT 4.3.16, 4.3.15 and 4.3.14: ends of the directory, the latter two of zip64.
_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_LONGEST_COMMENT = (1 << 16) - 1
_ENTRY_BYTES = 400  #: of an entry in the directory, with its name and times


def directory_too_large(stream: IO[bytes], most: int) -> str:
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


# Take chosen files out of a zip or tar archive that is not trusted.
#
# An archive is rejected if any name in it is absolute or leads out of the folder, if a chosen entry is a
# link or a device, or if it has more entries or bytes than :class:`ArchiveLimits` allows. Bytes are counted
# as they come out, so a header with a wrong size has no effect.

ARCHIVE_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_CHUNK_BYTES = 64 * 1024
#: What the libraries raise at damage; RuntimeError is zipfile's word for an encrypted entry.
_UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)


@dataclass(frozen=True)
class ArchiveLimits:
    """Limits for one archive: its entries, bytes read (tar), bytes written."""

    entries: int = 200_000
    passed_bytes: int = 64 * GB
    written_bytes: int = 64 * MB


def is_archive(path: Path) -> bool:
    """By the name's end."""
    return path.name.lower().endswith(ARCHIVE_SUFFIXES)


def unpack(
    archive: Path,
    folder: Path,
    choose: Callable[[PurePosixPath], PurePosixPath | None],
    limits: ArchiveLimits = ArchiveLimits(),  # noqa: B008 - frozen
) -> list[Path]:
    """Write each entry for which ``choose(name)`` gives a path to that path below ``folder``.

    Raises:
        TesseraError: not an archive, damaged, or one that breaks the rules above; ``code`` is
            ``archive-unreadable``, ``archive-unsafe-name``, ``archive-link`` or ``archive-too-large``.
    """
    written = []
    for target, data in _chosen(archive, choose, limits):
        out = folder / target
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_bytes(data)
        written.append(out)
    return written


def _chosen(
    archive: Path, choose: Callable[[PurePosixPath], PurePosixPath | None], limits: ArchiveLimits
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Path below the folder and bytes of each chosen entry; only what the archive does is its fault."""
    total = 0
    try:
        for name, plain, opened in _entries(archive, limits):
            if name.is_absolute() or ".." in name.parts or "\\" in str(name):
                raise _refused(archive, f"entry '{name}' leads out of the folder", "unsafe-name")
            target = choose(name)
            if target is None:
                continue
            if target.is_absolute() or ".." in target.parts:
                raise _refused(archive, f"entry '{name}' would be written to '{target}'", "unsafe-name")
            if not plain:
                raise _refused(archive, f"entry '{name}' is a link or a device, not a plain file", "link")
            data = bytearray()
            with opened() as source:
                while chunk := source.read(_CHUNK_BYTES):
                    total += len(chunk)
                    if total > limits.written_bytes:
                        found = f"more than {limits.written_bytes} bytes come out of it"
                        raise _refused(archive, found, "too-large")
                    data += chunk
            yield target, bytes(data)
    except _UNREADABLE as error:
        found = f"it cannot be read: {type(error).__name__}: {error}"
        raise _refused(archive, found, "unreadable") from error


def _entries(
    archive: Path, limits: ArchiveLimits
) -> Iterator[tuple[PurePosixPath, bool, Callable[[], IO[bytes]]]]:
    """Name, is it a plain file, how to open it."""
    if archive.name.lower().endswith(".zip"):
        with archive.open("rb") as stream, zipfile.ZipFile(_listed(archive, stream, limits)) as file:
            infos = file.infolist()
            if len(infos) > limits.entries:
                found = f"it has {len(infos)} entries, more than {limits.entries}"
                raise _refused(archive, found, "too-large")
            for info in infos:
                kind = stat.S_IFMT(info.external_attr >> 16)
                if not info.is_dir():
                    name = PurePosixPath(info.orig_filename)  # zipfile itself cuts names at a zero byte
                    yield name, kind in (0, stat.S_IFREG), partial(file.open, info)
        return
    if not is_archive(archive):
        raise _refused(archive, f"its name ends in none of {', '.join(ARCHIVE_SUFFIXES)}", "unreadable")
    count = passed = 0
    with tarfile.open(archive) as tar:
        for member in tar:
            count, passed = count + 1, passed + member.size
            if count > limits.entries or passed > limits.passed_bytes:
                found = f"more than {limits.entries} entries or {limits.passed_bytes} bytes"
                raise _refused(archive, found, "too-large")
            if not member.isdir():
                # None comes only from what is no plain file, and is not opened.
                opened = cast(Callable[[], IO[bytes]], partial(tar.extractfile, member))
                yield PurePosixPath(member.name), member.isreg(), opened


def _listed(archive: Path, stream: IO[bytes], limits: ArchiveLimits) -> IO[bytes]:
    """The zip file, if its directory is not too large to be listed."""
    if found := directory_too_large(stream, limits.entries):
        raise _refused(archive, found, "too-large")
    return stream


def _refused(archive: Path, found: str, code: str) -> TesseraError:
    return TesseraError(
        f"archive {archive.name}",
        found,
        "do not use the archive; fetch it again from its DOI, and tell its authors if the error stays",
        exit_code=EXIT_FAILED,
        code=f"archive-{code}",
    )
