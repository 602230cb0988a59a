"""Fetch a dataset: attempts until it is whole, then check, then one rename.

The file gets its name only when it is complete and right, so whatever carries the name can be used. A file
that is complete and wrong is put aside under a name that says so, for whoever wants to look.
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import requests

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.record.datasets.cache import PRESENT, cache_folder, file_of, part_of, record_of, state
from tessera.record.datasets.manifest import Dataset
from tessera.record.datasets.transfer import Interrupted, Progress, forget_tag, transfer
from tessera.record.datasets.verify import UNVERIFIED, VERIFIED, breach, sha256_of

ATTEMPTS = 5  #: in a row without a byte of progress
FIRST_PAUSE_S = 1.0  #: doubles from attempt to attempt


def fetch(
    dataset: Dataset,
    *,
    progress: Progress = lambda done, total: None,
    attempts: int = ATTEMPTS,
    first_pause_s: float = FIRST_PAUSE_S,
) -> dict:
    """Download the dataset unless it is here; goes on where an interrupted download stopped.

    Returns:
        The record: ``name, version, url, bytes, sha256, fetched, verdict`` (``verified`` or
        ``unverified``, see :mod:`tessera.record.datasets.verify`).

    Raises:
        TesseraError: no network, refused, disk full, or a file that is not what was published.
    """
    if state(dataset).state == PRESENT:
        return _accept(dataset, file_of(dataset))
    part = part_of(dataset)
    part.parent.mkdir(parents=True, exist_ok=True)
    with requests.Session() as session:
        _complete(dataset, part, session, progress, attempts, first_pause_s)
    forget_tag(part)
    return _accept(dataset, part)


def _complete(dataset, part: Path, session, progress: Progress, attempts: int, pause_s: float) -> None:
    """Attempts until one comes to its end; gives up after ``attempts`` in a row without a new byte."""
    failed, have, wait_s = 0, _size(part), pause_s
    while True:
        try:
            transfer(dataset.url, part, session, progress)
            return
        except Interrupted as problem:
            failed, wait_s = (failed + 1, wait_s * 2) if _size(part) <= have else (1, pause_s)
            have = _size(part)
            if failed >= attempts:
                raise TesseraError(
                    f"download of {dataset.url}",
                    f"{failed} attempts in a row failed, the last one: {problem}; {have} bytes are here",
                    f"check the network, then tessera datasets fetch {dataset.name}: it goes on where it "
                    "stopped; without a network use size `default`, whose input is synthetic",
                    exit_code=EXIT_FAILED,
                ) from problem
            time.sleep(wait_s)


def _accept(dataset: Dataset, path: Path) -> dict:
    """Check a complete file and give it its name and its record; a wrong one is put aside."""
    sha256 = sha256_of(path)
    if wrong := breach(dataset, path, sha256):
        aside = cache_folder(dataset) / f"{dataset.file_name}.wrong-{sha256[:8]}"
        path.replace(aside)
        raise TesseraError(
            f"dataset {dataset.name} from {dataset.url}",
            f"{wrong}; the file was put aside as {aside}",
            "if the publisher changed it, correct datasets/manifest.csv; else fetch it again",
            exit_code=EXIT_FAILED,
        )
    fresh = path != file_of(dataset)
    record = {
        "name": dataset.name,
        "version": dataset.version,
        "url": dataset.url,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "fetched": datetime.now(UTC).isoformat(timespec="seconds"),
        "verdict": VERIFIED if dataset.sha256 else UNVERIFIED,
    }
    if fresh:
        with path.open("rb") as file:
            os.fsync(file.fileno())
        path.replace(file_of(dataset))
    if fresh or not record_of(dataset).exists():
        write_text(record_of(dataset), json.dumps(record, indent=1) + "\n")
    return record


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
