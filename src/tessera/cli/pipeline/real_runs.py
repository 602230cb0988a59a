"""Step of the workflow: real runs on this machine; a failure becomes a row with the reason."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from tessera.cli.pipeline.simulation import failed_rows
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results import table_io
from tessera.core.results.cell_tables import HOST_CELLS, MANIFEST
from tessera.core.results.machine_tables import COMPARISON
from tessera.core.results.outcomes import FAILED, SKIPPED
from tessera.core.results.table_io import empty_table, frame_of, read_file, write_table
from tessera.lab.study import Count, Run, Seed, study
from tessera.measure.hybrid_cells import Experiment, run_host
from tessera.measure.rounds import StoppingRule

PLATFORM = "host"


@study(HOST_CELLS)
def host(
    run: Run,
    workload: str,
    size: str,
    manifest: Path,
    simulated: Path,
    half_width: float,
    max_repeats: Count,
    max_minutes: float,
    seed: Seed,
) -> pd.DataFrame:
    """Time a workload on this machine under the layouts of a manifest; see tessera measure clock --help.

    Also writes comparison.csv beside the cells, empty if nothing was measured, and continues runs.csv.
    Without layouts there is one ``failed`` row.

    Example, after ./run smoke:
      ./run --reserve tessera dev step host workload=gups size=tiny half_width=0.05 max_repeats=3 \\
        max_minutes=1 seed=1 manifest=results/smoke/host/layouts/manifest.csv \\
        simulated=results/smoke/host/simulated.csv --out /tmp/host/cells.csv

    Args:
        workload: as in: tessera workload show.
        size: tiny, default or paper.
        manifest: manifest.csv of the layouts.
        simulated: simulated cells of host-sim.
        half_width: largest 95% half-width, as a fraction.
        max_repeats: most rounds.
        max_minutes: start no round after so many.
        seed: of the order in each round.
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
        rule = StoppingRule(half_width, max_repeats=max_repeats, max_minutes=max_minutes)
        return run_host(Experiment(workload, size, files, run.out, simulated, rule, seed), run.say)
    except TesseraError as error:
        status = SKIPPED if not names and _skipped(simulated) else FAILED
        rows = failed_rows(workload, PLATFORM, names or [ALL_4KB], error.sentence, "host", status=status)
        write_table(COMPARISON, empty_table(COMPARISON), run.out.with_name(COMPARISON.file))
        return frame_of(HOST_CELLS, rows)


def _skipped(simulated: Path) -> bool:
    """Whether the workload was skipped because the user has not supplied its inputs."""
    return set(table_io.read_cells(simulated).status) == {SKIPPED}
