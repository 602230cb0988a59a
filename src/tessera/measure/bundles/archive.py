"""The bytes of a bundle: files of a folder or a zip file, counts in gzip form, and ``SHA256SUMS``."""

from __future__ import annotations

import gzip
import hashlib
import os
import posixpath
import stat
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from tessera.core import archives
from tessera.core.errors import TesseraError
from tessera.core.units import KB, MB
from tessera.measure.bundles import file_format
from tessera.measure.bundles.file_format import (
    MOST_DEPTH,
    MOST_ENTRIES,
    MOST_ZIP_BYTES,
    Budget,
    shown,
    too_large,
    wrong,
)

# Files of a folder or a zip file.
#
# Nothing is unpacked to the disk. Names that lead out of the bundle, links, and what is larger than any
# bundle (:mod:`tessera.measure.bundles.file_format`) are errors. Sizes are checked before anything is read or
# unpacked.

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  #: of others, damage raises errors of their own


def contents(path: Path) -> dict[str, bytes]:
    """Name inside the bundle -> bytes. A zip file may have the files at its top, or in one folder.

    Raises:
        TesseraError: nothing is there, the zip file is damaged, or it has a name or a size of no bundle.
    """
    try:
        if path.is_dir():
            return _folder_contents(path)
        if path.is_file():
            return _zip_contents(path)
    except OSError as error:
        raise wrong(str(path), f"it can't be read: {error.strerror or error}", "unreadable") from None
    raise TesseraError(f"bundle {path}", "no such folder or zip file", "check the path", code="bundle-absent")


def _folder_contents(folder: Path) -> dict[str, bytes]:
    budget, sizes = Budget(), {}
    waiting = [""]
    while waiting:
        within = waiting.pop()
        with os.scandir(folder / within) as entries:
            for entry in entries:
                name = f"{within}/{entry.name}" if within else entry.name
                budget.entry(name)
                if entry.is_dir(follow_symlinks=False):
                    if name.count("/") + 2 > MOST_DEPTH:
                        raise wrong(shown(name), "a bundle has no such folder", "file-unknown")
                    waiting.append(name)
                elif entry.is_file(follow_symlinks=False):
                    sizes[name] = entry.stat(follow_symlinks=False).st_size
                else:
                    found = "it is a link or a device; a bundle has regular files only"
                    raise wrong(shown(name), found, "file-kind")
    for name in sorted(sizes):
        budget.file(name, name, sizes[name])
    return {name: _file_bytes(folder / name, sizes[name]) for name in sorted(sizes)}


