"""Published inputs: their manifest, downloads that resume, checksums, and the state of the cache.

``datasets/manifest.csv`` names them; ``datasets/cache/<name>/`` has each file, ``<file>.part`` during a
download, and ``<file>.json``, the record of the download.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from tessera.core.downloads import Download, Progress
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import publish, repo_root, sha256_of, write_text

# ``datasets/manifest.csv``: name, version, URL, licence, bytes and SHA-256 of each published input.
#
# ``bytes`` or ``sha256`` is empty if the publisher does not give it. It is never filled in from our own
# download, because readers could take that number for a published one.

COLUMNS = ("name", "version", "url", "licence", "bytes", "sha256")


@dataclass(frozen=True)
class Dataset:
    """One file to download.

    Attributes:
        size_bytes: published size; None if it isn't published.
        sha256: published checksum, lower case; empty if it isn't published.
    """

    name: str
    version: str
    url: str
    licence: str
    size_bytes: int | None = None
    sha256: str = ""

    @property
    def file_name(self) -> str:
        """The last part of the URL's path."""
        return urlsplit(self.url).path.rsplit("/", 1)[-1]


def manifest_path() -> Path:
    """Where the manifest is."""
    return repo_root() / "datasets" / "manifest.csv"


def read_datasets(path: Path | None = None) -> dict[str, Dataset]:
    """All datasets by name, in the file's order.

    Raises:
        TesseraError: a header, name, URL, size or checksum breaks a rule; ``code`` says which.
    """
    path = path or manifest_path()
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise _bad_manifest(
                path, f"the columns are {rows.fieldnames}, not {', '.join(COLUMNS)}", "columns"
            )
        found: dict[str, Dataset] = {}
        for row in rows:
            dataset = _dataset_of_row(path, row)
            if dataset.name in found:
                raise _bad_manifest(path, f"two rows have the name {dataset.name}", "duplicate")
            found[dataset.name] = dataset
    return found


def dataset_names() -> list[str]:
    """Names of all datasets."""
    return list(read_datasets())


def load_dataset(name: str) -> Dataset:
    """The dataset of this name; an unknown one is an error that lists the valid ones."""
    found = read_datasets()
    if name not in found:
        raise unknown_name("dataset", name, list(found))
    return found[name]


def _dataset_of_row(path: Path, row: dict[str, str]) -> Dataset:
    name = row["name"]
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name or ""):
        raise _bad_manifest(path, f"the name '{name}' has other characters than a-z, 0-9 and dashes", "name")
    if any(row[key] is None for key in COLUMNS) or None in row:
        raise _bad_manifest(path, f"the row of {name} does not have {len(COLUMNS)} fields", "fields")
    parts = urlsplit(row["url"])
    if parts.scheme not in ("http", "https") or not parts.path.rsplit("/", 1)[-1]:
        raise _bad_manifest(path, f"{name}: '{row['url']}' is not the http(s) address of a file", "url")
    if row["bytes"] and not row["bytes"].isdecimal():
        raise _bad_manifest(path, f"{name}: '{row['bytes']}' is not a number of bytes", "bytes")
    if row["sha256"] and not re.fullmatch(r"[0-9a-f]{64}", row["sha256"]):
        raise _bad_manifest(
            path, f"{name}: '{row['sha256']}' is not a SHA-256 in lower-case hexadecimal", "sha256"
        )
    if not row["licence"] or not row["version"]:
        raise _bad_manifest(path, f"{name} has no licence or no version", "licence")
    size = int(row["bytes"]) if row["bytes"] else None
    return Dataset(name, row["version"], row["url"], row["licence"], size, row["sha256"])


def _bad_manifest(path: Path, found: str, rule: str) -> TesseraError:
    remedy = "correct the file; docs/howto/datasets.md describes its columns"
    return TesseraError(f"dataset manifest {path}", found, remedy, code=f"manifest-{rule}")


# The cache on disk. A record has the address, bytes, SHA-256 and date of the download.

#: States of a dataset, as ``tessera workload data show`` prints them.
MISSING, PARTIAL, PRESENT = "missing", "partial", "present"


@dataclass(frozen=True)
class DatasetState:
    """State of one dataset and its bytes so far; the file itself is not read."""

    state: str
    size_bytes: int


def cache_folder(dataset: Dataset) -> Path:
    """Folder of one dataset."""
    return repo_root() / "datasets" / "cache" / dataset.name


def dataset_file(dataset: Dataset) -> Path:
    """The downloaded file, whether it is there or not."""
    return cache_folder(dataset) / dataset.file_name


def part_of(dataset: Dataset) -> Path:
    """The unfinished download."""
    return dataset_file(dataset).with_name(dataset.file_name + ".part")


def record_of(dataset: Dataset) -> Path:
    """The record of the finished download."""
    return dataset_file(dataset).with_name(dataset.file_name + ".json")


def state(dataset: Dataset) -> DatasetState:
    """Missing, partial or present."""
    for path, name in ((dataset_file(dataset), PRESENT), (part_of(dataset), PARTIAL)):
        if path.is_file():
            return DatasetState(name, path.stat().st_size)
    return DatasetState(MISSING, 0)


def download_record(dataset: Dataset) -> dict:
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
    dataset = load_dataset(name)
    path = cache_folder(dataset) / f"{name}{suffix}"
    if path.is_file():
        return path
    if state(dataset).state != PRESENT:
        raise TesseraError(
            f"dataset {name}",
            f"it is {state(dataset).state} in {cache_folder(dataset)}",
            f"run: tessera workload data fetch {name}; or use size `published`, whose graph is synthetic",
            exit_code=EXIT_FAILED,
            code="dataset-missing",
        )
    raise TesseraError(
        f"dataset {name} as {path.name}",
        f"{dataset.file_name} is here, but has not been converted",
        f"make {path} with the converter of GAPBS, see docs/howto/datasets.md",
        exit_code=EXIT_FAILED,
        code="dataset-not-converted",
    )


