"""Record one workload's trace: its info.json, its peak memory, and the check that recordings repeat."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click

from tessera.cli.pipeline import needs
from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, repo_root, sha256_of, write_text
from tessera.core.progress import growth
from tessera.core.results.outcomes import TRACE_NAME, is_ok
from tessera.core.results.tree import PREPARED_FOLDER
from tessera.core.units import PAGE_4KB
from tessera.lab.study import Count, Run, study
from tessera.machine.container import engine
from tessera.machine.container.image_inputs import toolchain_tag, vips_tag, workloads_tag
from tessera.machine.program_paths import FixedNames
from tessera.record import traces, workloads
from tessera.record.traces.guest import (
    CPU,
    FILE_POOL_BYTES,
    KERNEL_RELEASE,
    PINNED_TUNABLES,
    QEMU,
    STACK_BYTES,
)
from tessera.record.workloads import Size, prepared
from tessera.record.workloads.execution import ROI_NS, execute, tracing_options
from tessera.record.workloads.program_run import HOST, VIPS, WORKLOADS, Finished, last_line_json
from tessera.record.workloads.program_run import ProgramRun as ProgramRun

# The recording: a failure becomes part of info.json.

#: Folder beside the trace for the inputs that a kind makes.
RUN_FOLDER = "run"

#: What the user must supply is skipped when it is absent; all else that can't run has failed.
SUPPLIED_BY_USER = ("spec",)


@study()
def record(run: Run, workload: str, size: str, max_accesses: Count | None = None) -> dict:
    """Record the trace of a workload; a failure becomes part of info.json (--out).

    trace.tst goes beside it; a recording that failed leaves none. info.json holds ``traces.info`` of it, and
    workload, size, status (ok, failed, or skipped where the user's part is absent), message, missing (that
    part, if it is why), sha256 of the trace, repeats (key, seen: first or same, exception), memory, about
    (kind, published rows, stand_in_for, threads, footprint_bytes), result (what the workload says of itself),
    and recording: seconds, peak_memory_bytes (none if not seen), bytes_per_access, native_roi_seconds and
    recorded_roi_seconds (none where a program does not time its region of interest), accesses_per_second and
    slowdown there (none also if not all of it was recorded).

    Example: ./run tessera dev step record workload=gups size=tiny --out /tmp/gups/info.json

    Args:
        workload: as in: tessera workload show.
        size: tiny, default or paper.
        max_accesses: stop recording after so many.
    """
    out = run.out.absolute()  # the workflow's paths are relative; a program may run in a folder of its own
    out.parent.mkdir(parents=True, exist_ok=True)
    trace = out.with_name(TRACE_NAME)
    info: dict = {"workload": workload, "size": size, "status": "ok", "message": ""}
    supplied = False
    try:
        program = workloads.load_workload(workload)
        info["about"] = _about(program)
        chosen = program.size(size)
        info["about"]["footprint_bytes"] = chosen.footprint
        if absent := workloads.missing(program, size):
            info |= {"status": "skipped", "message": absent, "missing": absent}
        else:
            needs.check_memory(f"recording {workload} ({size})", chosen, max_accesses, out.parent)
            supplied = program.kind in SUPPLIED_BY_USER
            file = _prepared(chosen, out.parent.parent.with_name(PREPARED_FOLDER))
            started = workloads.prepare(program, size, out.parent / RUN_FOLDER, file)
            supplied = False
            info |= _record(started, chosen, max_accesses, trace)
    except TesseraError as error:
        status = "skipped" if supplied else "failed"
        info |= {"status": status, "message": error.sentence}
    except Exception as error:  # whatever stops this row must not stop the others
        click.echo(traceback.format_exc(), err=True)
        info |= {"status": "failed", "message": f"recording {workload}: {type(error).__name__}: {error}"}
    if not is_ok(info):
        trace.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # kernels need no inputs
        (out.parent / RUN_FOLDER).rmdir()
    write_text(out, json.dumps(info, indent=1, sort_keys=True) + "\n")
    if is_ok(info):
        run.say(f"{workload}: {info['accesses'] / 1e6:.1f} M accesses recorded")
    else:
        run.say(f"{info['status']}: trace of {workload}: {info['message']}")
    return info


def _prepared(size: workloads.Size, folder: Path) -> Path | None:
    """The size's prepared file in ``folder``, whole (built again if need be); None if it has none."""
    if size.prepared is None:
        return None
    file = folder / size.prepared.file
    prepared.ensure(size.prepared, file)
    return file


def _about(workload: workloads.Workload) -> dict:
    """What a reader of the results must know of the row, besides its numbers."""
    about = asdict(workload)
    return {key: about[key] for key in ("kind", "rows", "stand_in_for", "threads")}


