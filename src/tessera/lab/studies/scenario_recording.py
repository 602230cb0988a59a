"""Record a workload from its first instruction, with its calls: what ``tessera lab os run`` needs.

The recordings of the cells begin at the region of interest, when most memory is mapped already. These begin
with the program, and have what system calls read and write of its memory.
"""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.results.outcomes import FAILED, OK, SKIPPED, TRACE_NAME, is_ok
from tessera.lab.study import Count, Run, study
from tessera.record import traces, workloads
from tessera.record.workloads import program_run
from tessera.record.workloads.execution import tracing_options

#: Folder beside the trace for the inputs that a kind makes.
RUN_FOLDER = "run"
#: Options that differ from those of the cells' recordings.
WHOLE = {"roi": "whole", "kernel_accesses": True, "events": True}


def show_recording(info: dict) -> None:
    """Print what info.json of the recording says."""
    length = f"{info['accesses'] / 1e6:.1f} M accesses recorded" if is_ok(info) else info["message"]
    print(f"{info['status']}: {info['workload']}: {length}", file=sys.stderr)


@study(show=show_recording)
def recording(run: Run, workload: str, size: str = "tiny", max_accesses: Count | None = None) -> dict:
    """Record a workload from its first instruction, with its calls to memory management.

    The study of scenarios needs such a recording. Those of the workflow begin at the region of interest, when
    most memory is mapped. Writes info.json, and trace.tst beside it. A recording that failed is a status with
    its reason, and leaves no trace.

    Example (after: tessera dev build mosalloc tracer workloads):
      ./run tessera lab run recording workload=graph500 size=tiny --out /tmp/graph500

    Args:
        workload: name (tessera workload show).
        size: of the workload.
        max_accesses: stop after so many accesses; default: record the whole program.

    Returns:
        content of info.json: what ``tessera.record.traces.info`` gives, plus ``workload, size, status,
        message`` and the ``sha256`` of the trace. ``missing`` names what the user has to supply, if that is
        why it was skipped.
    """
    out = run.file("info.json").absolute()  # a program may run in a folder of its own
    folder, trace = out.parent / RUN_FOLDER, out.with_name(TRACE_NAME)
    out.parent.mkdir(parents=True, exist_ok=True)
    info: dict = {"workload": workload, "size": size, "status": OK, "message": ""}
    try:
        loaded = workloads.load_workload(workload)
        chosen = loaded.size(size)
        if absent := workloads.missing(loaded, size):
            info |= {"status": SKIPPED, "message": absent, "missing": absent}
        else:
            _check(workload, size, chosen)
            program = workloads.prepare(loaded, size, folder, None)
            info |= _record(workload, program, chosen, max_accesses, trace)
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


def _record(
    name: str, run: program_run.ProgramRun, size: workloads.Size, max_accesses: int | None, trace: Path
) -> dict:
    if run.companion is not None:
        raise TesseraError(
            f"workload {name}", "a server runs until its load ends it", "use a program that ends by itself"
        )
    folder = trace.with_name(RUN_FOLDER)
    done = traces.record_program(
        run.argv, out=trace, max_accesses=max_accesses, stop_when_recorded=max_accesses is not None,
        **(tracing_options(run, size, folder) | WHOLE),
    )  # fmt: skip
    if not done.stopped:
        run.verify(program_run.Finished(done.returncode, done.stdout, done.stderr, folder))
    return traces.trace_info(trace) | {"sha256": sha256_of(trace)}
