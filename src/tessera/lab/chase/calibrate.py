"""This machine's platform file, corrected with measurements of the chase; gups plays no part."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from tessera.core.platforms import Platform, Value
from tessera.core.units import MB
from tessera.lab.chase import findings
from tessera.lab.chase.simulated import LATENCY_KEYS, LEVELS, STLB_KEY, WALK_KEY, Chase, simulate_chases
from tessera.lab.validation.engine_cases import PLAIN, bent
from tessera.lab.validation.synthetic import Batch

# Latencies from a chase: least squares over logarithms of cycles; the time of a dependent chain is a sum.
#
# In a chain nothing overlaps: cycles per access = STLB look-ups x its time + loads served by each level x
# that level's time, for the program's loads and the walker's, + the walker's loads x what each takes beyond
# that (nested paging walks a second table for each), + what the platform says that each walk takes to begin
# (walker.begin_cycles, which is not fitted). The simulator counts look-ups and loads (they
# depend on sizes, not on times); the machine says the cycles. An error is the logarithm of simulated over
# measured cycles, so that 5-cycle and 500-cycle footprints weigh the same, and half the time is as wrong as
# twice the time: with relative errors, a footprint between two levels pulled the time of memory far down.
# The times of deeper levels are fitted as what they add, so that no level is faster than the one above it.
# The loss is robust, because no step of a real machine is as sharp as an LRU's.

#: an error beyond this counts linearly: between two levels a real TLB or cache misses a little early
OUTLIER = 0.05
CHASE_KEY = ["series", "elements", "chains"]


@dataclass(frozen=True)
class Fit:
    """Cycles by platform key, and the typical error (root of the mean robust loss of log ratios)."""

    cycles: dict[str, float]
    error: float


def joined(simulated: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """One row per chase that both have; the machine's cycles are in ``measured_cycles``."""
    right = measured[[*CHASE_KEY, "cycles"]].rename(columns={"cycles": "measured_cycles"})
    return simulated.merge(right, on=CHASE_KEY)


def fit_latencies(both: pd.DataFrame) -> Fit:
    """The times that explain single chains best, given the counts of :func:`.simulated.per_access`."""
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


# The platform file, corrected.
#
# In order: clock; TLB sizes that are only assumed (from the steps); how much of the last-level cache one
# program gets, with the latencies of all levels; page-walk caches; misses outstanding at once; walkers. Each
# choice takes the candidate with the smallest error on the chases that it shows in; the last two follow
# directly from the measurements. Changed values have the source ``measured: calibrated on the chase``;
# everything else stays as it was.