def _record(run: ProgramRun, size: workloads.Size, max_accesses: int | None, trace: Path) -> dict:
    """Time the program natively, record it, and let its kind verify the result.

    A kernel's native run verifies its result, so its recording ends at the limit; other programs run to
    their end.
    """
    folder = trace.with_name(RUN_FOLDER)
    reason = repeat_exception(run)
    key = "" if reason else recording_key(run, size, max_accesses, folder)
    alone = execute(run, folder)[1] if run.verify is last_line_json else None
    native = alone.get(ROI_NS) if alone else None
    began = time.monotonic()
    watched = growth(f"recording {trace.parent.name}", trace.parent, ".*.tmp/*.tst")
    with PeakMemory(f"{trace.parent.absolute()}/") as peak, watched:
        done = traces.record_program(
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
    seen = "" if reason else compare_with_known(trace.parent.name, key, digest)
    found = traces.trace_info(trace)
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


# Recordings repeat: the same program on the same inputs in the same image must give the same trace.
#
# ``build/recordings/<key>.json`` keeps the SHA-256 of a trace for each key. The key is the hash of program,
# libraries of the recording, image, arguments as the program sees them, variables, inputs, limits and
# number of processors, which a program can ask for.

#: Why two recordings may differ; such rows are not compared. docs/reference/trace.md has the list for
#: readers.
SERVER, THREADS = "a client's timing decides the order of requests", "threads run at the host's pace"
SCRIPT, NO_CONTAINER = (
    "a script starts the program",
    "the program sees the paths and variables of this machine",
)


def repeat_exception(run: ProgramRun) -> str:
    """Why this run's recordings need not repeat; empty if they must."""
    if run.companion is not None:
        return SERVER
    if run.threads:
        return THREADS
    if run.target is not None:
        return SCRIPT
    return NO_CONTAINER if engine.container_engine_name() == engine.NONE or run.image == HOST else ""


def recording_key(run: ProgramRun, size: Size, max_accesses: int | None, folder: Path) -> str:
    """Hash of all that decides the trace of ``run``, whose inputs are in ``folder`` and ``run.paths``."""
    names = FixedNames.of(repo_root(), folder.parent / "no-scratch", run.folder, [folder, *run.paths])
    parts = {
        "program": sha256_of(Path(run.argv[0])) if Path(run.argv[0]).is_file() else run.argv[0],
        "libraries": [
            sha256_of(built("tracer", "libtessera-trace.so")),
            sha256_of(built("mosalloc", "libmosalloc.so")),
        ],
        "emulator": [CPU, KERNEL_RELEASE, PINNED_TUNABLES, STACK_BYTES, FILE_POOL_BYTES],
        "processors": len(os.sched_getaffinity(0)),
        "image": {WORKLOADS: workloads_tag, VIPS: vips_tag}.get(run.image, toolchain_tag)(),
        "arguments": names.words(list(run.argv)),
        "variables": sorted((name, names.text(value)) for name, value in run.environment.items()),
        "region": [
            run.roi,
            max_accesses,
            size.heap_pool,
            size.anon_pool,
            size.windows,
            size.region_accesses,
            size.window_span,
        ],
        "made": [(p.name, sha256_of(p)) for p in sorted(folder.glob("*")) if p.is_file()],
        "given": [(p.name, _input_identity(p)) for p in run.paths if p.is_file()],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _input_identity(path: Path) -> str | int:
    """What is known of an input of the user's or a prepared one without reading gigabytes again."""
    beside = prepared.note(path)
    return json.loads(beside.read_text())["sha256"] if beside.exists() else path.stat().st_size


def compare_with_known(name: str, key: str, trace: str, known: Path | None = None) -> str:
    """``first`` if no recording has this key (kept from now on), or ``same``.

    Args:
        name: the workload's.
        trace: SHA-256 of its trace.
        known: folder of the table; ``build/recordings`` by default.

    Raises:
        TesseraError: a recording with this key had another trace; ``code`` is ``trace-differs``.
    """
    file = (known or repo_root() / "build" / "recordings") / f"{key}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, json.dumps({"workload": name, "trace": trace}) + "\n")
        return "first"
    before = json.loads(file.read_text())["trace"]
    if before == trace:
        return "same"
    raise TesseraError(
        f"recording {name}",
        f"its trace has SHA-256 {trace[:16]}..., the same program, image and inputs gave {before[:16]}...",
        "record it again; if it differs again, the program reads a clock or random bytes: "
        "docs/reference/trace.md, "
        f"'Recordings that repeat'; to accept the new trace, delete {file}",
        exit_code=EXIT_FAILED,
        code="trace-differs",
    )


# Peak memory of a recorded program, read from /proc while it runs.
#
# QEMU may run in a container whose processes are no children of ours, so it is found by its name and by a
# word of its command line or of its table of mounts that no other process has. (Programs with fixed names of
# files have the recording's folder in their mounts only.) Without such a process (an engine in another
# machine, or a results folder on a file system of its own) nothing is known. psutil 7 does not read VmHWM.

INTERVAL_SECONDS = 0.5


class PeakMemory:
    """``with PeakMemory(word) as peak: ...`` leaves bytes, or None, in ``peak.bytes``."""

    def __init__(self, word: str, proc: Path = Path("/proc"), name: str = QEMU):
        self.bytes: int | None = None
        self._word, self._proc, self._name = word.encode(), proc, name
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._end.wait(INTERVAL_SECONDS):
            self.look()

    def _texts(self, process: Path) -> Iterator[Path]:
        return (file for name in ("cmdline", "mountinfo") if (file := process / name).exists())

    def look(self) -> None:
        """Read VmHWM, the kernel's own record of the peak, of every process that matches."""
        for process in self._proc.glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):  # it may end at any moment
                if not self._name.startswith((process / "comm").read_text().strip()):
                    continue  # the kernel keeps 15 characters of a name
                if not any(self._word in file.read_bytes() for file in self._texts(process)):
                    continue
                _, _, peak_kb = (process / "status").read_text().partition("VmHWM:")
                if peak_kb:  # a process that is ending has lost its memory, and this line
                    self.bytes = max(self.bytes or 0, int(peak_kb.split()[0]) << 10)