# Compare a downloaded file with the published one: size, checksum, and the first bytes of its format.
#
# Verdicts: ``verified`` (it has the published SHA-256), ``unverified`` (no SHA-256 is published, but the
# file is the one that was fetched), or an error that states the difference.

VERIFIED, UNVERIFIED = "verified", "unverified"

#: Servers often send an error page under the name of an archive.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".bz2": b"BZh", ".zip": b"PK"}


def breach(dataset: Dataset, path: Path, sha256: str) -> str:
    """The difference between the file at ``path`` with this checksum and the published one; empty if none."""
    size = path.stat().st_size
    if dataset.size_bytes is not None and size != dataset.size_bytes:
        return f"it has {size} bytes, the published size is {dataset.size_bytes} bytes"
    if dataset.sha256 and sha256 != dataset.sha256:
        return f"its SHA-256 is {sha256}, the published one is {dataset.sha256}"
    wanted = _FIRST_BYTES.get(Path(dataset.file_name).suffix)
    with path.open("rb") as file:
        first = file.read(8)
    if wanted and not first.startswith(wanted):
        return (
            f"it starts with {first!r}, so it is not a {Path(dataset.file_name).suffix} file (an error page?)"
        )
    return ""


def verify_dataset(dataset: Dataset) -> str:
    """Read the whole file again: :data:`VERIFIED` or :data:`UNVERIFIED`.

    Raises:
        TesseraError: the file is missing, or differs from the published or the fetched one; ``code`` is
            ``dataset-missing`` or ``dataset-wrong``.
    """
    path = dataset_file(dataset)
    if (now := state(dataset)).state != PRESENT:
        raise TesseraError(
            f"dataset {dataset.name}",
            f"it is {now.state} in {cache_folder(dataset)}",
            f"run: tessera workload data fetch {dataset.name}",
            exit_code=EXIT_FAILED,
            code="dataset-missing",
        )
    sha256 = sha256_of(path)
    wrong = breach(dataset, path, sha256)
    then = download_record(dataset).get("sha256", "")
    if not wrong and then and sha256 != then:
        wrong = f"its SHA-256 is {sha256}; when it was fetched, it was {then}"
    if wrong:
        raise TesseraError(
            f"dataset {dataset.name}, {path}",
            wrong,
            f"remove the file, then run: tessera workload data fetch {dataset.name}",
            exit_code=EXIT_FAILED,
            code="dataset-wrong",
        )
    return VERIFIED if dataset.sha256 else UNVERIFIED


# Fetch a dataset: download it (:mod:`tessera.core.downloads`), check it, then rename it.
#
# A file gets its name only when it is complete and correct, so every file with that name can be used. A file
# that is complete and wrong gets a name that says so and is kept for inspection.

ATTEMPTS = 5  #: in a row without a byte of progress
FIRST_PAUSE_S = 1.0  #: doubles from attempt to attempt


def fetch_dataset(
    dataset: Dataset,
    *,
    progress: Progress = lambda done, total: None,
    attempts: int = ATTEMPTS,
    first_pause_s: float = FIRST_PAUSE_S,
) -> dict:
    """Download the dataset unless it is here; an interrupted download continues where it stopped.

    Returns:
        The record: ``name, version, url, bytes, sha256, fetched, verdict`` (``verified`` or
        ``unverified``, see :func:`verify_dataset`).

    Raises:
        TesseraError: no network, refused by the server, disk full, or a file that differs from the published
            one; :meth:`tessera.core.downloads.Download.complete` lists the codes.
    """
    if state(dataset).state == PRESENT:
        return _accept(dataset, dataset_file(dataset))
    part = part_of(dataset)
    Download(
        dataset.url,
        part,
        asked=dataset.url,
        if_refused="find its new address and correct datasets/manifest.csv; size `published` needs none",
        if_interrupted=f"check the network, then run: tessera workload data fetch {dataset.name}. "
        "The download continues where it stopped. Without a network use size `published`, whose input is"
        " synthetic",
        attempts=attempts,
        first_pause_s=first_pause_s,
    ).complete(progress)
    return _accept(dataset, part)


def _accept(dataset: Dataset, path: Path) -> dict:
    """Check a complete file, then give it its name and its record; a wrong file gets another name."""
    sha256 = sha256_of(path)
    if wrong := breach(dataset, path, sha256):
        aside = cache_folder(dataset) / f"{dataset.file_name}.wrong-{sha256[:8]}"
        publish(path, aside)
        raise TesseraError(
            f"dataset {dataset.name} from {dataset.url}",
            f"{wrong}; the file is now {aside}",
            "if the publisher changed the file, correct datasets/manifest.csv; otherwise fetch it again",
            exit_code=EXIT_FAILED,
            code="dataset-wrong",
        )
    fresh = path != dataset_file(dataset)
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
        publish(path, dataset_file(dataset))
    if fresh or not record_of(dataset).exists():
        write_text(record_of(dataset), json.dumps(record, indent=1) + "\n")
    return record


# Datasets in a workload's arguments: ``file:{gap-twitter}.sg`` stands for the path of that graph.

_PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)\}(\.w?sg)")


def expand(args: Sequence[str]) -> tuple[str, ...]:
    """The arguments with every placeholder replaced by the path of the graph it names.

    Raises:
        TesseraError: the dataset is unknown, not fetched or not converted.
    """
    return tuple(_PLACEHOLDER.sub(lambda found: str(graph_file(*found.groups())), arg) for arg in args)
