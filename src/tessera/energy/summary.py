"""Runs as rows per number of threads: means with 95% intervals, and the table ``threads.csv``."""

from __future__ import annotations

import pandas as pd

from tessera.core.stats import mean_interval
from tessera.energy.curves import COLUMNS, MEASURED

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
    return pd.DataFrame(rows)[list(COLUMNS)]
