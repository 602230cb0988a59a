"""Time per access of every footprint, from single measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd

COLUMNS = ("series", "elements", "chains", "ns", "cycles", "low_cycles", "rounds")


def clock_ghz(rows: pd.DataFrame) -> float:
    """Cycles per nanosecond: the fastest clock row, as interference only slows one down; NaN without any."""
    clock = rows[rows["elements"] == 0]
    return float((clock["accesses"] / clock["ns"]).max())


def latencies(rows: pd.DataFrame) -> pd.DataFrame:
    """Median time of an access per series, footprint and chains; cycles of each series' own clock.

    Interference only ever adds time, so the median is what a program meets on this machine and
    ``low_cycles`` (the smallest round) what the processor does when it is left alone.
    """
    found = []
    for series, part in rows.groupby("series", sort=False):
        ghz = clock_ghz(part)
        part = part[part["elements"] > 0]
        per_access = part["ns"] / part["accesses"]
        groups = part.assign(per_access=per_access).groupby(["elements", "chains"])["per_access"]
        table = groups.agg(["median", "min", "size"]).reset_index()
        table["series"], table["ns"] = series, table["median"]
        table["cycles"], table["low_cycles"] = table["median"] * ghz, table["min"] * ghz
        found.append(table.rename(columns={"size": "rounds"})[list(COLUMNS)])
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(COLUMNS))


def curve(rows: pd.DataFrame, series: str, by: str = "elements", value: str = "cycles") -> pd.Series:
    """``value`` of one series by footprint (or chains), ascending; empty where the series was not run."""
    part = rows[rows["series"] == series]
    return part.groupby(by)[value].first().sort_index()


def interpolated(known: pd.Series, at: np.ndarray) -> np.ndarray:
    """Values of a curve at other footprints, linear in the logarithm of the footprint."""
    return np.interp(np.log(at), np.log(known.index.to_numpy(float)), known.to_numpy(float))
