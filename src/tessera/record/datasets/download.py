"""Fetch a dataset: download it (:mod:`tessera.core.downloads`), check it, then rename it.

A file gets its name only when it is complete and correct, so every file with that name can be used. A file
that is complete and wrong gets a name that says so and is kept for inspection.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from tessera.core.downloads import Download, Progress, publish
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.record.datasets.cache import PRESENT, cache_folder, file_of, part_of, record_of, state
from tessera.record.datasets.manifest import Dataset
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
    """Download the dataset unless it is here; an interrupted download continues where it stopped.

    Returns:
        The record: ``name, version, url, bytes, sha256, fetched, verdict`` (``verified`` or
        ``unverified``, see :mod:`tessera.record.datasets.verify`).

    Raises:
        TesseraError: no network, refused by the server, disk full, or a file that differs from the published
            one; :meth:`tessera.core.downloads.Download.complete` lists the codes.
    """
    if state(dataset).state == PRESENT:
        return _accept(dataset, file_of(dataset))
    part = part_of(dataset)
    Download(
        dataset.url,
        part,
        asked=dataset.url,
        if_refused="find its new address and correct datasets/manifest.csv; size `published` needs none",
        if_interrupted=f"check the network, then run: tessera datasets fetch {dataset.name}. The download "
        "continues where it stopped. Without a network use size `published`, whose input is synthetic",
        attempts=attempts,
        first_pause_s=first_pause_s,
    ).complete(progress)
    return _accept(dataset, part)


def _accept(dataset: Dataset, path: Path) -> dict:
    """Check a complete file, then give it its name and its record; a wrong file gets another name."""
    sha256 = sha256_of(path)
    if wrong := breach(dataset, path, sha256):
        aside = cache_folder(dataset) / f"{dataset.file_name}.wrong-{sha256[:8]}"
        path.replace(aside)
        raise TesseraError(
            f"dataset {dataset.name} from {dataset.url}",
            f"{wrong}; the file is now {aside}",
            "if the publisher changed the file, correct datasets/manifest.csv; otherwise fetch it again",
            exit_code=EXIT_FAILED,
            code="dataset-wrong",
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
        publish(path, file_of(dataset))
    if fresh or not record_of(dataset).exists():
        write_text(record_of(dataset), json.dumps(record, indent=1) + "\n")
    return record
