"""Bundles of the repository: folders ``bundles/<id>/``, and deposits that ``bundles/index.csv`` names.

Deposits are downloaded by DOI and checked by SHA-256.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tessera.core import downloads
from tessera.core.downloads import Download
from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.files import publish, repo_root, sha256_of
from tessera.core.progress import Show
from tessera.measure.bundles import file_format
from tessera.measure.bundles.archive import contents, unpacked_pieces
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.file_format import SHA256
from tessera.measure.bundles.merge import write
from tessera.measure.bundles.reader import read_bundle
from tessera.measure.bundles.verify import fails, verify_files

# The folders and the index.
#
# An id is the platform and the first 8 digits of the SHA-256 of ``SHA256SUMS``.

INDEX = "index.csv"
INDEX_COLUMNS = ("id", "doi", "sha256")
DOI = r"10\.[0-9]{4,9}/[!-~]+"  #: a bare DOI, as a regular expression
_DOI = re.compile(DOI, re.ASCII)
_ID = re.compile(r"[a-z0-9]+-[0-9a-f]{8}-[0-9a-f]{8}", re.ASCII)  #: also a name of a file


@dataclass(frozen=True)
class StoredBundle:
    """A bundle of the repository; ``doi`` is empty if its folder is here, ``folder`` None if it is not."""

    id: str
    doi: str
    sha256: str
    folder: Path | None


def default_folder() -> Path:
    """``bundles/`` of the checkout."""
    return repo_root() / "bundles"


def download_of(entry: StoredBundle) -> Path:
    """Where the zip file of a deposit is kept, whether it is there or not."""
    return repo_root() / "datasets" / "cache" / "bundles" / f"{entry.id}.zip"


def stored_bundles(root: Path) -> list[StoredBundle]:
    """All bundles, by id.

    Raises:
        TesseraError: ``root`` is not a folder, a row of the index is wrong, or an id stands twice.
    """
    if not root.is_dir():
        raise TesseraError(
            f"bundles of {root}", "no such folder", "tessera measure bundle add FOLDER makes one"
        )
    folders = sorted(p for p in root.iterdir() if p.is_dir())
    found = {p.name: StoredBundle(p.name, "", "", p) for p in folders if not p.name.startswith(".")}
    for number, row in _index(root / INDEX):
        place = f"{root / INDEX} line {number}"
        if len(row) != len(INDEX_COLUMNS) or not _ID.fullmatch(row[0]) or not _DOI.fullmatch(row[1]):
            raise _wrong_index(place, f"'{','.join(row)}' is no {','.join(INDEX_COLUMNS)}")
        try:
            SHA256.read(row[2])
        except ValueError:
            raise _wrong_index(place, f"sha256 '{row[2]}'; it must be {SHA256.rule}") from None
        if row[0] in found:
            raise _wrong_index(place, f"{row[0]} stands twice, here or as a folder")
        found[row[0]] = StoredBundle(*row, None)
    return [found[name] for name in sorted(found)]


def bundle_id(bundle: Bundle) -> str:
    """The id of a sealed bundle."""
    return f"{bundle.about.platform}-{hashlib.sha256(bundle.sums.encode()).hexdigest()[:8]}"


def add_bundle(source: Path, root: Path) -> str:
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
    name = bundle_id(done.bundle)
    mine = _runs_digest(files)
    for entry in stored_bundles(root) if root.exists() else ():
        if entry.id == name or (entry.folder is not None and _runs_digest(contents(entry.folder)) == mine):
            raise TesseraError(
                f"add {source}", f"{entry.id} has the same runs", "keep one of them", exit_code=EXIT_FAILED,
                code="bundle-twice",
            )  # fmt: skip
    write(files, root / name)
    return name


def describe_entry(entry: StoredBundle) -> tuple[str, ...]:
    """id, class, runs, day, place: a row for people."""
    if entry.folder is None:
        here = " (downloaded)" if download_of(entry).is_file() else ""
        return entry.id, entry.id.split("-")[0], "", "", f"https://doi.org/{entry.doi}{here}"
    bundle = read_bundle(entry.folder)
    good = sum(run.good for run in bundle.runs)
    return entry.id, bundle.about.class_name, str(good), bundle.about.created, entry.folder.name


def _runs_digest(files: dict[str, bytes]) -> str:
    """Digest of runs and counts; a bundle that was sealed again has the same one."""
    found = hashlib.sha256(files.get(file_format.RUNS_FILE, b""))
    for piece in (
        unpacked_pieces(files[file_format.PACKED_FILE])
        if file_format.PACKED_FILE in files
        else [files.get(file_format.COUNTS_FILE, b"")]
    ):
        found.update(piece)
    return found.hexdigest()


def _index(path: Path) -> list[tuple[int, list[str]]]:
    if not path.is_file():
        return []
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8")), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _wrong_index(str(path), str(error)) from None
    if not rows or tuple(rows[0]) != INDEX_COLUMNS:
        raise _wrong_index(f"{path} line 1", f"the header must be {','.join(INDEX_COLUMNS)}")
    return list(enumerate(rows[1:], start=2))


def _wrong_index(place: str, found: str) -> TesseraError:
    return TesseraError(
        place, found, "correct the index; docs/howto/bundles.md describes it", code="bundle-index"
    )


# Bundles that lie in a deposit: the index has their DOI and SHA-256, and they are downloaded here.
#
# A download goes to ``datasets/cache/bundles/<id>.zip``. It gets this name only if its SHA-256 is that of
# the index, so a later use needs no network. Only records of Zenodo can be downloaded; others are named with
# what to do by hand.

PAUSE_S = 1.0  #: between attempts; doubles
_WORD = re.compile(rf"(?:https?://(?:dx\.)?doi\.org/|doi:)?({DOI})", re.ASCII | re.IGNORECASE)
_ZENODO = re.compile(r"10\.5281/zenodo\.([0-9]+)", re.ASCII | re.IGNORECASE)


def doi_of(word: str) -> str:
    """The bare DOI of ``10.5281/zenodo.1``, ``doi:...`` or ``https://doi.org/...``; empty if it is none."""
    found = _WORD.fullmatch(word)
    return found[1] if found else ""


