"""Record one workload's trace; a failure becomes part of info.json."""

from __future__ import annotations

import contextlib
import json
import time
import traceback
from dataclasses import asdict
from pathlib import Path

import click

from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.progress import growth
from tessera.core.units import PAGE_4KB
from tessera.pipeline import needs, repeats
from tessera.pipeline.peak import PeakMemory
from tessera.record import traces, workloads
from tessera.record.workloads import prepared
from tessera.record.workloads.execute import ROI_NS, execute
from tessera.record.workloads.run import Finished, Run, last_line_json
from tessera.record.workloads.tracing import tracing_options
from tessera.results.recordings import TRACE_NAME
from tessera.results.status import is_ok
from tessera.results.tree import PREPARED_FOLDER

#: Folder beside the trace for the inputs that a kind makes.
RUN_FOLDER = "run"

#: What the user must supply is skipped when it is absent; all else that can't run has failed.
SUPPLIED_BY_USER = ("spec",)


def record_workload(
    name: str, size: str, max_accesses: int | None, out: Path, prepared_folder: Path | None = None
) -> dict:
    """Record ``trace.tst`` beside ``out`` and write ``out`` (info.json).

    The file holds ``tessera.record.traces.info`` plus ``workload, size, status`` (``ok``, ``failed``, or
    ``skipped`` where the user's part is absent), ``message``, ``missing`` (that part, if it is why),
    ``sha256`` of the trace, ``repeats`` (key, ``seen``: ``first`` or ``same``, exception), ``memory``,
    ``about`` (kind, published rows, stand_in_for, threads, footprint_bytes), ``result`` (what the workload
    says of itself), and ``recording``: ``seconds``, ``peak_memory_bytes`` (None if not seen),
    ``bytes_per_access``, ``native_roi_seconds`` and ``recorded_roi_seconds`` (None where a program does not
    time its region of interest), ``accesses_per_second`` and ``slowdown`` there (None also if not all of it
    was recorded). A recording that failed leaves no trace.

    ``prepared_folder`` has the prepared files; by default it is ``prepared`` beside the folder of all
    traces. A file that is absent or damaged is built again.
    """
    out = out.absolute()  # the workflow's paths are relative; a program may run in a folder of its own
    out.parent.mkdir(parents=True, exist_ok=True)
    trace = out.with_name(TRACE_NAME)
    info: dict = {"workload": name, "size": size, "status": "ok", "message": ""}
    supplied = False
    try:
        workload = workloads.load(name)
        info["about"] = _about(workload)
        chosen = workload.size(size)
        info["about"]["footprint_bytes"] = chosen.footprint
        if absent := workloads.missing(workload, size):
            info |= {"status": "skipped", "message": absent, "missing": absent}
        else:
            needs.check_memory(f"recording {name} ({size})", chosen, max_accesses, out.parent)
            supplied = workload.kind in SUPPLIED_BY_USER
            folder = prepared_folder or out.parent.parent.with_name(PREPARED_FOLDER)
            file = _prepared(chosen, folder)
            run = workloads.prepare(workload, size, out.parent / RUN_FOLDER, file)
            supplied = False
            info |= _record(run, chosen, max_accesses, trace)
    except TesseraError as error:
        status = "skipped" if supplied else "failed"
        info |= {"status": status, "message": f"{error.asked}: {error.found}; {error.remedy}"}
    except Exception as error:  # whatever stops this row must not stop the others
        click.echo(traceback.format_exc(), err=True)
        info |= {"status": "failed", "message": f"recording {name}: {type(error).__name__}: {error}"}
    if not is_ok(info):
        trace.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # kernels need no inputs
        (out.parent / RUN_FOLDER).rmdir()
    write_text(out, json.dumps(info, indent=1, sort_keys=True) + "\n")
    return info


def _prepared(size: workloads.Size, folder: Path) -> Path | None:
    """The size's prepared file, whole; None if it has none."""
    if size.prepared is None:
        return None
    file = folder / size.prepared.file
    prepared.ensure(size.prepared, file)
    return file


def _about(workload: workloads.Workload) -> dict:
    """What a reader of the results must know of the row, besides its numbers."""
    about = asdict(workload)
    return {key: about[key] for key in ("kind", "rows", "stand_in_for", "threads")}


def _record(run: Run, size: workloads.Size, max_accesses: int | None, trace: Path) -> dict:
    """Time the program natively, record it, and let its kind verify the result.

    A kernel's native run verifies its result, so its recording ends at the limit; other programs run to
    their end.
    """
    folder = trace.with_name(RUN_FOLDER)
    reason = repeats.exception(run)
    key = "" if reason else repeats.key(run, size, max_accesses, folder)
    alone = execute(run, folder)[1] if run.verify is last_line_json else None
    native = alone.get(ROI_NS) if alone else None
    began = time.monotonic()
    watched = growth(f"recording {trace.parent.name}", trace.parent, ".record-*/*.tst")
    with PeakMemory(f"{trace.parent.absolute()}/") as peak, watched:
        done = traces.record(
            run.argv,
            out=trace,
            max_accesses=max_accesses,
            windows=size.windows,
            region_accesses=size.region_accesses,
            window_span=size.window_span,
            stop_when_recorded=alone is not None and max_accesses is not None,
            **tracing_options(run, size, folder),
        )
    seconds = time.monotonic() - began
    whole = Finished(done.returncode, done.stdout, done.stderr, folder)
    result = alone if done.stopped else run.verify(whole)
    digest = sha256_of(trace)
    seen = "" if reason else repeats.compare(trace.parent.name, key, digest)
    found = traces.info(trace)
    recorded_ns = result.get(ROI_NS) if native and not done.stopped else None
    timed = recorded_ns if recorded_ns and found.get("complete_roi") else None
    return found | {
        "result": result,
        "sha256": digest,
        "repeats": {"key": key, "seen": seen, "exception": reason},
        "memory": _memory(found, size.region_accesses),
        "recording": {
            "seconds": seconds,
            "peak_memory_bytes": peak.bytes,
            "bytes_per_access": found["file_bytes"] / max(1, found["accesses"]),
            "accesses_per_second": found["accesses"] / timed * 1e9 if timed else None,
            "native_roi_seconds": native / 1e9 if native else None,
            "recorded_roi_seconds": recorded_ns / 1e9 if recorded_ns else None,
            # Behind the last access that is recorded the program runs on without the plugin.
            "slowdown": timed / native if native and timed else None,
        },
    }


def _memory(found: dict, region_accesses: int | None) -> dict:
    """What the program allocated, and what the recording touched of it and of all else, in bytes.

    ``recorded_share`` of the region of interest is 1 for a whole one. Else its accesses must have been
    counted to the end, or declared (``region_accesses``); without either the share is unknown (None).
    """
    total = found.get("region_accesses_seen") if found.get("region_ended") else region_accesses
    return {
        "allocated_bytes": sum(pool["used_bytes"] for pool in found["pools"]),
        "touched_bytes": found["distinct_4kb_pages"] * PAGE_4KB,
        "recorded_share": 1.0 if found["complete_roi"] else found["accesses"] / total if total else None,
    }
