"""What the workflow's rules and the commands call: E8 of a cells file, and the sweep over sizes of L3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.energy import power, savings, sweep
from tessera.results.read import read_file
from tessera.results.recordings import recorded
from tessera.results.schema.cells import CELLS
from tessera.results.schema.energy import ENERGY, SAVINGS, THREADS_SWEEP
from tessera.results.status import is_ok
from tessera.results.write import write
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import parse_sampling


def energy_of_cells(cells: Path, power_file: Path, out: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write energy.csv and savings.csv into the folder ``out``; detected platforms lie beside the cells.

    Raises:
        TesseraError: unreadable inputs, or an unknown platform.
    """
    table, constants = read_file(CELLS, cells), power.read(power_file)
    detected = cells.parent / "platforms"
    energy = savings.energy_table(table, constants, detected)
    saved = savings.savings_table(table, constants, detected)
    write(ENERGY, energy, out / ENERGY.file)
    write(SAVINGS, saved, out / SAVINGS.file)
    return energy, saved


@dataclass(frozen=True)
class SweepJob:
    """``trace``: a trace, or the info.json of a recording or window."""

    trace: Path
    platform_name: str
    threads: str
    sampling: str
    cache: Path
    out: Path
    jobs: int = 1


def sweep_of_trace(job: SweepJob, progress: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Write the table :data:`THREADS_SWEEP`; a failure is a row.

    Raises:
        TesseraError: the request is wrong: unknown platform, threads, or sampling.
    """
    platform, threads = platforms.load(job.platform_name), sweep.parse_threads(job.threads)
    plan = parse_sampling(job.sampling)
    workload = job.trace.absolute().parent.name
    try:
        workload, trace = _trace(job.trace, workload)
        request = sweep.Request(workload, trace, platform, threads, plan, CellCache(job.cache), job.jobs)
        table = sweep.sweep(request, progress)
    except TesseraError as error:
        message = f"{error.asked}: {error.found}; {error.remedy}"
        table = sweep.failed(workload, platform.name, message)
    return write(THREADS_SWEEP, table, job.out)


def _trace(path: Path, folder: str) -> tuple[str, Path]:
    """(workload, trace) of a trace, whose workload is its ``folder``, or of an info.json."""
    if path.suffix != ".json":
        return folder, path
    info, trace = recorded(path)
    if not isinstance(info, dict) or not {"workload", "status"} <= set(info):
        found = "it has no workload and no status, so it is not the info.json of a recording"
        raise TesseraError(f"recording {path}", found, "name a trace.tst, or the info.json beside one")
    if not is_ok(info):
        raise TesseraError(f"trace of {info['workload']}", "recording failed", str(info.get("message", "")))
    return info["workload"], trace
