"""The bytes of a bundle's files, from a folder or a zip file.

Nothing is unpacked to the disk. Names that lead out of the bundle, links, and files that are far larger than
any bundle are errors.
"""

from __future__ import annotations

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tessera.bundles.wrong import shown, wrong
from tessera.core.errors import TesseraError
from tessera.core.units import MB

LARGEST_FILE = 256 * MB  #: also of the counts, unpacked
LARGEST_TOTAL = 512 * MB
MOST_FILES = 20_000
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
    found, total = {}, 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise wrong(shown(name), "it is a link or a device; a bundle has regular files only", "file-kind")
        if path.is_file():
            total += path.stat().st_size
            _limit(name, path.stat().st_size, total, len(found))
            found[name] = path.read_bytes()
    return found


def _zip(path: Path) -> dict[str, bytes]:
    found, total = {}, 0
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                parts = PurePosixPath(info.filename).parts
                if (
                    not info.filename
                    or info.filename.startswith("/")
                    or ".." in parts
                    or "\\" in info.filename
                ):
                    raise wrong(shown(info.filename), "this name leads out of the bundle", "file-name")
                if stat.S_ISLNK(info.external_attr >> 16):
                    raise wrong(shown(info.filename), "it is a link", "file-kind")
                if info.compress_type not in _METHODS:
                    raise wrong(shown(info.filename), "it is packed by another method than deflate", "zip")
                if info.is_dir():
                    continue
                if info.filename in found:
                    raise wrong(shown(info.filename), "this name stands twice", "file-name")
                total += info.file_size
                _limit(info.filename, info.file_size, total, len(found))
                with archive.open(info) as stream:
                    found[info.filename] = stream.read(info.file_size + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise wrong(str(path), f"not a zip file that can be read: {error}", "zip") from None
    tops = {name.split("/")[0] for name in found}
    if len(tops) == 1 and all("/" in name for name in found):
        return {name.partition("/")[2]: data for name, data in found.items()}
    return found


def _limit(name: str, size: int, total: int, files: int) -> None:
    if size > LARGEST_FILE or total > LARGEST_TOTAL or files >= MOST_FILES:
        raise wrong(
            shown(name),
            f"the bundle is too large: at most {MOST_FILES} files, {LARGEST_FILE // MB} MB each and"
            f" {LARGEST_TOTAL // MB} MB together",
            "size",
        )
