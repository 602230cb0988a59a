"""Record a workload from its first instruction, with its calls: what ``tessera os run`` needs.

The recordings of the cells begin at the region of interest, when most memory is mapped already. These begin
with the program, and have what system calls read and write of its memory.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.results.outcomes import FAILED, OK, SKIPPED, TRACE_NAME, is_ok
from tessera.record import traces, workloads
from tessera.record.workloads.execution import tracing_options
from tessera.record.workloads.program_run import Finished, Run

#: Folder beside the trace for the inputs that a kind makes.
RUN_FOLDER = "run"
#: Options that differ from those of the cells' recordings.
WHOLE = {"roi": "whole", "kernel_accesses": True, "events": True}


def record_whole(name: str, size: str, max_accesses: int | None, out: Path) -> dict:
    """Write ``trace.tst`` beside ``out``, and ``out`` (info.json); returns what ``out`` holds.

    The file has what ``tessera.record.traces.info`` gives, plus ``workload, size, status, message`` and the
    ``sha256`` of the trace. ``missing`` names what the user has to supply, if that is why it was skipped. A
    recording that failed is a status with its reason, and leaves no trace.

    Args:
        max_accesses: stop after so many accesses; None: record the whole program.
    """
    out = out.absolute()  # a program may run in a folder of its own
    folder, trace = out.parent / RUN_FOLDER, out.with_name(TRACE_NAME)
    out.parent.mkdir(parents=True, exist_ok=True)
    info: dict = {"workload": name, "size": size, "status": OK, "message": ""}
    try:
        workload = workloads.load(name)
        chosen = workload.size(size)
        if absent := workloads.missing(workload, size):
            info |= {"status": SKIPPED, "message": absent, "missing": absent}
        else:
            _check(name, size, chosen)
            run = workloads.prepare(workload, size, folder, None)
            info |= _record(name, run, chosen, max_accesses, trace)
    except TesseraError as error:
        info |= {"status": FAILED, "message": error.sentence}
    if not is_ok(info):
        trace.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # kernels need no inputs
        folder.rmdir()
    write_text(out, json.dumps(info, indent=1, sort_keys=True) + "\n")
    return info


def _check(name: str, label: str, size: workloads.Size) -> None:
    """Refuse sizes that the imitation of Linux could not follow."""
    if size.prepared is not None:
        raise TesseraError(
            f"workload {name}, size {label}", "its arrays come from a prepared file, not from first touches",
            f"use a size without `prepared` in config/workloads/{name}.yaml, for example tiny",
        )  # fmt: skip


def _record(name: str, run: Run, size: workloads.Size, max_accesses: int | None, trace: Path) -> dict:
    if run.companion is not None:
        raise TesseraError(
            f"workload {name}", "a server runs until its load ends it", "use a program that ends by itself"
        )
    folder = trace.with_name(RUN_FOLDER)
    done = traces.record(
        run.argv, out=trace, max_accesses=max_accesses, stop_when_recorded=max_accesses is not None,
        **(tracing_options(run, size, folder) | WHOLE),
    )  # fmt: skip
    if not done.stopped:
        run.verify(Finished(done.returncode, done.stdout, done.stderr, folder))
    return traces.info(trace) | {"sha256": sha256_of(trace)}
