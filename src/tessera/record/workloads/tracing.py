"""How a run is traced: the options that recording it and counting its region share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tessera.machine.container.toolchain import Toolchain, vips_toolchain, workloads_toolchain
from tessera.record import traces
from tessera.record.workloads.kinds import prepare
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import VIPS, WORKLOADS, Run, last_line_json


def installed(image: str) -> Toolchain | None:
    """The image that has a program of Debian's; None for programs of the toolchain and of this machine."""
    if image == WORKLOADS:
        return workloads_toolchain()
    return vips_toolchain() if image == VIPS else None


def tracing_options(run: Run, size: Size, folder: Path) -> dict[str, Any]:
    """Keywords of :func:`tessera.record.traces.record` for a run with its inputs in ``folder``."""
    return {
        "heap_pool": size.heap_pool,
        "anon_pool": size.anon_pool,
        "roi": run.roi,
        "threads": run.threads,
        "thread": run.thread,
        "companion": run.companion,
        "paths": [folder, *run.paths],
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
) -> traces.Counted:
    """Accesses and instructions of the region of interest of a size, for ``region_accesses`` of its file.

    Args:
        folder: for the inputs that the kind makes.
        prepared: the size's prepared file, if it loads one.

    Raises:
        TesseraError: the program failed, or has no region that can be counted (threads, a server).
    """
    run = prepare(workload, label, folder, prepared)
    return traces.count(run.argv, **tracing_options(run, workload.size(label), folder))
