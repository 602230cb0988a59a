"""How many misses and walks the core has under way at once, read off chases of several independent chains.

By Little's law what is under way is latency over time per access. Many chains keep the core at its limit:
the latency of one chain, divided by the time per access of many, is the number at once. If the last chains
still make an access faster, the limit was not reached, and what the most chains keep under way counts. For
walks the latency is that of translation alone (one chain over pages minus one over as many adjacent lines),
and the limit counts only where it is not that of the data misses. Everything is taken from the fastest
rounds: the number is a property of the core, and interference only adds time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.judge.validation.chase.latency import curve, interpolated

MANY = 12  #: chains from here on are "many"
HARDLY = 0.5  #: share of the gain of chains that do not disturb each other, below which a limit is reached
MOST_MISSES, MOST_WALKS = 64, 8  #: more is no property of a core: the machine was busy with something else


@dataclass(frozen=True)
class Saturation:
    """Cycles per access of one chain and of many; ``reached``: more chains made it hardly faster.

    Where the limit is reached, ``many`` is the median of all that are many, else the time of the most chains.
    """

    one: float
    many: float
    reached: bool


def saturated(measured: pd.DataFrame, series: str) -> Saturation | None:
    """What one chain and many take; None where they were not run."""
    values = curve(measured, series, by="chains", value="low_cycles")
    many = values[values.index >= MANY].sort_index()
    if 1 not in values.index or many.empty:
        return None
    first, last = many.index[0], many.index[-1]
    gain = np.log(many[first] / many[last]) / np.log(last / first) if last > first else 0.0
    reached = bool(gain < HARDLY)
    return Saturation(float(values[1]), float(many.median() if reached else many[last]), reached)


def misses_at_once(measured: pd.DataFrame) -> float | None:
    """L1D misses outstanding at once; None without a plausible reading."""
    found = saturated(measured, "line-chains")
    return _plausible(found.one / found.many, MOST_MISSES) if found else None


def walks_at_once(measured: pd.DataFrame) -> float | None:
    """Page walks under way at once; None where the data misses are the limit or nothing was measured."""
    found, misses = saturated(measured, "page-chains"), misses_at_once(measured)
    lines = curve(measured, "lines", value="low_cycles")
    if found is None or not found.reached or misses is None or lines.empty:
        return None
    elements = measured.loc[measured["series"] == "page-chains", "elements"].iloc[0]
    data = float(interpolated(lines, np.array([float(elements)]))[0])
    if found.many <= 1.5 * data / misses:
        return None
    return _plausible((found.one - data) / found.many, MOST_WALKS)


def _plausible(at_once: float, most: int) -> float | None:
    return at_once if 0 < at_once <= most else None
