"""The compressed source tree of the kernel, out of Debian's package at an address.

A .deb is an ``ar`` archive (deb(5)): a magic line, then members with headers of 60 bytes. Its member
``data.tar.xz`` has the package's files. Both checksums of the record are compared.
"""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path
from typing import BinaryIO

from tessera.core.downloads import Download
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import making, sha256_of
from tessera.kernel.origin.record import Source

_MAGIC = b"!<arch>\n"
_HEADER_BYTES = 60
_NAME, _SIZE = slice(0, 16), slice(48, 58)


def fetch(url: str, wanted: Source, folder: Path) -> Path:
    """Download the package from ``url``; the source tree in ``folder``. The package's file is removed.

    Raises:
        TesseraError: no such file or no network (codes of :class:`Download`), or other bytes than recorded
            (``kernel-source-checksum``).
    """
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{Path(wanted.deb).name}.part"
    Download(
        url=url,
        part=part,
        asked=url,
        if_refused="the next source is tried",
        if_interrupted="run the same command again: it continues where it stopped",
        checked=True,
        attempts=2,
    ).complete()
    try:
        _compare(part, wanted.sha256, url)
        return unpacked(part, wanted, folder)
    finally:
        part.unlink(missing_ok=True)


def unpacked(package: Path, wanted: Source, folder: Path) -> Path:
    """The source tree of a package's file, in ``folder``."""
    target = folder / wanted.tree
    with package.open("rb") as file, making(target) as unfinished:
        _seek_data(file, package)
        with tarfile.open(fileobj=file, mode="r|xz") as tree, unfinished.open("wb") as out:
            for member in tree:
                if member.name.removeprefix("./") == f"usr/src/{wanted.tree}":
                    shutil.copyfileobj(tree.extractfile(member), out)
                    break
        _compare(unfinished, wanted.tree_sha256, f"usr/src/{wanted.tree} in {package.name}")
    return target


def _seek_data(file: BinaryIO, package: Path) -> None:
    """Move to the first byte of the member ``data.tar.xz``."""
    found = file.read(len(_MAGIC)) == _MAGIC
    while found and len(header := file.read(_HEADER_BYTES)) == _HEADER_BYTES:
        if header[_NAME].decode("ascii", "replace").rstrip(" /") == "data.tar.xz":
            return
        size = int(header[_SIZE])
        file.seek(size + size % 2, 1)
    raise TesseraError(
        f"the files of {package.name}",
        "it has no member data.tar.xz, so it is no .deb that this version reads",
        "remove the file and try again",
        exit_code=EXIT_FAILED,
        code="kernel-source-package",
    )


def _compare(path: Path, recorded: str, what: str) -> None:
    found = sha256_of(path)
    if found != recorded:
        raise TesseraError(
            f"the kernel source {what}",
            f"its SHA-256 is {found[:16]}..., artifacts/kernel/SOURCE records {recorded[:16]}...",
            "use another archive; these bytes are not those that the series was made for",
            exit_code=EXIT_FAILED,
            code="kernel-source-checksum",
        )
