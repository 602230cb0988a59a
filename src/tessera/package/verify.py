"""Check a package: every file is listed, and every listed file exists and has its checksum."""

from __future__ import annotations

import csv
import hashlib
import io
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tessera.core import zip_directory
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import GB, MB
from tessera.package.make import ABOUT, MANIFEST, MANIFEST_COLUMNS, SUMS

MOST_ENTRIES = 200_000  #: a package of the paper's configuration has some thousand files
MOST_BYTES = 1024 * GB  #: unpacked; with recordings it has some 100GB
MOST_TABLE_BYTES = 64 * MB  #: of the lists of files: about 300 bytes a file


def verify(path: Path) -> dict[str, int]:
    """``{"files": ..., "bytes": ...}`` of a correct package; sizes are unpacked.

    Raises:
        TesseraError: the file is not a package, is damaged or incomplete, or has files that it does not list.
    """
    try:
        with path.open("rb") as stream:
            if found := zip_directory.too_large(stream, MOST_ENTRIES):
                raise _wrong(path, found, "package-too-large")
            with zipfile.ZipFile(stream) as archive:
                return _check(path, archive)
    # ValueError: text that is not UTF-8; RuntimeError: an encrypted entry
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, csv.Error) as error:
        raise _wrong(path, f"the file can't be read: {error}", "package-unreadable") from None


def _check(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    entries = [info for info in archive.infolist() if not info.is_dir()]
    names = [info.filename for info in entries]
    if any(stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG) for info in entries):
        raise _wrong(path, "an entry is a link or a device", "package-file-kind")
    if (unpacked := sum(info.file_size for info in entries)) > MOST_BYTES:
        raise _wrong(path, f"{unpacked} bytes when unpacked; at most {MOST_BYTES}", "package-too-large")
    tops = {name.split("/")[0] for name in names}
    if len(tops) != 1 or len(set(names)) != len(names):
        some = ", ".join(sorted(tops)[:5]) or "none"
        raise _wrong(path, f"entries must be unique and in one folder, but are in: {some}")
    top = tops.pop()
    if any(name.startswith("/") or ".." in PurePosixPath(name).parts for name in names):
        raise _wrong(path, "an entry would be unpacked outside of the package's folder")
    inside = {name.removeprefix(f"{top}/"): name for name in names}
    for needed in (SUMS, MANIFEST, ABOUT):
        if needed not in inside:
            raise _wrong(path, f"{needed} is missing")
    lines = _text(path, archive, inside[SUMS]).splitlines()
    sums = {line[66:]: line[:64] for line in lines if line[64:66] == "  "}
    if len(sums) != len(lines):
        raise _wrong(path, f"{SUMS} has lines without a checksum")
    if extra := sorted(set(inside) - set(sums) - {SUMS}):
        raise _wrong(path, f"not in {SUMS}: {', '.join(extra[:5])}")
    if missing := sorted(set(sums) - set(inside)):
        raise _wrong(path, f"{SUMS} lists files that are missing: {', '.join(missing[:5])}")
    sizes = {name: _size(path, archive, inside[name], sums[name]) for name in sorted(sums)}
    _check_manifest(path, _text(path, archive, inside[MANIFEST]), sums, sizes)
    return {"files": len(sizes), "bytes": sum(sizes.values())}


def _text(path: Path, archive: zipfile.ZipFile, name: str) -> str:
    if (size := archive.getinfo(name).file_size) > MOST_TABLE_BYTES:
        raise _wrong(path, f"{name} has {size} bytes; at most {MOST_TABLE_BYTES}", "package-too-large")
    return archive.read(name).decode()


def _size(path: Path, archive: zipfile.ZipFile, name: str, wanted: str) -> int:
    total, size = hashlib.sha256(), 0
    with archive.open(name) as file:
        while chunk := file.read(MB):
            total.update(chunk)
            size += len(chunk)
    if total.hexdigest() != wanted:
        raise _wrong(path, f"{name} has SHA-256 {total.hexdigest()}, but {SUMS} has {wanted}")
    return size


def _check_manifest(path: Path, text: str, sums: dict[str, str], sizes: dict[str, int]) -> None:
    table = csv.DictReader(io.StringIO(text))
    if tuple(table.fieldnames or ()) != MANIFEST_COLUMNS:
        raise _wrong(path, f"{MANIFEST} has columns {table.fieldnames}, not {', '.join(MANIFEST_COLUMNS)}")
    listed = {row["path"]: (row["sha256"], row["bytes"]) for row in table}
    wanted = {name: (sums[name], str(sizes[name])) for name in sums if name != MANIFEST}
    if listed != wanted:
        different = sorted(name for name in listed | wanted if listed.get(name) != wanted.get(name))
        raise _wrong(
            path, f"{MANIFEST} and {SUMS} differ in: {', '.join(different[:5])}", "package-tables-differ"
        )


def _wrong(path: Path, found: str, code: str = "") -> TesseraError:
    return TesseraError(
        f"package {path}",
        found,
        "download the package again, or make it again: tessera package --help",
        exit_code=EXIT_FAILED,
        code=code,
    )
