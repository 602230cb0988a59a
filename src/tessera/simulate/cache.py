"""Content-addressed cache of finished cells, from which a killed run resumes.

A cell's key is a hash of everything its numbers depend on. Each cell is one small JSON file, written
atomically. It is not synced to the disk: a file that a power failure damaged counts as absent.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tessera.core.files import write_text


def content_key(*parts: str | bytes) -> str:
    """SHA-256 over length-prefixed parts (no two part lists collide by concatenation); text as UTF-8."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(f"{len(data)}:".encode() + data)
    return digest.hexdigest()


class CellCache:
    """A folder of cells; ``get`` and ``put`` by key. ``None`` as folder: nothing is kept."""

    def __init__(self, folder: Path | None):
        self.folder = folder

    def get(self, key: str) -> dict | None:
        """The cell of this key; a file that is not readable JSON counts as absent."""
        if self.folder is None:
            return None
        try:
            return json.loads(self._path(key).read_text())
        except (OSError, ValueError):
            return None

    def put(self, key: str, cell: dict) -> None:
        """Keep a finished cell."""
        if self.folder is None:
            return
        write_text(self._path(key), json.dumps(cell, sort_keys=True), sync=False)

    def _path(self, key: str) -> Path:
        assert self.folder is not None
        return self.folder / key[:2] / f"{key}.json"