def listed_in_deposit(doi: str, root: Path) -> list[StoredBundle]:
    """The bundles of the index that lie in this deposit; one deposit may have several.

    Raises:
        TesseraError: the index does not have this DOI (``bundle-not-listed``), or is wrong.
    """
    known = [entry for entry in stored_bundles(root) if entry.doi] if root.is_dir() else []
    found = [entry for entry in known if entry.doi.lower() == doi.lower()]
    if not found:
        others = ", ".join(sorted({entry.doi for entry in known})) or "no DOI"
        raise TesseraError(
            f"bundle {doi}", f"{root / INDEX} has {others}, so its SHA-256 is not known",
            f"download the zip file from https://doi.org/{doi} and name it; or add a row to the index",
            code="bundle-not-listed",
        )  # fmt: skip
    return found


def fetch_deposit(
    entry: StoredBundle, *, progress: Show = lambda name, done, total: None, pause_s: float | None = None
) -> Path:
    """The zip file of a bundle of the index. A file that is here with its SHA-256 is not downloaded again.

    Args:
        progress: called as bytes arrive.
        pause_s: seconds instead of :data:`PAUSE_S`.

    Raises:
        TesseraError: the DOI is of another archive (``bundle-archive``), the archive can't be reached
            (``bundle-offline``, exit status 2), has no such record or file (``bundle-deposit``), or its file
            is damaged (``bundle-damaged``), is not the listed one (``bundle-sum``), or has another id
            (``bundle-other``). As :meth:`tessera.core.downloads.Download.complete` and
            :func:`tessera.measure.bundles.reader.read_bundle`.
    """
    path = download_of(entry)
    if not path.is_file() or sha256_of(path) != entry.sha256:
        _download(entry, path, progress, PAUSE_S if pause_s is None else pause_s)
    found = bundle_id(read_bundle(path))
    if found != entry.id:
        raise _fetch_failed(
            entry, f"the zip file has the bundle {found}", "correct the id in the index", "other"
        )
    return path


def _download(entry: StoredBundle, path: Path, progress: Show, pause_s: float) -> None:
    file = _file_of_record(entry, pause_s)
    part = path.with_name(f"{path.name}.part")
    again = f"look at https://doi.org/{entry.doi}, then name the DOI again: an interrupted download continues"
    Download(
        file.url, part, asked=f"{file.name} of bundle {entry.id} ({entry.doi})", if_refused=again,
        if_interrupted=again, checked=True, attempts=downloads.ZENODO_ATTEMPTS, first_pause_s=pause_s,
    ).complete(partial(progress, path.name))  # fmt: skip
    sha256, md5 = sha256_of(part), _md5(part)
    if sha256 == entry.sha256:
        return publish(part, path)
    part.unlink()
    if md5 != file.md5:
        found = f"the MD5 of {file.name} is {md5}, the archive's is {file.md5}; the file was removed"
        raise _fetch_failed(entry, found, "name the DOI again", "damaged")
    found = f"the SHA-256 of {file.name} is {sha256}, the index has {entry.sha256}; the file was removed"
    raise _fetch_failed(
        entry, found, "ask the owner of the deposit which one is right, and correct the row", "sum"
    )


def _file_of_record(entry: StoredBundle, pause_s: float) -> downloads.OfferedFile:
    """The file of the record: ``<id>.zip``, or its only zip file."""
    number = _ZENODO.fullmatch(entry.doi)
    if not number:
        raise TesseraError(
            f"bundle {entry.id} ({entry.doi})", "only records of Zenodo (10.5281/zenodo.N) can be downloaded",
            f"download the zip file from https://doi.org/{entry.doi}, compare its SHA-256 with"
            f" {entry.sha256}, and name the file",
            code="bundle-archive",
        )  # fmt: skip
    try:
        files = downloads.offered_files(number[1], pause_s)
    except ConnectionError as error:
        raise TesseraError(
            f"bundle {entry.id} ({entry.doi})", f"the archive can't be reached: {error}",
            "connect, or name a zip file that was downloaded before", exit_code=EXIT_USAGE,
            code="bundle-offline",
        ) from error  # fmt: skip
    except ValueError as error:
        raise _fetch_failed(entry, str(error), "check the DOI in the index", "deposit") from error
    zips = [one for one in files if one.name.endswith(".zip")]
    own = [one for one in zips if one.name == f"{entry.id}.zip"] or zips
    if len(own) != 1:
        names = ", ".join(one.name for one in files) or "no file"
        remedy = f"the deposit must have {entry.id}.zip, or one zip file: ask its owner"
        raise _fetch_failed(entry, f"the record has {names}", remedy, "deposit")
    return own[0]


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _fetch_failed(entry: StoredBundle, found: str, remedy: str, code: str) -> TesseraError:
    return TesseraError(
        f"bundle {entry.id} ({entry.doi})", found, remedy, exit_code=EXIT_FAILED, code=f"bundle-{code}"
    )
