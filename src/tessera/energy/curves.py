"""The table ``threads.csv``: a row per number of threads, of the model (assumed) or of runs (measured)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.files import write_csv
from tessera.energy import guz
from tessera.energy.leaves import ASSUMED
from tessera.energy.machines import Machine

COLUMNS = ("workload", "machine", "threads", "ips", "ipj", "power_w", "llc_miss_rate", "provenance")
MEASURED = "measured"


def curve(
    machine: Machine, threads: Sequence[int], workload: str, *, shared: bool = False, bandwidth: bool = True
) -> pd.DataFrame:
    """E1 to E7 for each number of threads; all values are ``assumed``.

    Units: instructions per second, instructions per joule, W, misses per memory instruction.
    """
    machine = replace(machine, shared=shared)
    n = np.asarray(threads, dtype=float)
    table = pd.DataFrame(
        {
            "workload": workload,
            "machine": machine.name,
            "threads": list(threads),
            "ips": guz.ips(machine, n, bandwidth),
            "ipj": guz.ipj(machine, n, bandwidth),
            "power_w": guz.power_w(machine, n, bandwidth),
            "llc_miss_rate": guz.miss_rate(machine, n),
            "provenance": ASSUMED,
        }
    )
    return table[list(COLUMNS)]


def write_curve(table: pd.DataFrame, path: Path) -> None:
    """Write the table, with its columns in order."""
    write_csv(table[list(COLUMNS)], path)
