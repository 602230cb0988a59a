"""Runs with several numbers of threads: the file ``runs.csv``, and their means with intervals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.statistics import mean_interval
from tessera.core.table_columns import TableRefused, floats
from tessera.core.table_file import read_table
from tessera.lab.energy.guz_model import MEASURED, THREADS_COLUMNS

# ``runs.csv``: one row per run of a program with some number of threads, and what is refused in it.

#: round: number of the repetition; idle_w: mean power of the socket before and after the round.
RUN_COLUMNS = (
    "round",
    "threads",
    "seconds",
    "instructions",
    "llc_loads",
    "llc_misses",
    "energy_j",
    "idle_w",
    "provenance",
)
_POSITIVE = ("threads", "seconds", "instructions")
_NUMBERS = RUN_COLUMNS[:-1]
LEAST_REPEATS = 5
AGAIN = "check the path, or measure again: ./run tessera lab threads measure"


def read_runs(path: Path) -> pd.DataFrame:
    """The runs, with ``ips``, ``power_w``, ``ipj``, ``misses_per_s`` and ``llc_miss_rate`` behind them.

    Raises:
        TesseraError: unreadable, columns missing, no number, negative energy or power, fewer than two numbers
            of threads.
    """
    owner = f"runs {path}"
    try:
        table = read_table(path, owner, RUN_COLUMNS, _NUMBERS)
    except TableRefused as error:
        raise TesseraError(
            error.asked, error.found, f"{error.remedy}; {AGAIN}", exit_code=EXIT_FAILED, code=error.code
        ) from None
    return checked_runs(table.frame, owner)


def checked_runs(table: pd.DataFrame, owner: str) -> pd.DataFrame:
    """As :func:`read_runs`, from a table."""
    if missing := [name for name in RUN_COLUMNS if name not in table]:
        raise TesseraError(owner, f"columns missing: {', '.join(missing)}", AGAIN, code="runs-columns")
    table, lines = table[list(RUN_COLUMNS)].copy(), list(table.index) if table.index.name == "line" else None
    for name in _NUMBERS:
        table[name] = floats(table[name])
    table = table.reset_index(drop=True)
    if table.empty:
        raise TesseraError(owner, "it has no row", AGAIN, code="runs-empty")
    for position, row in zip(lines or range(2, len(table) + 2), table.itertuples(index=False), strict=True):
        for name in _NUMBERS:
            value = getattr(row, name)
            low = value <= 0 if name in _POSITIVE else value < 0
            if not np.isfinite(value) or low:
                rule = "above 0" if name in _POSITIVE else "0 or above"
                raise TesseraError(
                    f"{owner} line {position}, column {name}",
                    f"{value} is no number {rule}",
                    AGAIN,
                    code="runs-value",
                )
        if row.energy_j == 0:
            found = f"{row.energy_j} J in {row.seconds} s: power must be above 0"
            raise TesseraError(f"{owner} line {position}, column energy_j", found, AGAIN, code="runs-value")
    if len(set(table["threads"])) < 2:
        raise TesseraError(
            owner,
            f"all runs have {table['threads'].iloc[0]:.0f} threads; two numbers of threads are needed",
            "measure with several: --threads 1,2,4,8",
            code="runs-threads",
        )
    return table.assign(
        ips=table["instructions"] / table["seconds"],
        power_w=table["energy_j"] / table["seconds"],
        ipj=table["instructions"] / table["energy_j"],
        misses_per_s=table["llc_misses"] / table["seconds"],
        llc_miss_rate=(table["llc_misses"] / table["llc_loads"]).where(table["llc_loads"] > 0),
    )


def few_repeats(table: pd.DataFrame) -> list[int]:
    """Numbers of threads with fewer than :data:`LEAST_REPEATS` runs, whose intervals say little."""
    counts = table.groupby("threads").size()
    return [int(threads) for threads, count in counts.items() if count < LEAST_REPEATS]


def failed_run(owner: str, found: str, remedy: str, code: str) -> TesseraError:
    """The error of a run that cannot count."""
    return TesseraError(owner, found, remedy, exit_code=EXIT_FAILED, code=code)


# Runs as rows per number of threads: means with 95% intervals, and the table ``threads.csv``.

QUANTITIES = ("ips", "ipj", "power_w", "llc_miss_rate")


def by_threads(runs: pd.DataFrame) -> list[dict]:
    """For each number of threads: ``runs``, and mean and half-width of each quantity (``ips_ci95``)."""
    found = []
    for threads, part in runs.groupby("threads"):
        row = {"threads": int(threads), "runs": len(part)}
        for name in QUANTITIES:
            values = part[name].dropna()
            interval = mean_interval(values) if len(values) else None
            row |= {
                name: interval.value if interval else None,
                f"{name}_ci95": interval.half_width if interval else None,
            }
        found.append(row)
    return found


def measured_curve(runs: pd.DataFrame, workload: str, machine: str) -> pd.DataFrame:
    """The table ``threads.csv`` of runs; means over the repeats."""
    rows = [
        {"workload": workload, "machine": machine, "provenance": MEASURED} | row for row in by_threads(runs)
    ]
    return pd.DataFrame(rows)[list(THREADS_COLUMNS)]
