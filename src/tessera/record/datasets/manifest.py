"""``datasets/manifest.csv``: name, version, URL, licence, bytes and SHA-256 of each published input.

``bytes`` or ``sha256`` is empty if the publisher does not give it. It is never filled in from our own
download, because readers could take that number for a published one.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root

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


def read(path: Path | None = None) -> dict[str, Dataset]:
    """All datasets by name, in the file's order.

    Raises:
        TesseraError: a header, name, URL, size or checksum breaks a rule; ``code`` says which.
    """
    path = path or manifest_path()
    with path.open(newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise _bad(path, f"the columns are {rows.fieldnames}, not {', '.join(COLUMNS)}", "columns")
        found: dict[str, Dataset] = {}
        for row in rows:
            dataset = _dataset(path, row)
            if dataset.name in found:
                raise _bad(path, f"two rows have the name {dataset.name}", "duplicate")
            found[dataset.name] = dataset
    return found


def names() -> list[str]:
    """Names of all datasets."""
    return list(read())


def load(name: str) -> Dataset:
    """The dataset of this name; an unknown one is an error that lists the valid ones."""
    found = read()
    if name not in found:
        raise unknown_name("dataset", name, list(found))
    return found[name]


def _dataset(path: Path, row: dict[str, str]) -> Dataset:
    name = row["name"]
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name or ""):
        raise _bad(path, f"the name '{name}' has other characters than a-z, 0-9 and dashes", "name")
    if any(row[key] is None for key in COLUMNS) or None in row:
        raise _bad(path, f"the row of {name} does not have {len(COLUMNS)} fields", "fields")
    parts = urlsplit(row["url"])
    if parts.scheme not in ("http", "https") or not parts.path.rsplit("/", 1)[-1]:
        raise _bad(path, f"{name}: '{row['url']}' is not the http(s) address of a file", "url")
    if row["bytes"] and not row["bytes"].isdecimal():
        raise _bad(path, f"{name}: '{row['bytes']}' is not a number of bytes", "bytes")
    if row["sha256"] and not re.fullmatch(r"[0-9a-f]{64}", row["sha256"]):
        raise _bad(path, f"{name}: '{row['sha256']}' is not a SHA-256 in lower-case hexadecimal", "sha256")
    if not row["licence"] or not row["version"]:
        raise _bad(path, f"{name} has no licence or no version", "licence")
    size = int(row["bytes"]) if row["bytes"] else None
    return Dataset(name, row["version"], row["url"], row["licence"], size, row["sha256"])


def _bad(path: Path, found: str, rule: str) -> TesseraError:
    remedy = "correct the file; docs/datasets.md describes its columns"
    return TesseraError(f"dataset manifest {path}", found, remedy, code=f"manifest-{rule}")
