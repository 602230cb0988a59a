"""SHA-256 of inputs and results, cached by size and time, so the next report hashes only changed files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tessera.core.files import write_text

#: Not hashed: output of the report, and the cell cache (its files are named by hashes).
LEFT_OUT = ("report", "figures", "provenance", "notebooks", "cache", "logs", "benchmarks", "claims.csv")
_CHUNK = 1 << 20


def tree(directory: Path, memory: Path | None = None) -> dict[str, str]:
    """Relative path -> SHA-256 of every file below ``directory`` except :data:`LEFT_OUT` at its top."""
    known = _load(memory)
    seen: dict[str, list] = {}
    for path in sorted(directory.rglob("*")):
        relative = path.relative_to(directory)
        if relative.parts[0] in LEFT_OUT or not path.is_file() or path.suffix == ".tmp":
            continue
        status = path.stat()
        mark = [status.st_size, status.st_mtime_ns]
        old = known.get(str(relative))
        seen[str(relative)] = [*mark, old[2] if old and old[:2] == mark else digest(path)]
    if memory is not None:
        write_text(memory, json.dumps(seen), sync=False)
    return {name: entry[2] for name, entry in seen.items()}


def digest(path: Path) -> str:
    """SHA-256 of one file."""
    total = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()


def _load(memory: Path | None) -> dict[str, list]:
    try:
        return json.loads(memory.read_text()) if memory else {}
    except (OSError, ValueError):
        return {}
