"""Properties of this machine that the chases show, and how many misses and walks are under way at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.results.machine_tables import FINDINGS
from tessera.core.results.table_io import frame_of
from tessera.lab.chase.latency_steps import curve, interpolated

# How many misses and walks the core has under way at once, read off chases of several independent chains.
#
# By Little's law what is under way is latency over time per access. Many chains keep the core at its limit:
# the latency of one chain, divided by the time per access of many, is the number at once. If the last chains
# still make an access faster, the limit was not reached, and what the most chains keep under way counts. For
# walks the latency is that of translation alone (one chain over pages minus one over as many adjacent
# lines), and the limit counts only where it is not that of the data misses. Everything is taken from the
# fastest rounds: the number is a property of the core, and interference only adds time.

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


# The findings: splintered 2MB pages, coalesced entries, effects of order.
#
# Splintering: if a hypervisor backs memory with 4KB pages, the processor uses 4KB translations for the
# guest's 2MB pages. Then a chase inside 2MB pages has the steps of 4KB pages. Coalescing: a TLB that keeps
# neighbouring translations in one entry covers more pages if their frames are contiguous. Order: walks of
# ascending pages share lines of leaf entries, and next-page prefetchers hide them. Each finding has the
# numbers that it follows from.

YES, NO, UNKNOWN = "yes", "no", "unknown"
SPLIT_SHARE, WHOLE_SHARE = 0.5, 0.1  #: of the L1 step's cost that a chase inside 2MB pages still shows
REACH_RATIO = 1.25  #: contiguous frames reach further than scattered ones by this: coalesced


def splintered(steps: pd.DataFrame) -> str:
    """Whether translations inside 2MB pages behave like those of 4KB pages."""
    return _splintering(steps)[0]


def findings_table(steps: pd.DataFrame, status: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """One row per finding, from measured steps, the state of each series and latencies by footprint."""
    rows = [
        ("2MB pages are splintered", *_splintering(steps)),
        ("STLB coalesces contiguous frames", *_coalescing(steps, status)),
        ("ascending order makes walks cheaper", *_order(steps)),
        ("walks inside 2MB pages are cheaper", *_walks(steps)),
        ("independent misses overlap", *_overlap(misses_at_once(measured), "L1D misses")),
        ("independent walks overlap", *_overlap(walks_at_once(measured), "page walks")),
    ]
    return frame_of(FINDINGS, rows)


def _step(steps: pd.DataFrame, series: str, number: int):
    rows = steps[(steps["series"] == series) & (steps["step"] == number)]
    return None if rows.empty else rows.iloc[0]


def _splintering(steps: pd.DataFrame) -> tuple[str, float | None, str]:
    small = _step(steps, "pages", 1)
    if small is None or "large-pages" not in set(steps["series"]):
        if small is not None and (steps["series"] == "large-stride").any():
            return NO, 0.0, "a chase inside 2MB pages shows no step"
        return UNKNOWN, None, "no chase ran in 2MB pages (or none showed a step in 4KB pages)"
    large = _step(steps, "large-pages", 1)
    share = large["added_cycles"] / small["added_cycles"]
    same_place = small["low"] <= large["high"] and large["low"] <= small["high"]
    because = (
        f"inside 2MB pages latency rises by {large['added_cycles']:.1f} cycles at {large['entries']:.0f} 4KB "
        f"pieces; in 4KB pages by {small['added_cycles']:.1f} at {small['entries']:.0f}"
    )
    stride = _step(steps, "large-stride", 1)
    if stride is not None:
        because += f"; with one line per 2MB page it rises at {stride['entries']:.0f} pages"
    answer = YES if share >= SPLIT_SHARE and same_place else NO if share <= WHOLE_SHARE else UNKNOWN
    return answer, float(share), because


def _coalescing(steps: pd.DataFrame, status: pd.DataFrame) -> tuple[str, float | None, str]:
    scattered, contiguous = _step(steps, "pages", 2), _step(steps, "contiguous", 2)
    if scattered is None or contiguous is None:
        return UNKNOWN, None, "a chase shows no second step"
    state = status[status["series"] == "contiguous"].iloc[0]
    known = str(state["frames_known"]).lower() == "true"
    aligned = float(state["aligned_runs_of_8_frames"]) if known else float("nan")
    ratio = contiguous["entries"] / scattered["entries"]
    frames = (
        f"{aligned:.0%} of its groups of 8 pages are in 8 contiguous frames"
        if known
        else "its frames are unknown"
    )
    because = (
        f"TLB reach: {contiguous['entries']:.0f} pages with contiguous frames ({frames}; under a hypervisor "
        f"these are the guest's frames), {scattered['entries']:.0f} with scattered ones"
    )
    if not known or aligned < 0.9:
        return UNKNOWN, float(ratio), because
    return YES if ratio >= REACH_RATIO else NO, float(ratio), because


def _order(steps: pd.DataFrame) -> tuple[str, float | None, str]:
    return _cheaper(steps, "contiguous", "ascending", "in random order", "in ascending order")


def _walks(steps: pd.DataFrame) -> tuple[str, float | None, str]:
    return _cheaper(steps, "contiguous", "large-pages", "in 4KB pages", "inside 2MB pages")


def _cheaper(steps: pd.DataFrame, base: str, other: str, base_words: str, other_words: str):
    first, second = _step(steps, base, 2), _step(steps, other, 2)
    if first is None or second is None:
        return UNKNOWN, None, "a chase shows no second step"
    ratio = float(second["added_cycles"] / first["added_cycles"])
    because = (
        f"a miss adds {second['added_cycles']:.1f} cycles {other_words} "
        f"and {first['added_cycles']:.1f} {base_words}"
    )
    return YES if ratio < 0.9 else NO, ratio, because


def _overlap(at_once: float | None, what: str) -> tuple[str, float | None, str]:
    if at_once is None:
        return UNKNOWN, None, f"not measured, or {what} limited no chase"
    because = (
        f"with many chains, {at_once:.1f} {what} run at once (latency of one chain / time per access of many)"
    )
    return YES if at_once >= 1.5 else NO, at_once, because
