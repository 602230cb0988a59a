"""Fetch a record: zenodo-get asks for its metadata, chooses files, compares MD5 and tries again.

zenodo-get has no option for another address and begins interrupted files again. Its steps are functions
that take their parts as arguments, so ours go in there: a download that resumes
(:mod:`~tessera.reference.archive.resume`), and a selection that refuses a record without files and names
that leave the folder.
"""

from __future__ import annotations

import json
import re
import time
from functools import partial
from pathlib import PurePosixPath

from tessera.core.errors import EXIT_FAILED, EXIT_USAGE, TesseraError
from tessera.reference.archive.keep import keep
from tessera.reference.archive.resume import Progress, Resuming
from tessera.reference.records import Record

ATTEMPTS = 3  #: of one file, after the first
PAUSE_S = 2.0  #: between them
HTTP_ATTEMPTS = 4  #: of one request that is answered 429, 502, 503 or 504, or not at all
BACKOFF_S = 0.5  #: doubles; a server's Retry-After goes first
TIMEOUT_S = 30.0


class Offline(TesseraError):
    """The archive can't be reached at all; ``reference-results/`` has what the papers print."""


def fetch(
    record: Record,
    *,
    progress: Progress = lambda name, done, total: None,
    pause_s: float | None = None,
    backoff_s: float | None = None,
) -> dict:
    """All files of the record, complete and checked; files that are here and right are not fetched again.

    Args:
        progress: called as bytes arrive.
        pause_s, backoff_s: seconds instead of :data:`PAUSE_S` and :data:`BACKOFF_S`.

    Returns:
        What ``record.json`` holds: ``name, doi, title, fetched, files`` (bytes, md5, sha256, verdict).

    Raises:
        Offline: no connection (exit status 2).
        TesseraError: refused, no files, damaged, interrupted too often, or not what was fetched before (1).
    """
    from loguru import logger
    from zenodo_get import downloader
    from zenodo_get.file_download import check_hash, handle_single_file_download
    from zenodo_get.workflow import run_download

    logger.disable("zenodo_get")  # its reasons come back in our errors
    downloader.configure_client(
        retry_total=HTTP_ATTEMPTS,
        backoff_factor=BACKOFF_S if backoff_s is None else backoff_s,
        verbosity=0,
    )
    client = downloader.get_client(verbosity=0)
    download, seen = Resuming(client, progress), {}
    try:
        run_download(
            actual_record=record.record,
            actual_doi=None,
            md5_opt=False,
            wget_file_opt=None,
            continue_on_error_opt=False,
            keep_opt=False,
            cont_opt=True,
            retry_opt=ATTEMPTS,
            pause_opt=PAUSE_S if pause_s is None else pause_s,
            timeout_val_opt=TIMEOUT_S,
            outdir_opt=record.folder,
            sandbox_opt=False,
            access_token_opt=None,
            glob_str_opt=(),
            verbosity=0,
            exceptions_on_failure=True,
            existing_file_mode="overwrite",
            no_overwrite_mode="no_overwrite",
            fetch_metadata=partial(_metadata, client=client),
            filter_files=partial(_select, record=record, seen=seen),
            handle_file=partial(
                handle_single_file_download,
                abort_requested=lambda: False,
                download_file_func=download,
                check_hash_func=check_hash,
                sleep_func=time.sleep,
            ),
            get_client=lambda: client,
            abort_requested=lambda: False,
        )
    except ConnectionError as error:
        raise Offline(
            f"record {record.name} ({record.doi})",
            f"the archive can't be reached: {error}",
            "connect, or add --offline: comparisons then use the printed numbers of reference-results/",
            exit_code=EXIT_USAGE,
        ) from error
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise _failed(record, f"{error}. {download.last_failure}".strip(" .")) from error
    return keep(record, seen["md5"], seen["title"])


def _metadata(record_id, sandbox, token, timeout, exceptions, *, client) -> dict:
    from zenodo_get.metadata import fetch_record_metadata

    try:
        return fetch_record_metadata(
            record_id, sandbox, token, timeout, exceptions, get_client=lambda: client
        )
    except json.JSONDecodeError as error:
        raise ValueError(f"the archive's answer is no JSON ({error})") from error


def _select(metadata: dict, patterns, record_id: str, *, record: Record, seen: dict) -> list[dict]:
    """Every file of the record, in our form; keeps title and MD5 in ``seen``."""
    from zenodo_get.metadata import filter_files_from_metadata

    files = filter_files_from_metadata(metadata, patterns, record_id)
    if not files:
        raise _failed(record, "the record has no files (withdrawn, restricted, or only a landing page)")
    md5 = {}
    for entry in files:
        name, checksum = entry.get("filename") or entry["key"], str(entry.get("checksum", ""))
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or path.name == "record.json":
            raise _failed(record, f"file name '{name}' would leave the record's folder")
        if not re.fullmatch(r"(md5:)?[0-9a-f]{32}", checksum):
            raise _failed(record, f"file {name} comes without an MD5 (checksum '{checksum}')")
        md5[name] = checksum.split(":")[-1]
    seen |= {"md5": md5, "title": str(metadata["metadata"]["title"])}
    return files


def _failed(record: Record, found: str) -> TesseraError:
    return TesseraError(
        f"record {record.name} ({record.doi})",
        found,
        f"look at https://doi.org/{record.doi}, then tessera reference fetch {record.name}: complete files "
        "and the beginnings of interrupted ones are kept",
        exit_code=EXIT_FAILED,
    )
