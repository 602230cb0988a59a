"""Bundles of the repository: folders ``bundles/<id>/``, and deposits that ``bundles/index.csv`` names.

An id is the platform and the first 8 digits of the SHA-256 of ``SHA256SUMS``.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tessera.bundles import names
from tessera.bundles.contents import contents
from tessera.bundles.merge import write
from tessera.bundles.model import Bundle
from tessera.bundles.packed import unpacked
from tessera.bundles.reader import read
from tessera.bundles.values import SHA256
from tessera.bundles.verify import fails, verify_files
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root

INDEX = "index.csv"
COLUMNS = ("id", "doi", "sha256")
DOI = r"10\.[0-9]{4,9}/[!-~]+"  #: a bare DOI, as a regular expression
_DOI = re.compile(DOI, re.ASCII)
_ID = re.compile(r"[a-z0-9]+-[0-9a-f]{8}-[0-9a-f]{8}", re.ASCII)  #: also a name of a file


@dataclass(frozen=True)
class Entry:
    """A bundle of the repository; ``doi`` is empty if its folder is here, ``folder`` None if it is not."""

    id: str
    doi: str
    sha256: str
    folder: Path | None


def default_folder() -> Path:
    """``bundles/`` of the checkout."""
    return repo_root() / "bundles"


def download_of(entry: Entry) -> Path:
    """Where the zip file of a deposit is kept, whether it is there or not."""
    return repo_root() / "datasets" / "cache" / "bundles" / f"{entry.id}.zip"


def entries(root: Path) -> list[Entry]:
    """All bundles, by id.

    Raises:
        TesseraError: ``root`` is not a folder, a row of the index is wrong, or an id stands twice.
    """
    if not root.is_dir():
        raise TesseraError(f"bundles of {root}", "no such folder", "tessera bundle add FOLDER makes one")
    folders = sorted(p for p in root.iterdir() if p.is_dir())
    found = {p.name: Entry(p.name, "", "", p) for p in folders if not p.name.startswith(".")}
    for number, row in _index(root / INDEX):
        place = f"{root / INDEX} line {number}"
        if len(row) != len(COLUMNS) or not _ID.fullmatch(row[0]) or not _DOI.fullmatch(row[1]):
            raise _wrong(place, f"'{','.join(row)}' is no {','.join(COLUMNS)}")
        try:
            SHA256.read(row[2])
        except ValueError:
            raise _wrong(place, f"sha256 '{row[2]}'; it must be {SHA256.rule}") from None
        if row[0] in found:
            raise _wrong(place, f"{row[0]} stands twice, here or as a folder")
        found[row[0]] = Entry(*row, None)
    return [found[name] for name in sorted(found)]


def identity(bundle: Bundle) -> str:
    """The id of a sealed bundle."""
    return f"{bundle.about.platform}-{hashlib.sha256(bundle.sums.encode()).hexdigest()[:8]}"


def add(source: Path, root: Path) -> str:
    """Verify a bundle and copy it to ``root``; returns its id.

    Raises:
        TesseraError: a check fails (``bundle-fails``), it is a rehearsal, or its runs are there already
            (``bundle-twice``).
    """
    files = contents(source)
    done = verify_files(str(source), files)
    if not done.passed or done.bundle is None:
        raise fails(str(source), done)
    if done.bundle.about.rehearsal:
        raise TesseraError(
            f"add {source}", "it is a rehearsal: its counts are simulated", "add bundles of real machines",
            exit_code=EXIT_FAILED, code="bundle-rehearsal",
        )  # fmt: skip
    name = identity(done.bundle)
    mine = _runs(files)
    for entry in entries(root) if root.exists() else ():
        if entry.id == name or (entry.folder is not None and _runs(contents(entry.folder)) == mine):
            raise TesseraError(
                f"add {source}", f"{entry.id} has the same runs", "keep one of them", exit_code=EXIT_FAILED,
                code="bundle-twice",
            )  # fmt: skip
    target = root / name
    try:
        write(files, target)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return name


def described(entry: Entry) -> tuple[str, ...]:
    """id, class, runs, day, place: a row for people."""
    if entry.folder is None:
        here = " (downloaded)" if download_of(entry).is_file() else ""
        return entry.id, entry.id.split("-")[0], "", "", f"https://doi.org/{entry.doi}{here}"
    bundle = read(entry.folder)
    good = sum(run.good for run in bundle.runs)
    return entry.id, bundle.about.class_name, str(good), bundle.about.created, entry.folder.name


def _runs(files: dict[str, bytes]) -> str:
    """Digest of runs and counts; a bundle that was sealed again has the same one."""
    found = hashlib.sha256(files.get(names.RUNS, b""))
    for piece in unpacked(files[names.PACKED]) if names.PACKED in files else [files.get(names.COUNTS, b"")]:
        found.update(piece)
    return found.hexdigest()


def _index(path: Path) -> list[tuple[int, list[str]]]:
    if not path.is_file():
        return []
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _wrong(str(path), str(error)) from None
    if not rows or tuple(rows[0]) != COLUMNS:
        raise _wrong(f"{path} line 1", f"the header must be {','.join(COLUMNS)}")
    return list(enumerate(rows[1:], start=2))


def _wrong(place: str, found: str) -> TesseraError:
    return TesseraError(place, found, "correct the index; docs/bundles.md describes it", code="bundle-index")
