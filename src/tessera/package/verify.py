"""Check a package: every file is listed, and every listed file exists and has its checksum."""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB
from tessera.package.make import ABOUT, MANIFEST, MANIFEST_COLUMNS, SUMS


def verify(path: Path) -> dict[str, int]:
    """``{"files": ..., "bytes": ...}`` of a correct package; sizes are unpacked.

    Raises:
        TesseraError: the file is not a package, is damaged or incomplete, or has files that it does not list.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _check(path, archive)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, UnicodeDecodeError) as error:
        raise _wrong(path, f"the file can't be read: {error}", "package-unreadable") from None


def _check(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    tops = {PurePosixPath(name).parts[0] for name in names}
    if len(tops) != 1 or len(set(names)) != len(names):
        raise _wrong(
            path, f"entries must be unique and in one folder, but are in: {', '.join(sorted(tops)) or 'none'}"
        )
    top = tops.pop()
    if any(name.startswith("/") or ".." in PurePosixPath(name).parts for name in names):
        raise _wrong(path, "an entry would be unpacked outside of the package's folder")
    inside = {name.removeprefix(f"{top}/"): name for name in names}
    for needed in (SUMS, MANIFEST, ABOUT):
        if needed not in inside:
            raise _wrong(path, f"{needed} is missing")
    lines = archive.read(inside[SUMS]).decode().splitlines()
    sums = {line[66:]: line[:64] for line in lines if line[64:66] == "  "}
    if len(sums) != len(lines):
        raise _wrong(path, f"{SUMS} has lines without a checksum")
    if extra := sorted(set(inside) - set(sums) - {SUMS}):
        raise _wrong(path, f"not in {SUMS}: {', '.join(extra[:5])}")
    if missing := sorted(set(sums) - set(inside)):
        raise _wrong(path, f"{SUMS} lists files that are missing: {', '.join(missing[:5])}")
    sizes = {name: _size(path, archive, inside[name], sums[name]) for name in sorted(sums)}
    _check_manifest(path, archive.read(inside[MANIFEST]).decode(), sums, sizes)
    return {"files": len(sizes), "bytes": sum(sizes.values())}


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
