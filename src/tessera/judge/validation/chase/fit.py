"""Latencies from a chase: least squares over logarithms of cycles; the time of a dependent chain is a sum.

In a chain nothing overlaps: cycles per access = STLB look-ups x its time + loads served by each level x
that level's time, for the program's loads and the walker's, + the walker's loads x what each takes beyond
that (nested paging walks a second table for each), + what the platform says that each walk takes to begin
(walker.begin_cycles, which is not fitted). The simulator counts look-ups and loads (they
depend on sizes, not on times); the machine says the cycles. An error is the logarithm of simulated over
measured cycles, so that 5-cycle and 500-cycle footprints weigh the same, and half the time is as wrong as
twice the time: with relative errors, a footprint between two levels pulled the time of memory far down.
The times of deeper levels are fitted as what they add, so that no level is faster than the one above it.
The loss is robust, because no step of a real machine is as sharp as an LRU's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from tessera.judge.validation.chase.simulate import LATENCY_KEYS, LEVELS, STLB_KEY, WALK_KEY

#: an error beyond this counts linearly: between two levels a real TLB or cache misses a little early
OUTLIER = 0.05
KEY = ["series", "elements", "chains"]


@dataclass(frozen=True)
class Fit:
    """Cycles by platform key, and the typical error (root of the mean robust loss of log ratios)."""

    cycles: dict[str, float]
    error: float


def joined(simulated: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """One row per chase that both have; the machine's cycles are in ``measured_cycles``."""
    right = measured[[*KEY, "cycles"]].rename(columns={"cycles": "measured_cycles"})
    return simulated.merge(right, on=KEY)


def fit_latencies(both: pd.DataFrame) -> Fit:
    """The times that explain single chains best, given the counts of :func:`simulate.per_access`."""
    both = both[both["chains"] == 1]
    loads = both[[f"{level}_loads" for level in LEVELS]].to_numpy()
    # Column k: loads served at level k or below, which all pay what level k adds.
    deeper = loads[:, ::-1].cumsum(axis=1)[:, ::-1]
    design = np.column_stack([both[["stlb_lookups", "walker_loads"]].to_numpy(), deeper])
    begins, measured = both["walk_begin_cycles"].to_numpy(), both["measured_cycles"].to_numpy()
    start = np.array([7.0, 1.0, 4.0, 10.0, 40.0, 200.0])
    solved = least_squares(
        lambda times: np.log((design @ times + begins) / measured),
        start,
        bounds=(0, np.inf),
        loss="soft_l1",
        f_scale=OUTLIER,
    )
    times, error = solved.x, float(np.sqrt(2 * solved.cost / len(both)))
    cycles = dict(zip(LATENCY_KEYS, np.cumsum(times[2:]), strict=True))
    extra = {STLB_KEY: float(times[0]), WALK_KEY: float(times[1])}
    return Fit(extra | {k: float(v) for k, v in cycles.items()}, error)
