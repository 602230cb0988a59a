"""How a run is executed: the options that trace it or count its region, and once without tracing."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container import RunOptions
from tessera.machine.container.command import writable_of_caller
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import (
    HostToolchain,
    Toolchain,
    toolchain,
    vips_toolchain,
    workloads_toolchain,
)
from tessera.machine.limits import memory_ran_out
from tessera.record import traces
from tessera.record.traces.companion import communicate, run_beside
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.kinds import prepare
from tessera.record.workloads.program_run import HOST, VIPS, WORKLOADS, Finished, ProgramRun, last_line_json

# How a run is traced: the options that recording it and counting its region share.


def installed(image: str) -> Toolchain | None:
    """The image that has a program of Debian's; None for programs of the toolchain and of this machine."""
    if image == WORKLOADS:
        return workloads_toolchain()
    return vips_toolchain() if image == VIPS else None


def tracing_options(run: ProgramRun, size: Size, folder: Path) -> dict[str, Any]:
    """Keywords of :func:`tessera.record.traces.recording.record_program`; inputs are in ``folder``."""
    return {
        "heap_pool": size.heap_pool,
        "anon_pool": size.anon_pool,
        "roi": run.roi,
        "threads": run.threads,
        "thread": run.thread,
        "companion": run.companion,
        "paths": [folder, *run.paths],
        "writes": [folder, *(writable_of_caller(run.paths) if run.image == HOST else ())],
        "environment": dict(run.environment),
        "where": installed(run.image),
        "folder": run.folder,
        "target": run.target,
        # A script and a server's load name files and programs outside the recorded program.
        "fixed_names": run.target is None and run.companion is None,
        # A program with its result in its last line may time its region; a server has its client's clock.
        "fixed_clocks": run.verify is not last_line_json and run.target is None and run.companion is None,
    }


def count_region(
    workload: Workload, label: str, folder: Path, prepared: Path | None = None
) -> traces.RegionCounts:
    """Accesses and instructions of the region of interest of a size, for ``region_accesses`` of its file.

    Args:
        folder: for the inputs that the kind makes.
        prepared: the size's prepared file, if it loads one.

    Raises:
        TesseraError: the program failed, or has no region that can be counted (threads, a server).
    """
    run = prepare(workload, label, folder, prepared)
    return traces.count_accesses(run.argv, **tracing_options(run, workload.size(label), folder))


# Run a workload once in its image without tracing, to inspect it and to time it natively.

#: Key of a kernel's result: clock time of its region of interest.
ROI_NS = "roi_ns"


def toolchain_of(run: ProgramRun) -> Toolchain:
    """Where the program is installed."""
    if run.image == HOST:
        return HostToolchain()
    return installed(run.image) or toolchain()


def execute(run: ProgramRun, folder, *, show_stdout: bool = False) -> tuple[Finished, dict]:
    """Run the program (and its companion) to its end and verify the result.

    Args:
        folder: what :func:`tessera.record.workloads.prepare` was given.

    Raises:
        TesseraError: it ended with another status than 0, or its verifier refused the result.
    """
    argv = ["env", "-C", str(run.folder), *run.argv] if run.folder else list(run.argv)
    process = toolchain_of(run).popen(
        argv,
        [folder, *run.paths],
        dict(run.environment),
        options=RunOptions(writes=(folder,), network="host" if run.companion else "none"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with stopped_at_exit(process), run_beside(process, run.companion):
        stdout, stderr = communicate(process, show_stdout, f"'{' '.join(run.argv)}'")
    done = Finished(process.returncode, stdout, stderr, folder)
    if done.returncode != 0 and run.companion is None:  # a server is ended by its companion, and by a signal
        tail = "\n".join(stderr.strip().splitlines()[-5:])
        raise TesseraError(
            f"'{' '.join(run.argv)}'",
            f"the program exited with status {done.returncode}" + (f":\n{tail}" if tail else ""),
            f"read its messages; status 137 often means that {memory_ran_out()}",
            exit_code=EXIT_FAILED,
        )
    return done, run.verify(done)
