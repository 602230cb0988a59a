"""Fetch an archived record and extract its reference data: the steps of ``tessera dev reference fetch``."""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath

from tessera.core import downloads
from tessera.core.archives import is_archive, unpack
from tessera.core.downloads import Download
from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.core.files import making_folder, md5_of, publish
from tessera.core.progress import Show
from tessera.core.reference.records import ArchivedRecord, keep_record

# Fetch a record: zenodo-get gets its metadata and lists its files, :mod:`tessera.core.downloads` gets them.
#
# zenodo-get's own download restarts interrupted files, so it is not used. Rejected are records
# without files, file names that leave the folder, and files whose MD5 differs.

PAUSE_S = 1.0  #: between two attempts; doubles, and a server's Retry-After goes first


class ArchiveOffline(TesseraError):
    """The archive cannot be reached; ``reference-results/`` has the numbers that the papers print."""


def fetch_record(
    record: ArchivedRecord,
    *,
    progress: Show = lambda name, done, total: None,
    pause_s: float | None = None,
) -> dict:
    """All files of the record, complete and checked; files that are here and correct are not fetched again.

    Args:
        progress: called as bytes arrive.
        pause_s: seconds instead of :data:`PAUSE_S`.

    Returns:
        What ``record.json`` holds: ``name, doi, title, fetched, files`` (bytes, md5, sha256, verdict).

    Raises:
        ArchiveOffline: no connection (exit status 2).
        TesseraError: refused, no files, damaged, interrupted too often, or not what was fetched before (1).
    """
    pause_s = PAUSE_S if pause_s is None else pause_s
    try:
        metadata = downloads.record_metadata(record.record, pause_s)
        files, title = _files(metadata, record), str(metadata["metadata"]["title"])
    except ConnectionError as error:
        raise ArchiveOffline(
            f"record {record.name} ({record.doi})",
            f"the archive can't be reached: {error}",
            "connect, or add --offline: comparisons then use the printed numbers of reference-results/",
            exit_code=EXIT_USAGE,
            code="archive-unreachable",
        ) from error
    except downloads.NoMd5 as error:
        raise _failed(record, str(error), "no-md5") from error
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise _failed(record, str(error), "metadata-unusable") from error
    for name, (url, md5) in files.items():
        _complete(record, name, url, md5, partial(progress, PurePosixPath(name).name), pause_s)
    return keep_record(record, {name: md5 for name, (_, md5) in files.items()}, title)


def _files(metadata: dict, record: ArchivedRecord) -> dict[str, tuple[str, str]]:
    """Name -> (address, MD5) of every file of the record."""
    files = {}
    for one in downloads.files_of_record(metadata, record.record):
        path = PurePosixPath(one.name)
        if path.is_absolute() or ".." in path.parts or "\\" in one.name or path.name == "record.json":
            raise _failed(record, f"file name '{one.name}' leads out of the record's folder", "unsafe-name")
        files[one.name] = (one.url, one.md5)
    if not files:
        found = "the record has no files (withdrawn, restricted, or only a landing page)"
        raise _failed(record, found, "no-files")
    return files


def _complete(record: ArchivedRecord, name: str, url: str, md5: str, progress, pause_s: float) -> None:
    """Download one file unless it is here; a damaged one is removed."""
    path = record.folder / name
    if path.is_file() and md5_of(path) == md5:
        return
    part = path.with_name(path.name + ".part")
    remedy = _remedy(record)
    Download(
        url,
        part,
        asked=f"{name} of record {record.name} ({record.doi})",
        if_refused=remedy,
        if_interrupted=remedy,
        checked=True,
        attempts=downloads.ZENODO_ATTEMPTS,
        first_pause_s=pause_s,
    ).complete(progress)
    if (found := md5_of(part)) != md5:
        part.unlink()
        wrong = f"the MD5 of {name} is {found}, the archive's is {md5}; the file was removed"
        raise _failed(record, wrong, "wrong-md5")
    publish(part, path)


def _failed(record: ArchivedRecord, found: str, code: str) -> TesseraError:
    asked = f"record {record.name} ({record.doi})"
    return TesseraError(asked, found, _remedy(record), exit_code=EXIT_FAILED, code=code)


def _remedy(record: ArchivedRecord) -> str:
    return (
        f"look at https://doi.org/{record.doi}, then run: tessera dev reference fetch {record.name}. It "
        "keeps complete files and continues interrupted ones"
    )


# Fetch a record, and extract its reference data out of the archives that came.


def fetch_and_extract(record: ArchivedRecord, progress: Show, **pauses: float) -> dict:
    """Fetch, check, unpack; returns the record as kept (see :func:`fetch_record`).

    Raises:
        TesseraError: as fetching and unpacking, or a record whose archives hold no reference data.
    """
    kept = fetch_record(record, progress=progress, **pauses)
    if record.tables:
        extract_tables(record, [record.folder / name for name in kept["files"]])
    return kept


def extract_tables(record: ArchivedRecord, files: list[Path]) -> list[Path]:
    """Unpack the record's tables into its data folder, which is replaced as a whole."""
    wanted = {PurePosixPath(table.file) for table in record.tables}
    root = PurePosixPath(record.reference_folder).parts

    def choose(name: PurePosixPath) -> PurePosixPath | None:
        """``mitosis-1.0/evaluation/reference/figure6/x.csv`` -> ``figure6/x.csv``."""
        for start in range(len(name.parts) - len(root)):
            rest = PurePosixPath(*name.parts[start + len(root) :])
            if name.parts[start : start + len(root)] == root and rest in wanted:
                return rest
        return None

    written: list[Path] = []
    with making_folder(record.data_folder) as fresh:
        for file in filter(is_archive, files):
            written += (path.relative_to(fresh) for path in unpack(file, fresh, choose))
        if not written:
            raise TesseraError(
                f"reference data of record {record.name} ({record.doi})",
                f"none of its archives contains {record.reference_folder}/{record.tables[0].file}",
                f"compare the files in {record.folder} with reference-results/records.yaml and correct it",
                exit_code=EXIT_FAILED,
            )
    return [record.data_folder / path for path in written]