NAME = "host-calibrated"
SOURCE = "measured: calibrated on the chase"
ENTRIES = (16, 24, 32, 48, 64, 72, 96, 128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
L3_MEGABYTES = (3, 4, 6, 8, 12, 16, 32, 64)
WAYS = (8, 6, 12, 4, 16, 9, 3)
BEYOND_L1D = 4096  #: lines: what the choice of a last level may change
BEYOND_STLB = {"pages": 1024, "lines": 4096}
PWC_LEVELS = ("pde", "pdpte", "pml4e")
KEYS_OF_STEPS = ("tlb.l1d.4kb.entries", "tlb.stlb.entries", "tlb.l1d.2mb.entries")
SUM_OF_LOADS = {key: value for key, value in PLAIN.items() if not key.startswith("tlb.")}
Progress = Callable[[str], None]


@dataclass
class Calibration:
    """A platform under correction: the measured chases, and the simulated ones to compare with."""

    batch: Batch
    chases: list[Chase]
    measured: pd.DataFrame  #: :func:`.latency_steps.latencies`
    platform: Platform

    def simulated(self, series: dict[str, int], platform: Platform) -> pd.DataFrame:
        """Simulated chases beside the measured ones; ``series``: name -> smallest footprint."""
        chosen = [c for c in self.chases if c.elements >= series.get(c.series.name, c.elements + 1)]
        return joined(simulate_chases(self.batch, chosen, platform), self.measured)

    def set(self, values: dict[str, int], why: str = "") -> None:
        """Correct keys that the platform has."""
        self.platform = corrected(self.platform, values, f"{SOURCE}{f' ({why})' if why else ''}")


def corrected(platform: Platform, values: dict[str, int], source: str) -> Platform:
    """The platform with other values; keys it doesn't have and values that stay the same are left alone."""
    changed = {
        key: Value(value, source)
        for key, value in values.items()
        if key in platform.values and platform.values[key].value != value
    }
    return replace(platform, values=platform.values | changed)


def calibrate(
    batch: Batch,
    chases: list[Chase],
    platform: Platform,
    measured: pd.DataFrame,
    steps: pd.DataFrame,
    clock_ghz: float,
    latencies_too: bool,
    progress: Progress = lambda text: None,
) -> Platform:
    """The corrected platform, named ``host-calibrated``.

    Args:
        latencies_too: False: correct clock and TLB sizes only (little was measured).
        chases: traces of the single-chain series at least.
        measured, steps: what :func:`.latency_steps.latencies`
            and :func:`.latency_steps.steps_table` made of the measurements.
    """
    described = replace(platform, name=NAME, description="this machine, calibrated on the pointer chase")
    work = Calibration(batch, chases, measured, described)
    if platform.values["core.frequency_hz"].assumed and math.isfinite(clock_ghz):
        work.set({"core.frequency_hz": round(clock_ghz * 1000) * 1_000_000}, "chain of one-cycle operations")
    work.set(tlb_geometries(platform, steps), "steps; associativity assumed")
    for choose in (_last_level, _walk_caches, _latencies, _mshrs, _walkers) if latencies_too else ():
        progress(f"calibrating: {choose.__doc__}")
        choose(work)
    return work.platform


def tlb_geometries(platform: Platform, steps: pd.DataFrame) -> dict[str, int]:
    """TLB geometries from steps, for keys that CPUID doesn't report; 2MB pages only where they stay whole."""
    found: dict[str, int] = {}
    split = findings.splintered(steps) == findings.YES
    for row in steps[steps["series"].isin(["pages", "large-stride"])].itertuples():
        value = platform.values.get(row.key)
        if row.key not in KEYS_OF_STEPS or row.key in found or value is None or not value.assumed:
            continue
        if row.series == "large-stride" and split:
            continue  # a 2MB page takes 4KB entries here: its step says nothing about entries for 2MB pages
        found |= geometry(row.key, row.entries)
    return found


def geometry(key: str, entries: float) -> dict[str, int]:
    """The usual size whose own step would be nearest, with ways that give a power of two of sets.

    An LRU array of k entries crosses half way between k (one set) and 1.08 k (many sets, which overflow in
    turn).
    """

    def distance(size: int) -> float:
        return max(math.log(size / entries), math.log(entries / (1.08 * size)), 0.0)

    size = min(ENTRIES, key=distance)
    ways = next(w for w in WAYS if size % w == 0 and (size // w) & (size // w - 1) == 0)
    return {key: size, key.replace(".entries", ".ways"): ways}


def _fitted(work: Calibration, platform: Platform, series: dict[str, int]) -> Fit:
    """Latencies on the platform without prefetchers and DRAM rows, so that a chain's time is a plain sum."""
    return fit_latencies(work.simulated(series, bent(platform, platform.name, SUM_OF_LOADS)))


def _apply(work: Calibration, fit: Fit) -> None:
    work.set({key: max(int(key != WALK_KEY), round(cycles)) for key, cycles in fit.cycles.items()})


def _last_level(work: Calibration) -> None:
    """the last-level cache that one program gets"""
    ways = int(work.platform.values["cache.l3.ways"].value)
    whole = int(work.platform.values["cache.l3.bytes"].value)
    slices = int(work.platform.values["cache.l3.slices"].value)
    sizes_bytes = [whole] + [_nearest(m * MB, ways * max(slices, 1)) for m in L3_MEGABYTES if m * MB < whole]
    fits = {
        size: _fitted(work, corrected(work.platform, {"cache.l3.bytes": size}, SOURCE), {"lines": BEYOND_L1D})
        for size in sizes_bytes
    }
    best = min(fits, key=lambda size: fits[size].error)
    work.set({"cache.l3.bytes": best}, f"the processor reports {whole}")
    _apply(work, fits[best])


def _nearest(size_bytes: int, lines: int) -> int:
    """A cache size near ``size_bytes``: a multiple of ``lines``, which are one set of each slice."""
    return max(1, round(size_bytes / (64 * lines))) * 64 * lines


def _walk_caches(work: Calibration) -> None:
    """page-walk caches"""
    options = [{}]
    for count in range(1, len(PWC_LEVELS) + 1):
        options.append(
            {f"pwc.{level}.{what}": 0 for level in PWC_LEVELS[:count] for what in ("entries", "ways")}
        )
    fits = [_fitted(work, corrected(work.platform, option, SOURCE), BEYOND_STLB) for option in options]
    best = min(range(len(options)), key=lambda i: fits[i].error)
    work.set(options[best], "without them walks come nearest to the measured ones")


def _latencies(work: Calibration) -> None:
    """latencies of all levels"""
    _apply(work, _fitted(work, work.platform, {"pages": 1, "lines": 1}))


def _mshrs(work: Calibration) -> None:
    """misses outstanding at once"""
    found = findings.misses_at_once(work.measured)
    if found is not None and work.platform.values["core.mshrs"].assumed:
        work.set({"core.mshrs": max(1, round(found))}, "latency of one chain over time per access of many")


def _walkers(work: Calibration) -> None:
    """page walkers"""
    found = findings.walks_at_once(work.measured)
    if found is not None and work.platform.values["walker.count"].assumed:
        work.set(
            {"walker.count": max(1, round(found))},
            "translation time of one chain over time per access of many",
        )
