"""The archived records that papers name (``reference-results/records.yaml``), and fetched ones on disk."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tessera.core.configuration_files import Document
from tessera.core.errors import EXIT_FAILED, TesseraError, unknown_name
from tessera.core.files import md5_of, repo_root, sha256_of, write_text
from tessera.core.reference.published_tables import default_dir

RECORDS_FILE = Document("list of records", "records", "correct this file")

# The list, as checked values.
#
# The archive's own metadata (titles, sizes) is not part of this list; it is read when a record is fetched.


@dataclass(frozen=True)
class RecordTable:
    """One file of a record's reference data: where it is, what it shows, in which column layout."""

    file: str
    location: str
    section: str
    layout: str


@dataclass(frozen=True)
class ArchivedRecord:
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
    tables: tuple[RecordTable, ...]

    @property
    def folder(self) -> Path:
        """Where its files are kept: ``datasets/cache/records/<name>/``."""
        return repo_root() / "datasets" / "cache" / "records" / self.name

    @property
    def data_folder(self) -> Path:
        """Where its reference data are unpacked."""
        return self.folder / "reference"


def record_names(path: Path | None = None) -> list[str]:
    """Names of all records, in the file's order."""
    return list(_read(path))


def load_record(name: str, path: Path | None = None) -> ArchivedRecord:
    """One record.

    Raises:
        TesseraError: unknown name, or a file that breaks its rules.
    """
    found = _read(path)
    if name not in found:
        raise unknown_name("record", name, list(found))
    return found[name]


def _read(path: Path | None) -> dict[str, ArchivedRecord]:
    path = path or default_dir() / "records.yaml"
    return {name: _record(name, entry, path) for name, entry in RECORDS_FILE.read(path)["records"].items()}


def _record(name: str, entry: dict, path: Path) -> ArchivedRecord:
    if not entry["doi"].endswith(entry["record"]):
        raise TesseraError(
            f"{RECORDS_FILE.what} {path}, records/{name}/doi",
            f"DOI {entry['doi']} does not end in record {entry['record']}",
            RECORDS_FILE.remedy,
        )
    tables = tuple(RecordTable(**table) for table in entry["tables"])
    return ArchivedRecord(name=name, **entry | {"tables": tables})


# A fetched record on disk: its files, and ``record.json`` with the bytes, MD5 and SHA-256 of each.
#
# The archive publishes MD5 only. If ``records.yaml`` has the SHA-256, the file is compared with it (verdict
# ``verified``). Otherwise the SHA-256 of the first download is recorded, and later downloads are compared
# with that (verdict ``recorded``).

MISSING, PARTIAL, PRESENT = "missing", "partial", "present"
VERIFIED, RECORDED = "verified", "recorded"


def recorded_files(record: ArchivedRecord) -> dict:
    """``record.json``; empty if there is none or it can't be read."""
    try:
        found = json.loads(_record_path(record).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("files"), dict) else {}


def record_state(record: ArchivedRecord) -> str:
    """:data:`PRESENT` if every recorded file is there, :data:`PARTIAL` if any is, else :data:`MISSING`."""
    known = recorded_files(record).get("files", {})
    if known and all((record.folder / name).is_file() for name in known):
        return PRESENT
    return PARTIAL if record.folder.is_dir() and any(record.folder.rglob("*")) else MISSING


def keep_record(record: ArchivedRecord, md5: dict[str, str], title: str) -> dict:
    """Check complete files (name -> MD5 that the archive gives) against known SHA-256 and write them down.

    Raises:
        TesseraError: a file has another SHA-256 than ``records.yaml`` or an earlier download.
    """
    files = {name: _file_entry(record, name, value) for name, value in sorted(md5.items())}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = {"name": record.name, "doi": record.doi, "title": title, "fetched": now, "files": files}
    write_text(_record_path(record), json.dumps(found, indent=1) + "\n")
    return found


def verify_record(record: ArchivedRecord) -> dict[str, str]:
    """Read every file again: name -> :data:`VERIFIED` or :data:`RECORDED`.

    Raises:
        TesseraError: not fetched, or a file is missing or changed.
    """
    known = recorded_files(record).get("files", {})
    if not known:
        raise TesseraError(
            f"record {record.name} ({record.doi})",
            f"it is {record_state(record)} in {record.folder}",
            f"run: tessera dev reference fetch {record.name}",
            exit_code=EXIT_FAILED,
            code="record-missing",
        )
    for name, entry in known.items():
        path = record.folder / name
        if not path.is_file():
            raise _wrong_file(record, name, "the file is missing", "file-missing")
        if (md5 := md5_of(path)) != entry["md5"]:
            found = f"its MD5 is {md5}, the archive's is {entry['md5']}"
            raise _wrong_file(record, name, found, "wrong-md5")
        _file_entry(record, name, md5)
    return {name: _verdict(record, name) for name in known}


def _file_entry(record: ArchivedRecord, name: str, md5: str) -> dict:
    path = record.folder / name
    sha256 = sha256_of(path)
    known = record.files.get(name)
    earlier = recorded_files(record).get("files", {}).get(name, {}).get("sha256")
    for source, value in (("records.yaml", known), ("an earlier download", earlier)):
        if value and value != sha256:
            found = f"its SHA-256 is {sha256}, that of {source} is {value}"
            raise _wrong_file(record, name, found, "wrong-sha256")
    verdict = _verdict(record, name)
    return {"bytes": path.stat().st_size, "md5": md5, "sha256": sha256, "verdict": verdict}


def _verdict(record: ArchivedRecord, name: str) -> str:
    return VERIFIED if name in record.files else RECORDED


def _wrong_file(record: ArchivedRecord, name: str, found: str, code: str) -> TesseraError:
    return TesseraError(
        f"file {name} of record {record.name} ({record.doi})",
        found,
        f"inspect the file, remove {record.folder}, then run: tessera dev reference fetch {record.name}",
        exit_code=EXIT_FAILED,
        code=code,
    )


def _record_path(record: ArchivedRecord) -> Path:
    return record.folder / "record.json"
