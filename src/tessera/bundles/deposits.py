"""Bundles that lie in a deposit: the index has their DOI and SHA-256, this module downloads them.

A download goes to ``datasets/cache/bundles/<id>.zip``. It gets this name only if its SHA-256 is that of the
index, so a later use needs no network. Only records of Zenodo can be downloaded; others are named with what
to do by hand.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from tessera.bundles import store
from tessera.bundles.reader import read
from tessera.bundles.store import Entry
from tessera.core import zenodo
from tessera.core.downloads import Download, publish
from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.files import sha256_of
from tessera.core.progress import Show

PAUSE_S = 1.0  #: between attempts; doubles
_WORD = re.compile(rf"(?:https?://(?:dx\.)?doi\.org/|doi:)?({store.DOI})", re.ASCII | re.IGNORECASE)
_ZENODO = re.compile(r"10\.5281/zenodo\.([0-9]+)", re.ASCII | re.IGNORECASE)


def doi_of(word: str) -> str:
    """The bare DOI of ``10.5281/zenodo.1``, ``doi:...`` or ``https://doi.org/...``; empty if it is none."""
    found = _WORD.fullmatch(word)
    return found[1] if found else ""


def listed(doi: str, root: Path) -> list[Entry]:
    """The bundles of the index that lie in this deposit; one deposit may have several.

    Raises:
        TesseraError: the index does not have this DOI (``bundle-not-listed``), or is wrong.
    """
    known = [entry for entry in store.entries(root) if entry.doi] if root.is_dir() else []
    found = [entry for entry in known if entry.doi.lower() == doi.lower()]
    if not found:
        others = ", ".join(sorted({entry.doi for entry in known})) or "no DOI"
        raise TesseraError(
            f"bundle {doi}", f"{root / store.INDEX} has {others}, so its SHA-256 is not known",
            f"download the zip file from https://doi.org/{doi} and name it; or add a row to the index",
            code="bundle-not-listed",
        )  # fmt: skip
    return found


def fetch(
    entry: Entry, *, progress: Show = lambda name, done, total: None, pause_s: float | None = None
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
            :func:`tessera.bundles.reader.read`.
    """
    path = store.download_of(entry)
    if not path.is_file() or sha256_of(path) != entry.sha256:
        _download(entry, path, progress, PAUSE_S if pause_s is None else pause_s)
    found = store.identity(read(path))
    if found != entry.id:
        raise _failed(entry, f"the zip file has the bundle {found}", "correct the id in the index", "other")
    return path


def _download(entry: Entry, path: Path, progress: Show, pause_s: float) -> None:
    file = _file(entry, pause_s)
    part = path.with_name(f"{path.name}.part")
    again = f"look at https://doi.org/{entry.doi}, then name the DOI again: an interrupted download continues"
    Download(
        file.url, part, asked=f"{file.name} of bundle {entry.id} ({entry.doi})", if_refused=again,
        if_interrupted=again, checked=True, attempts=zenodo.ATTEMPTS, first_pause_s=pause_s,
    ).complete(partial(progress, path.name))  # fmt: skip
    sha256, md5 = sha256_of(part), _md5(part)
    if sha256 == entry.sha256:
        return publish(part, path)
    part.unlink()
    if md5 != file.md5:
        found = f"the MD5 of {file.name} is {md5}, the archive's is {file.md5}; the file was removed"
        raise _failed(entry, found, "name the DOI again", "damaged")
    found = f"the SHA-256 of {file.name} is {sha256}, the index has {entry.sha256}; the file was removed"
    raise _failed(entry, found, "ask the owner of the deposit which one is right, and correct the row", "sum")


def _file(entry: Entry, pause_s: float) -> zenodo.Offered:
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
        files = zenodo.offered(number[1], pause_s)
    except ConnectionError as error:
        raise TesseraError(
            f"bundle {entry.id} ({entry.doi})", f"the archive can't be reached: {error}",
            "connect, or name a zip file that was downloaded before", exit_code=EXIT_USAGE,
            code="bundle-offline",
        ) from error  # fmt: skip
    except ValueError as error:
        raise _failed(entry, str(error), "check the DOI in the index", "deposit") from error
    zips = [one for one in files if one.name.endswith(".zip")]
    own = [one for one in zips if one.name == f"{entry.id}.zip"] or zips
    if len(own) != 1:
        names = ", ".join(one.name for one in files) or "no file"
        remedy = f"the deposit must have {entry.id}.zip, or one zip file: ask its owner"
        raise _failed(entry, f"the record has {names}", remedy, "deposit")
    return own[0]


def _md5(path: Path) -> str:
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()


def _failed(entry: Entry, found: str, remedy: str, code: str) -> TesseraError:
    return TesseraError(
        f"bundle {entry.id} ({entry.doi})", found, remedy, exit_code=EXIT_FAILED, code=f"bundle-{code}"
    )