def _file_bytes(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        found = stream.read(size + 1)
    if len(found) != size:
        raise wrong(str(path), "its size changed while it was read", "unreadable", "wait, then repeat this")
    return found


def _zip_contents(path: Path) -> dict[str, bytes]:
    if (size := path.stat().st_size) > MOST_ZIP_BYTES:
        raise too_large(str(path), f"{size} bytes; a zip file has at most {MOST_ZIP_BYTES}")
    try:
        with path.open("rb") as stream:
            if found := archives.directory_too_large(stream, MOST_ENTRIES):
                raise too_large(str(path), found)
            with zipfile.ZipFile(stream) as archive:
                return _unpacked(archive, _checked(archive.infolist()))
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise wrong(str(path), f"not a zip file that can be read: {error}", "zip") from None


def _checked(entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Name in the zip file -> entry, of the files; their sizes are those of a bundle."""
    budget, found = Budget(), {}
    for info in entries:
        name = info.orig_filename  # zipfile itself cuts names at a zero byte
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
            raise wrong(shown(name), "this name leads out of the bundle", "file-name")
        plain = name.removesuffix("/")
        if posixpath.normpath(plain) != plain or "\0" in name:
            raise wrong(shown(name), "this name has another form on a disk", "file-name")
        budget.entry(name)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise wrong(shown(name), "it is a link", "file-kind")
        if info.compress_type not in _METHODS:
            raise wrong(shown(name), "it is packed by another method than deflate", "zip")
        if info.is_dir():
            continue
        if name in found:
            raise wrong(shown(name), "this name stands twice", "file-name")
        found[name] = info
    top, stored = _top_folder(found), Budget()  # a stored bundle has folders that the zip file need not list
    inside = {PurePosixPath(name.removeprefix(top)) for name in found}
    for path in inside.union(*(path.parents for path in inside)) - {PurePosixPath()}:
        stored.entry(str(path))
    for name, info in found.items():
        budget.file(name, name.removeprefix(top), info.file_size, info.compress_size)
    return found


def _unpacked(archive: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo]) -> dict[str, bytes]:
    top, files = _top_folder(found), {}
    for name, info in found.items():
        with archive.open(info) as stream:
            files[name.removeprefix(top)] = stream.read(info.file_size + 1)
    return files


def _top_folder(names) -> str:
    """The folder that all files are in, with its slash; empty if they are at the top."""
    tops = {name.split("/")[0] for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names) else ""


# Counts in gzip form: always the same bytes for the same counts, and a limit for what is unpacked.

_PIECE = 64 * KB  #: packed bytes that are handled at a time


def pack_counts(data: bytes) -> bytes:
    """Without name and time, so that equal counts have equal sums."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def unpack_counts(data: bytes) -> bytes:
    """The counts; raises as :func:`unpacked_pieces`."""
    return b"".join(unpacked_pieces(data))


def unpacked_pieces(data: bytes) -> Iterator[bytes]:
    """The counts in pieces of at most 1MB, so that they are never in memory together.

    Raises:
        TesseraError: the file is damaged, has something behind its end, or is too large.
    """
    if data[3:8] not in (b"", bytes(5)):
        raise wrong(file_format.PACKED_FILE, "its header has a name, a time or a comment", "gzip")
    stream, total = zlib.decompressobj(wbits=31), 0
    most = min(
        file_format.MOST_UNPACKED_BYTES, file_format.MOST_RATIO * len(data) + file_format.RATIO_FROM_BYTES
    )
    for start in range(0, len(data), _PIECE):
        rest = data[start : start + _PIECE]
        while rest and not stream.eof:
            try:
                found = stream.decompress(rest, MB)
            except zlib.error as error:
                raise wrong(
                    file_format.PACKED_FILE, f"not a gzip file that can be read: {error}", "gzip"
                ) from None
            rest, total = stream.unconsumed_tail, total + len(found)
            if total > most:
                raise file_format.too_large(file_format.PACKED_FILE, f"more than {most} bytes when unpacked")
            yield found
        if stream.eof and (stream.unused_data or start + _PIECE < len(data)):
            raise wrong(file_format.PACKED_FILE, "it has bytes behind its end", "gzip")
    if not stream.eof:
        raise wrong(file_format.PACKED_FILE, "it is cut off", "gzip")


# ``SHA256SUMS``: a line ``<sha256>  <name>`` for every other file, sorted by name, as of sha256sum.


def sums_text(files: Mapping[str, bytes]) -> str:
    """The content for these files."""
    return "".join(
        f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n"
        for name in sorted(files)
        if name != file_format.SUMS_FILE
    )


def sums_problems(files: Mapping[str, bytes]) -> list[str]:
    """Files that are not as listed; empty if every file is there with its sum and nothing else is."""
    listed = _listed_sums(files[file_format.SUMS_FILE])
    here = _listed_sums(sums_text(files).encode())
    found = [f"{shown(name)} is listed, but missing" for name in sorted(set(listed) - set(here))]
    found += [f"{shown(name)} is not listed" for name in sorted(set(here) - set(listed))]
    both = sorted(set(listed) & set(here))
    return found + [f"{shown(name)} was changed" for name in both if listed[name] != here[name]]


def _listed_sums(data: bytes) -> dict[str, str]:
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise wrong(file_format.SUMS_FILE, f"not UTF-8: {error}", "sums") from None
    found = {}
    for number, line in enumerate(lines, start=1):
        digest, gap, name = line[:64], line[64:66], line[66:]
        if gap != "  " or not name or name in found or set(digest) - set("0123456789abcdef"):
            raise wrong(
                f"{file_format.SUMS_FILE} line {number}", f"{shown(line)} is no sum of a new file", "sums"
            )
        found[name] = digest
    return found
