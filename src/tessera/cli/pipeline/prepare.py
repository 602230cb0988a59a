"""Steps of the workflow: build the prepared file of a size, and remove it when no row needs it.

A file that can't be built is an outcome, not the end of the run: the rows that load it fail with its reason,
and the others go on (:mod:`tessera.record.workloads.prepared`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.units import format_bytes
from tessera.lab.study import Run, study
from tessera.record import workloads
from tessera.record.workloads import prepared

KEEP = "TESSERA_KEEP_DATA"  #: `1` keeps prepared files, as `./run --keep-data` does


@study()
def prepare(run: Run, workload: str, size: str, file: str) -> dict:
    """Build a prepared file natively, for the programs that load it under emulation.

    Writes the outcome: ``status``, ``message`` and the file's note.

    Example:
      ./run tessera dev step prepare workload=graph500-2gb size=tiny-prepared file=/tmp/prepared/graph \\
        --out /tmp/prepared/outcome.json

    Args:
        workload: a workload whose size loads the file.
        size: that size.
        file: file to build.
    """
    path = Path(file)
    found = {"file": path.name, "status": "ok", "message": ""}
    try:
        asked = workloads.load_workload(workload).size(size).prepared
        if asked is None:
            raise TesseraError(
                f"prepared file of {workload} ({size})",
                "this size has none",
                "choose a size with the key prepared: tessera workload show",
            )
        found |= prepared.ensure(asked, path)
    except TesseraError as error:
        found |= {"status": "failed", "message": error.sentence}
    write_text(run.out, json.dumps(found, indent=1, sort_keys=True) + "\n")
    run.say(found["message"] or f"{path.name}: {found['bytes'] / 1e9:.2f} GB in {found['seconds']} s")
    return found


@study()
def drop(run: Run, file: str) -> None:
    """Remove a prepared file whose rows are recorded; $TESSERA_KEEP_DATA=1 keeps it.

    Example: ./run tessera dev step drop file=/tmp/prepared/graph --out /tmp/prepared/dropped.json

    Args:
        file: prepared file to remove.
    """
    path, keep = Path(file), os.environ.get(KEEP) == "1"
    freed = 0 if keep else prepared.drop_prepared(path)
    write_text(run.out, json.dumps({"file": path.name, "kept": keep, "freed_bytes": freed}) + "\n")
    run.say(
        f"{path.name} is kept ({KEEP}=1)"
        if keep
        else f"{path.name} removed, {format_bytes(freed)} free again"
    )
