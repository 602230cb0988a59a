"""The cache on disk, ``datasets/cache/<name>/``: the file; ``<file>.part`` during a download; and
``<file>.json``, the record of the download (address, bytes, SHA-256, date).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import repo_root
from tessera.record.datasets.manifest import Dataset, load

#: States of a dataset, as ``tessera datasets list`` prints them.
MISSING, PARTIAL, PRESENT = "missing", "partial", "present"


@dataclass(frozen=True)
class State:
    """State of one dataset and its bytes so far; the file itself is not read."""

    state: str
    size_bytes: int


def cache_folder(dataset: Dataset) -> Path:
    """Folder of one dataset."""
    return repo_root() / "datasets" / "cache" / dataset.name


def file_of(dataset: Dataset) -> Path:
    """The downloaded file, whether it is there or not."""
    return cache_folder(dataset) / dataset.file_name


def part_of(dataset: Dataset) -> Path:
    """The unfinished download."""
    return file_of(dataset).with_name(dataset.file_name + ".part")


def record_of(dataset: Dataset) -> Path:
    """The record of the finished download."""
    return file_of(dataset).with_name(dataset.file_name + ".json")


def state(dataset: Dataset) -> State:
    """Missing, partial or present."""
    for path, name in ((file_of(dataset), PRESENT), (part_of(dataset), PARTIAL)):
        if path.is_file():
            return State(name, path.stat().st_size)
    return State(MISSING, 0)


def recorded(dataset: Dataset) -> dict:
    """The record of the finished download; empty if there is none or it can't be read."""
    try:
        found = json.loads(record_of(dataset).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def graph_file(name: str, suffix: str) -> Path:
    """The serialised graph of a dataset, ``datasets/cache/<name>/<name><suffix>`` (``.sg`` or ``.wsg``).

    Raises:
        TesseraError: unknown dataset, not fetched (``code`` is ``dataset-missing``), or not converted
            (``dataset-not-converted``); the remedy is the next command.
    """
    dataset = load(name)
    path = cache_folder(dataset) / f"{name}{suffix}"
    if path.is_file():
        return path
    if state(dataset).state != PRESENT:
        raise TesseraError(
            f"dataset {name}",
            f"it is {state(dataset).state} in {cache_folder(dataset)}",
            f"run: tessera datasets fetch {name}; or use size `published`, whose graph is synthetic",
            exit_code=EXIT_FAILED,
            code="dataset-missing",
        )
    raise TesseraError(
        f"dataset {name} as {path.name}",
        f"{dataset.file_name} is here, but has not been converted",
        f"make {path} with the converter of GAPBS, see docs/datasets.md",
        exit_code=EXIT_FAILED,
        code="dataset-not-converted",
    )
