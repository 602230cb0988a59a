"""Is a downloaded file what was published? Bytes, checksum, and the first bytes of its format.

Verdicts: ``verified`` (the published SHA-256), ``unverified`` (nothing published; the file is what was
recorded when it was fetched), or an error that says what differs.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.datasets.cache import PRESENT, cache_folder, file_of, recorded, state
from tessera.record.datasets.manifest import Dataset

VERIFIED, UNVERIFIED = "verified", "unverified"

#: An error page saved under an archive's name is the commonest wrong download.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".bz2": b"BZh", ".zip": b"PK"}


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in lower-case hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def breach(dataset: Dataset, path: Path, sha256: str) -> str:
    """What is wrong with the file at ``path``, whose checksum is given; empty if nothing is."""
    size = path.stat().st_size
    if dataset.size_bytes is not None and size != dataset.size_bytes:
        return f"it has {size} bytes, published are {dataset.size_bytes}"
    if dataset.sha256 and sha256 != dataset.sha256:
        return f"its SHA-256 is {sha256}, published is {dataset.sha256}"
    wanted = _FIRST_BYTES.get(Path(dataset.file_name).suffix)
    with path.open("rb") as file:
        first = file.read(8)
    if wanted and not first.startswith(wanted):
        return f"it starts with {first!r}, which is no {Path(dataset.file_name).suffix} file (an error page?)"
    return ""


def verify(dataset: Dataset) -> str:
    """Read the whole file again: :data:`VERIFIED` or :data:`UNVERIFIED`.

    Raises:
        TesseraError: it isn't there, or it isn't what was published or what was fetched.
    """
    path = file_of(dataset)
    if (now := state(dataset)).state != PRESENT:
        raise TesseraError(
            f"dataset {dataset.name}",
            f"it is {now.state} in {cache_folder(dataset)}",
            f"tessera datasets fetch {dataset.name}",
            exit_code=EXIT_FAILED,
        )
    sha256 = sha256_of(path)
    wrong = breach(dataset, path, sha256)
    then = recorded(dataset).get("sha256", "")
    if not wrong and then and sha256 != then:
        wrong = f"its SHA-256 is {sha256}, but was {then} when it was fetched"
    if wrong:
        raise TesseraError(
            f"dataset {dataset.name}, {path}",
            wrong,
            f"remove it, then tessera datasets fetch {dataset.name}",
            exit_code=EXIT_FAILED,
        )
    return VERIFIED if dataset.sha256 else UNVERIFIED
