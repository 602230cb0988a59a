"""The bytes of a bundle's files, from a folder or a zip file.

Nothing is unpacked to the disk. Names that lead out of the bundle, links, and what is larger than any bundle
(:mod:`tessera.bundles.limits`) are errors. Sizes are checked before anything is read or unpacked.
"""

from __future__ import annotations

import os
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tessera.bundles.limits import DEPTH, ENTRIES, ZIP, Budget, too_large
from tessera.bundles.wrong import shown, wrong
from tessera.core import zip_directory
from tessera.core.errors import TesseraError

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  #: of others, damage raises errors of their own


def contents(path: Path) -> dict[str, bytes]:
    """Name inside the bundle -> bytes. A zip file may have the files at its top, or in one folder.

    Raises:
        TesseraError: nothing is there, the zip file is damaged, or it has a name or a size of no bundle.
    """
    try:
        if path.is_dir():
            return _folder(path)
        if path.is_file():
            return _zip(path)
    except OSError as error:
        raise wrong(str(path), f"it can't be read: {error.strerror or error}", "unreadable") from None
    raise TesseraError(f"bundle {path}", "no such folder or zip file", "check the path", code="bundle-absent")


def _folder(folder: Path) -> dict[str, bytes]:
    budget, sizes = Budget(), {}
    waiting = [""]
    while waiting:
        within = waiting.pop()
        with os.scandir(folder / within) as entries:
            for entry in entries:
                name = f"{within}/{entry.name}" if within else entry.name
                budget.entry(name)
                if entry.is_dir(follow_symlinks=False):
                    if name.count("/") + 2 > DEPTH:
                        raise wrong(shown(name), "a bundle has no such folder", "file-unknown")
                    waiting.append(name)
                elif entry.is_file(follow_symlinks=False):
                    sizes[name] = entry.stat(follow_symlinks=False).st_size
                else:
                    found = "it is a link or a device; a bundle has regular files only"
                    raise wrong(shown(name), found, "file-kind")
    for name in sorted(sizes):
        budget.file(name, name, sizes[name])
    return {name: _bytes(folder / name, sizes[name]) for name in sorted(sizes)}


def _bytes(path: Path, size: int) -> bytes:
    with path.open("rb") as stream:
        found = stream.read(size + 1)
    if len(found) != size:
        raise wrong(str(path), "its size changed while it was read", "unreadable", "wait, then repeat this")
    return found


def _zip(path: Path) -> dict[str, bytes]:
    if (size := path.stat().st_size) > ZIP:
        raise too_large(str(path), f"{size} bytes; a zip file has at most {ZIP}")
    try:
        with path.open("rb") as stream:
            if found := zip_directory.too_large(stream, ENTRIES):
                raise too_large(str(path), found)
            with zipfile.ZipFile(stream) as archive:
                return _unpacked(archive, _checked(archive.infolist()))
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise wrong(str(path), f"not a zip file that can be read: {error}", "zip") from None


def _checked(entries: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Name in the zip file -> entry, of the files; their sizes are those of a bundle."""
    budget, found = Budget(), {}
    for info in entries:
        name = info.filename
        budget.entry(name)
        if not name or name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
            raise wrong(shown(name), "this name leads out of the bundle", "file-name")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise wrong(shown(name), "it is a link", "file-kind")
        if info.compress_type not in _METHODS:
            raise wrong(shown(name), "it is packed by another method than deflate", "zip")
        if info.is_dir():
            continue
        if name in found:
            raise wrong(shown(name), "this name stands twice", "file-name")
        found[name] = info
    top = _top(found)
    for name, info in found.items():
        budget.file(name, name.removeprefix(top), info.file_size, info.compress_size)
    return found


def _unpacked(archive: zipfile.ZipFile, found: dict[str, zipfile.ZipInfo]) -> dict[str, bytes]:
    top, files = _top(found), {}
    for name, info in found.items():
        with archive.open(info) as stream:
            files[name.removeprefix(top)] = stream.read(info.file_size + 1)
    return files


def _top(names) -> str:
    """The folder that all files are in, with its slash; empty if they are at the top."""
    tops = {name.split("/")[0] for name in names}
    return f"{tops.pop()}/" if len(tops) == 1 and all("/" in name for name in names) else ""
