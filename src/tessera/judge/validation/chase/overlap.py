"""How many misses and walks the core has under way at once, read off chases of several independent chains.

By Little's law what is under way is latency over time per access. Many chains keep the core at its limit:
the latency of one chain, divided by the time per access of many, is the number at once. For walks the
latency is that of translation alone (one chain over pages minus one over as many adjacent lines), and the
limit counts only where it is not that of the data misses. Everything is taken from the fastest rounds: the
number is a property of the core, and interference only adds time.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.judge.validation.chase.latency import curve, interpolated

MANY = 12  #: chains from here on are "many"
MOST_MISSES, MOST_WALKS = 64, 8  #: more is no property of a core: the machine was busy with something else


def saturated(measured: pd.DataFrame, series: str) -> tuple[float, float] | None:
    """Cycles per access of one chain and (median) of many; None where they were not run."""
    values = curve(measured, series, by="chains", value="low_cycles")
    many = values[values.index >= MANY]
    if 1 not in values.index or many.empty:
        return None
    return float(values[1]), float(many.median())


def misses_at_once(measured: pd.DataFrame) -> float | None:
    """L1D misses outstanding at once; None without a plausible reading."""
    found = saturated(measured, "line-chains")
    return _plausible(found[0] / found[1], MOST_MISSES) if found else None


def walks_at_once(measured: pd.DataFrame) -> float | None:
    """Page walks under way at once; None where the data misses are the limit or nothing was measured."""
    found, misses = saturated(measured, "page-chains"), misses_at_once(measured)
    lines = curve(measured, "lines", value="low_cycles")
    if found is None or misses is None or lines.empty:
        return None
    one, many = found
    elements = measured.loc[measured["series"] == "page-chains", "elements"].iloc[0]
    data = float(interpolated(lines, np.array([float(elements)]))[0])
    if many <= 1.5 * data / misses:
        return None
    return _plausible((one - data) / many, MOST_WALKS)


def _plausible(at_once: float, most: int) -> float | None:
    return at_once if 0 < at_once <= most else None
