"""The archived records that the papers name (``reference-results/records.yaml``), as checked values.

The archive's own metadata (titles, sizes) is not part of this list; it is read when a record is fetched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from pathlib import Path

import yaml

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root
from tessera.reference.tables import default_dir


@dataclass(frozen=True)
class Table:
    """One file of a record's reference data: where it is, what it shows, in which column layout."""

    file: str
    location: str
    section: str
    layout: str


@dataclass(frozen=True)
class Record:
    """One archived record; ``files`` holds the SHA-256 of each file whose checksum is known to us."""

    name: str
    paper: str
    doi: str
    record: str
    named_in: str
    holds: str
    by_default: bool
    files: dict[str, str]
    reference_folder: str
    tables: tuple[Table, ...]

    @property
    def folder(self) -> Path:
        """Where its files are kept: ``datasets/cache/records/<name>/``."""
        return repo_root() / "datasets" / "cache" / "records" / self.name

    @property
    def data_folder(self) -> Path:
        """Where its reference data are unpacked."""
        return self.folder / "reference"


def names(path: Path | None = None) -> list[str]:
    """Names of all records, in the file's order."""
    return list(_read(path))


def load(name: str, path: Path | None = None) -> Record:
    """One record.

    Raises:
        TesseraError: unknown name, or a file that breaks its rules.
    """
    found = _read(path)
    if name not in found:
        raise unknown_name("record", name, list(found))
    return found[name]


def _read(path: Path | None) -> dict[str, Record]:
    path = path or default_dir() / "records.yaml"
    try:
        tree = yaml.safe_load(path.read_text())["records"]
        return {name: _record(name, entry) for name, entry in tree.items()}
    except (OSError, KeyError, TypeError, AttributeError, ValueError, yaml.YAMLError) as error:
        raise TesseraError(
            f"list of records {path}", f"{type(error).__name__}: {error}", "correct this file"
        ) from None


def _record(name: str, entry: dict) -> Record:
    wanted = {field.name for field in fields(Record)} - {"name"}
    if set(entry) != wanted:
        raise ValueError(f"record '{name}' needs exactly the keys {', '.join(sorted(wanted))}")
    if not re.fullmatch(r"[a-z0-9-]+", name) or not re.fullmatch(r"\d+", entry["record"]):
        raise ValueError(f"record '{name}': a name has only a-z, 0-9 and '-', a record number only digits")
    if not entry["doi"].endswith(entry["record"]):
        raise ValueError(f"record '{name}': DOI {entry['doi']} does not end in record {entry['record']}")
    for file, sha256 in entry["files"].items():
        if not re.fullmatch(r"[0-9a-f]{64}", str(sha256)):
            raise ValueError(f"record '{name}', file {file}: '{sha256}' is not a SHA-256")
    tables = tuple(Table(**table) for table in entry["tables"])
    return Record(name=name, **entry | {"tables": tables})
