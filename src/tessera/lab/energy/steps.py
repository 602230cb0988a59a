"""What the workflow's rules and the commands call: E8 of a cells file, and the sweep over sizes of L3."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.outcomes import recorded
from tessera.core.results.study_tables import ENERGY, SAVINGS, THREADS_SWEEP
from tessera.core.results.table_io import read_file, write_table
from tessera.lab.energy import cell_energy, l3_sweep, power
from tessera.lab.studies.failures import failed_rows
from tessera.lab.studies.windows import recording_of
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import parse_sampling


def energy_of_cells(cells: Path, power_file: Path, out: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write energy.csv and savings.csv into the folder ``out``; detected platforms lie beside the cells.

    Raises:
        TesseraError: unreadable inputs, or an unknown platform.
    """
    table, constants = read_file(CELLS, cells), power.read_power(power_file)
    detected = cells.parent / "platforms"
    energy = cell_energy.energy_table(table, constants, detected)
    saved = cell_energy.savings_table(table, constants, detected)
    write_table(ENERGY, energy, out / ENERGY.file)
    write_table(SAVINGS, saved, out / SAVINGS.file)
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
    platform, threads = platforms.load(job.platform_name), l3_sweep.parse_threads(job.threads)
    plan = parse_sampling(job.sampling)
    workload = job.trace.absolute().parent.name
    try:
        workload, trace = _trace(job.trace, workload)
        request = l3_sweep.SweepRequest(
            workload, trace, platform, threads, plan, CellCache(job.cache), job.jobs
        )
        table = l3_sweep.sweep(request, progress)
    except TesseraError as error:
        head = {"workload": workload, "platform": platform.name}
        table = failed_rows(THREADS_SWEEP, head, error.sentence)
    return write_table(THREADS_SWEEP, table, job.out)


def _trace(path: Path, folder: str) -> tuple[str, Path]:
    """(workload, trace) of a trace, whose workload is its ``folder``, or of an info.json."""
    if path.suffix != ".json":
        return folder, path
    info, _ = recorded(path)
    if not isinstance(info, dict) or not {"workload", "status"} <= set(info):
        found = "it has no workload and no status, so it is not the info.json of a recording"
        raise TesseraError(f"recording {path}", found, "name a trace.tst, or the info.json beside one")
    return info["workload"], recording_of(path)
