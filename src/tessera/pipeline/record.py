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
from tessera.core.files import write_text
from tessera.core.progress import growth
from tessera.core.units import PAGE_4KB
from tessera.machine.container.toolchain import workloads_toolchain
from tessera.pipeline import needs, repeats
from tessera.pipeline.peak import PeakMemory
from tessera.record import traces, workloads
from tessera.record.workloads.execute import ROI_NS, execute
from tessera.record.workloads.run import WORKLOADS, Finished, Run, last_line_json
from tessera.results.recordings import TRACE_NAME
from tessera.results.status import is_ok

#: Folder beside the trace for the inputs that a kind makes.
RUN_FOLDER = "run"

#: What the user must supply is skipped when it is absent; all else that can't run has failed.
SUPPLIED_BY_USER = ("spec",)


def record_workload(name: str, size: str, max_accesses: int | None, out: Path) -> dict:
    """Record ``trace.tst`` beside ``out`` and write ``out`` (info.json).

    The file holds ``tessera.record.traces.info`` plus ``workload, size, status`` (``ok``, ``failed``, or
    ``skipped`` where the user's part is absent), ``message``, ``missing`` (that part, if it is why),
    ``sha256`` of the trace, ``repeats`` (key, ``seen``: ``first`` or ``same``, exception), ``memory``,
    ``about`` (kind, published rows, stand_in_for, threads, footprint_bytes), ``result`` (what the workload
    says of itself), and ``recording``: ``seconds``, ``peak_memory_bytes`` (None if not seen),
    ``bytes_per_access``, ``native_roi_seconds`` and ``recorded_roi_seconds`` (None where a program does not
    time its region of interest), ``accesses_per_second`` and ``slowdown`` there (None also if not all of it
    was recorded). A recording that failed leaves no trace.
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
            run = workloads.prepare(workload, size, out.parent / RUN_FOLDER)
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


def _about(workload: workloads.Workload) -> dict:
    """What a reader of the results must know of the row, besides its numbers."""
    about = asdict(workload)
    return {key: about[key] for key in ("kind", "rows", "stand_in_for", "threads")}


def _record(run: Run, size: workloads.Size, max_accesses: int | None, trace: Path) -> dict:
    """Time the program natively, record it, and let its kind verify the result."""
    folder = trace.with_name(RUN_FOLDER)
    reason = repeats.exception(run)
    key = "" if reason else repeats.key(run, size, max_accesses, folder)
    native = _native_roi_ns(run, folder)
    began = time.monotonic()
    watched = growth(f"recording {trace.parent.name}", trace.parent, ".record-*/*.tst")
    with PeakMemory(f"{trace.parent.absolute()}/") as peak, watched:
        done = traces.record(
            run.argv,
            out=trace,
            heap_pool=size.heap_pool,
            anon_pool=size.anon_pool,
            max_accesses=max_accesses,
            roi=run.roi,
            threads=run.threads,
            companion=run.companion,
            paths=[folder, *run.paths],
            environment=dict(run.environment),
            where=workloads_toolchain() if run.image == WORKLOADS else None,
            folder=run.folder,
            target=run.target,
            # A script and a server's load name files and programs outside the recorded program.
            fixed_names=run.target is None and run.companion is None,
            # A program with its result in its last line may time its region; a server has its client's clock.
            fixed_clocks=run.verify is not last_line_json and run.target is None and run.companion is None,
        )
    seconds = time.monotonic() - began
    result = run.verify(Finished(done.returncode, done.stdout, done.stderr, folder))
    digest = repeats.sha256(trace)
    seen = "" if reason else repeats.compare(trace.parent.name, key, digest)
    found = traces.info(trace)
    recorded_ns = result.get(ROI_NS) if native else None
    timed = recorded_ns if recorded_ns and found.get("complete_roi") else None
    return found | {
        "result": result,
        "sha256": digest,
        "repeats": {"key": key, "seen": seen, "exception": reason},
        "memory": _memory(found),
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


def _memory(found: dict) -> dict:
    """What the program allocated, and what the recording touched of it and of all else, in bytes.

    ``recorded_share`` of the region of interest is 1 for a whole one; else it is unknown (None), because
    nothing counts the accesses behind the limit.
    """
    return {
        "allocated_bytes": sum(pool["used_bytes"] for pool in found["pools"]),
        "touched_bytes": found["distinct_4kb_pages"] * PAGE_4KB,
        "recorded_share": 1.0 if found["complete_roi"] else None,
    }


def _native_roi_ns(run: Run, folder: Path) -> int | None:
    """Clock time of the region of interest without tracing, of programs that measure it themselves."""
    if run.verify is not last_line_json:
        return None
    return execute(run, folder)[1].get(ROI_NS)
