"""What the workflow's rule and the command call: the tables of the study, failures as rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.judge.studies.given import GivenTrace
from tessera.judge.studies.scenarios import cells, logs
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.schema.scenarios import OF_LOG, SCENARIO_CELLS
from tessera.results.write import frame_of, write
from tessera.scenarios import model
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import FULL, Plan


@dataclass(frozen=True)
class Job(GivenTrace):
    """Inputs of the study.

    Attributes:
        trace: a trace with events, or the info.json of such a recording.
        out: folder of the tables.
    """

    trace: Path
    platform_name: str
    scenarios: Sequence[str]
    cache: Path
    out: Path
    sampling: Plan = FULL
    threads: int = 1
    progress: Callable[[str], None] = lambda line: None


def scenarios_study(job: Job) -> pd.DataFrame:
    """Write the tables of :data:`OF_LOG` and :data:`SCENARIO_CELLS` into ``job.out``; returns the cells.

    The same inputs give the same tables. Finished simulations are in the cache, so a killed study goes on.

    Raises:
        TesseraError: an unknown platform or scenario, or ``job.trace`` is no trace and no recording.
    """
    if job.info is None:
        traces.info(job.trace)
    platform = platforms.load(job.platform_name)
    asked = logs.load(job.scenarios)
    rows: dict[str, list[dict]] = {name: [] for name in OF_LOG}
    try:
        found, rows = _study(job, platform, asked)
    except TesseraError as error:  # of the recording: no scenario has a number
        request = _request(job, platform, job.trace)
        found = [cells.failed(request, cells.SCENARIO, one.name, logs.one_line(error)) for one in asked]
    for name, table in OF_LOG.items():
        write(table, frame_of(table, rows[name]), job.out / table.file)
    return write(SCENARIO_CELLS, frame_of(SCENARIO_CELLS, found), job.out / SCENARIO_CELLS.file)


def _study(
    job: Job, platform: Platform, asked: Sequence[model.Scenario]
) -> tuple[list[dict], dict[str, list[dict]]]:
    trace = job.recording
    with tempfile.TemporaryDirectory(prefix="tessera-scenarios-") as name:
        folder = Path(name)
        decided = logs.decide(trace, asked, folder, job.progress)
        found = cells.cells_of(_request(job, platform, trace), decided, folder)
    return found, logs.tables_of(decided, job.workload)


def _request(job: Job, platform: Platform, trace: Path) -> cells.Request:
    return cells.Request(
        job.workload, trace, platform, job.sampling, CellCache(job.cache), job.threads, job.progress
    )
