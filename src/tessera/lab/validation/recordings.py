"""The recordings of a run beside the known ones of ``config/known-recordings.csv``."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pandas as pd

from tessera.core.results.machine_tables import RECORDINGS
from tessera.core.results.table_io import frame_of
from tessera.lab.study import Run, study
from tessera.record import known_recordings
from tessera.record.known_recordings import DIFFERS


def say_outcomes(table: pd.DataFrame) -> None:
    """Print how many recordings have which outcome, and those that differ."""
    print(", ".join(f"{count} {outcome}" for outcome, count in Counter(table["outcome"]).items()))
    for row in table[table["outcome"] == DIFFERS].itertuples():
        print(f"{row.workload} ({row.size}): {row.message}", file=sys.stderr)


@study(RECORDINGS, show=say_outcomes)
def recordings(run: Run, results: Path, known: Path | None = None) -> pd.DataFrame:
    """Compare the recordings of a run with the known ones, by the SHA-256 of their traces.

    A recording with the key of the known one (program, libraries, image, inputs, limits) must have the same
    bytes: `tessera report check` fails if it differs. Another key, or no known recording, is no error.

    Example: ./run tessera lab run known-recordings results=results/smoke --out /tmp/recordings.csv

    Args:
        results: folder of the run.
        known: table of known recordings; by default config/known-recordings.csv.

    Raises:
        TesseraError: the run has no good recording, or the table of known ones is damaged.
    """
    table = known_recordings.read_known(known or known_recordings.known_file())
    rows = []
    for info in known_recordings.recordings_of(results):
        outcome, message = known_recordings.compared(info, table)
        rows.append(
            {name: info[name] for name in ("workload", "size", "sha256", "accesses")}
            | {"key": info["repeats"]["key"], "outcome": outcome, "message": message}
        )
    return frame_of(RECORDINGS, rows)
