"""Step of the pipeline: real runs on this machine; a failure becomes a row with the reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.layouts.names import ALL_4KB
from tessera.measure import Experiment, run_host
from tessera.measure.experiment import Progress
from tessera.measure.rounds import Rule
from tessera.pipeline.cells import failed_rows
from tessera.results import cells
from tessera.results.read import empty, read_file
from tessera.results.schema.cells import MANIFEST
from tessera.results.schema.machine import COMPARISON
from tessera.results.write import write

PLATFORM = "host"


def host_cells(
    workload: str,
    size: str,
    manifest: Path,
    simulated: Path,
    rule: Rule,
    seed: int,
    out: Path,
    progress: Progress,
) -> pd.DataFrame:
    """Hybrid cells of the layouts of ``manifest``; one ``failed`` row if it has no layouts.

    Also writes ``comparison.csv`` to the folder of ``out``; it is empty if nothing was measured.
    """
    names = list(read_file(MANIFEST, manifest).layout)
    try:
        if not names:
            raise TesseraError(
                f"layouts for {workload} on this machine",
                "there are no layouts, because the workload has no trace",
                "read the message of its trace",
            )
        files = tuple(manifest.with_name(f"{name}.csv") for name in names)
        return run_host(Experiment(workload, size, files, out, simulated, rule, seed), progress)
    except TesseraError as error:
        message = f"{error.asked}: {error.found}; {error.remedy}"
        status = "skipped" if not names and _skipped(simulated) else "failed"
        rows = failed_rows(workload, PLATFORM, names or [ALL_4KB], message, "host", status=status)
        write(COMPARISON, empty(COMPARISON), out.with_name(COMPARISON.file))
        return cells.write_cells(rows, out)


def _skipped(simulated: Path) -> bool:
    """Whether the workload was skipped because the user has not supplied its inputs."""
    return set(cells.read_cells(simulated).status) == {"skipped"}
