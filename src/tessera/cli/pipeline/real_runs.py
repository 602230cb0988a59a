"""Step of the pipeline: real runs on this machine; a failure becomes a row with the reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.cli.pipeline.simulation import failed_rows
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results import table_io
from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.machine_tables import COMPARISON
from tessera.core.results.table_io import empty_table, read_file, write_table
from tessera.measure.hybrid_cells import Experiment, Progress, run_host
from tessera.measure.rounds import Rule

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
        status = "skipped" if not names and _skipped(simulated) else "failed"
        rows = failed_rows(workload, PLATFORM, names or [ALL_4KB], error.sentence, "host", status=status)
        write_table(COMPARISON, empty_table(COMPARISON), out.with_name(COMPARISON.file))
        return table_io.write_cells(rows, out)


def _skipped(simulated: Path) -> bool:
    """Whether the workload was skipped because the user has not supplied its inputs."""
    return set(table_io.read_cells(simulated).status) == {"skipped"}
