"""A fetched record on disk: its files, and ``record.json`` with the bytes, MD5 and SHA-256 of each.

The archive publishes MD5 only. If ``records.yaml`` has the SHA-256, the file is compared with it (verdict
``verified``). Otherwise the SHA-256 of the first download is recorded, and later downloads are compared with
that (verdict ``recorded``).
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.reference.records import Record

MISSING, PARTIAL, PRESENT = "missing", "partial", "present"
VERIFIED, RECORDED = "verified", "recorded"


def recorded(record: Record) -> dict:
    """``record.json``; empty if there is none or it can't be read."""
    try:
        found = json.loads(_path(record).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("files"), dict) else {}


def state(record: Record) -> str:
    """:data:`PRESENT` if every recorded file is there, :data:`PARTIAL` if any is, else :data:`MISSING`."""
    known = recorded(record).get("files", {})
    if known and all((record.folder / name).is_file() for name in known):
        return PRESENT
    return PARTIAL if record.folder.is_dir() and any(record.folder.rglob("*")) else MISSING


def keep(record: Record, md5: dict[str, str], title: str) -> dict:
    """Check complete files (name -> MD5 that the archive gives) against known SHA-256 and write them down.

    Raises:
        TesseraError: a file has another SHA-256 than ``records.yaml`` or an earlier download.
    """
    files = {name: _entry(record, name, value) for name, value in sorted(md5.items())}
    now = datetime.now(UTC).isoformat(timespec="seconds")
    found = {"name": record.name, "doi": record.doi, "title": title, "fetched": now, "files": files}
    write_text(_path(record), json.dumps(found, indent=1) + "\n")
    return found


def verify(record: Record) -> dict[str, str]:
    """Read every file again: name -> :data:`VERIFIED` or :data:`RECORDED`.

    Raises:
        TesseraError: not fetched, or a file is missing or changed.
    """
    known = recorded(record).get("files", {})
    if not known:
        raise TesseraError(
            f"record {record.name} ({record.doi})",
            f"it is {state(record)} in {record.folder}",
            f"run: tessera reference fetch {record.name}",
            exit_code=EXIT_FAILED,
            code="record-missing",
        )
    for name, entry in known.items():
        path = record.folder / name
        if not path.is_file():
            raise _wrong(record, name, "the file is missing", "file-missing")
        if (md5 := digest(path, "md5")) != entry["md5"]:
            found = f"its MD5 is {md5}, the archive's is {entry['md5']}"
            raise _wrong(record, name, found, "wrong-md5")
        _entry(record, name, md5)
    return {name: _verdict(record, name) for name in known}


def _entry(record: Record, name: str, md5: str) -> dict:
    path = record.folder / name
    sha256 = digest(path, "sha256")
    known = record.files.get(name)
    earlier = recorded(record).get("files", {}).get(name, {}).get("sha256")
    for source, value in (("records.yaml", known), ("an earlier download", earlier)):
        if value and value != sha256:
            found = f"its SHA-256 is {sha256}, that of {source} is {value}"
            raise _wrong(record, name, found, "wrong-sha256")
    verdict = _verdict(record, name)
    return {"bytes": path.stat().st_size, "md5": md5, "sha256": sha256, "verdict": verdict}


def _verdict(record: Record, name: str) -> str:
    return VERIFIED if name in record.files else RECORDED


def digest(path: Path, kind: str) -> str:
    """``md5`` or ``sha256`` of a file, in lower-case hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, kind).hexdigest()


def _wrong(record: Record, name: str, found: str, code: str) -> TesseraError:
    return TesseraError(
        f"file {name} of record {record.name} ({record.doi})",
        found,
        f"inspect the file, remove {record.folder}, then run: tessera reference fetch {record.name}",
        exit_code=EXIT_FAILED,
        code=code,
    )


def _path(record: Record) -> Path:
    return record.folder / "record.json"
