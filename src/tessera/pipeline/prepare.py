"""Steps that build and remove prepared files (:mod:`tessera.record.workloads.prepared`).

A file that can't be built is an outcome, not the end of the run: the rows that load it fail with its reason,
and the others go on.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.units import format_bytes
from tessera.record import workloads
from tessera.record.workloads import prepared

KEEP = "TESSERA_KEEP_DATA"  #: `1` keeps prepared files, as `./run --keep-data` does


def prepare_file(workload: str, size: str, path: Path, outcome: Path) -> dict:
    """Build the prepared file of this size as ``path``; write ``status``, ``message`` and its note."""
    found = {"file": path.name, "status": "ok", "message": ""}
    try:
        asked = workloads.load(workload).size(size).prepared
        if asked is None:
            raise TesseraError(
                f"prepared file of {workload} ({size})",
                "this size has none",
                "choose a size with the key prepared: tessera workload show",
            )
        found |= prepared.ensure(asked, path)
    except TesseraError as error:
        found |= {"status": "failed", "message": f"{error.asked}: {error.found}; {error.remedy}"}
    write_text(outcome, json.dumps(found, indent=1, sort_keys=True) + "\n")
    return found


def drop_file(path: Path, out: Path) -> str:
    """Remove the prepared file unless the user keeps data; returns a sentence that says what was done."""
    keep = os.environ.get(KEEP) == "1"
    freed = 0 if keep else prepared.drop(path)
    write_text(out, json.dumps({"file": path.name, "kept": keep, "freed_bytes": freed}) + "\n")
    return (
        f"{path.name} is kept ({KEEP}=1)"
        if keep
        else f"{path.name} removed, {format_bytes(freed)} free again"
    )


def wait_for(files: dict[str, int], most_bytes: int) -> dict[str, list[str]]:
    """Which files must be gone before each one is built, so that at most ``most_bytes`` lie on the disk.

    Args:
        files: bytes of each file by name, in the order in which they are built.

    A file above ``most_bytes`` waits for all before it.
    """
    names, waits = list(files), {}
    for i, name in enumerate(names):
        first, held = i, files[name]
        while first > 0 and held + files[names[first - 1]] <= most_bytes:
            first -= 1
            held += files[names[first]]
        waits[name] = names[:first]
    return waits
