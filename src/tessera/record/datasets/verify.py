"""Compare a downloaded file with the published one: size, checksum, and the first bytes of its format.

Verdicts: ``verified`` (it has the published SHA-256), ``unverified`` (no SHA-256 is published, but the file
is the one that was fetched), or an error that states the difference.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.datasets.cache import PRESENT, cache_folder, file_of, recorded, state
from tessera.record.datasets.manifest import Dataset

VERIFIED, UNVERIFIED = "verified", "unverified"

#: Servers often send an error page under the name of an archive.
_FIRST_BYTES = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00", ".bz2": b"BZh", ".zip": b"PK"}


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in lower-case hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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


def verify(dataset: Dataset) -> str:
    """Read the whole file again: :data:`VERIFIED` or :data:`UNVERIFIED`.

    Raises:
        TesseraError: the file is missing, or differs from the published or the fetched one; ``code`` is
            ``dataset-missing`` or ``dataset-wrong``.
    """
    path = file_of(dataset)
    if (now := state(dataset)).state != PRESENT:
        raise TesseraError(
            f"dataset {dataset.name}",
            f"it is {now.state} in {cache_folder(dataset)}",
            f"run: tessera datasets fetch {dataset.name}",
            exit_code=EXIT_FAILED,
            code="dataset-missing",
        )
    sha256 = sha256_of(path)
    wrong = breach(dataset, path, sha256)
    then = recorded(dataset).get("sha256", "")
    if not wrong and then and sha256 != then:
        wrong = f"its SHA-256 is {sha256}; when it was fetched, it was {then}"
    if wrong:
        raise TesseraError(
            f"dataset {dataset.name}, {path}",
            wrong,
            f"remove the file, then run: tessera datasets fetch {dataset.name}",
            exit_code=EXIT_FAILED,
            code="dataset-wrong",
        )
    return VERIFIED if dataset.sha256 else UNVERIFIED
