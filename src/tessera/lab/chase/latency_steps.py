"""Time per access of every footprint, and where it jumps: TLB sizes and what a miss costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.core.results.machine_tables import STEPS

# Time per access of every footprint, from single measurements.

LATENCY_COLUMNS = ("series", "elements", "chains", "ns", "cycles", "low_cycles", "rounds")


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
        found.append(table.rename(columns={"size": "rounds"})[list(LATENCY_COLUMNS)])
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(LATENCY_COLUMNS))


def curve(rows: pd.DataFrame, series: str, by: str = "elements", value: str = "cycles") -> pd.Series:
    """``value`` of one series by footprint (or chains), ascending; empty where the series was not run."""
    part = rows[rows["series"] == series]
    return part.groupby(by)[value].first().sort_index()


def interpolated(known: pd.Series, at: np.ndarray) -> np.ndarray:
    """Values of a curve at other footprints, linear in the logarithm of the footprint."""
    return np.interp(np.log(at), np.log(known.index.to_numpy(float)), known.to_numpy(float))


# Where a chase's latency jumps: TLB sizes and what a miss costs, with bootstrap intervals.
#
# The cost of translation is the latency of a chase over pages minus that of a chase over as many adjacent
# lines, which need few pages: what is left is neither L1D nor L2. A step function is fitted to its logarithm
# by least squares (exactly), because the walk's step is many times the second-level TLB's. The size of a
# structure is the footprint where the cost crosses the middle of the two levels. The interval comes from
# resampling rounds and is never narrower than the two footprints around the crossing.

MOST_PAGES = 8192  #: beyond, leaf entries leave the caches near the core and cost rises for another reason
LEAST_CYCLES, LEAST_RATIO = 2.0, 1.3  #: smaller steps are none
LEAST_POINTS = 3  #: footprints of a level
FLOOR_CYCLES = 2.0  #: added before the logarithm: below this, differences are noise
RESAMPLES = 200
CACHES = "lines"  #: the series without translation

#: series -> the structures whose ends its steps are, and the platform's key of each
MEANINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "pages": (("L1 DTLB, 4KB pages", "tlb.l1d.4kb.entries"), ("STLB", "tlb.stlb.entries")),
    "contiguous": (
        ("L1 DTLB, contiguous frames", "tlb.l1d.4kb.entries"),
        ("STLB, contiguous frames", "tlb.stlb.entries"),
    ),
    "ascending": (
        ("L1 DTLB, ascending order", "tlb.l1d.4kb.entries"),
        ("STLB, ascending order", "tlb.stlb.entries"),
    ),
    "large-pages": (("first step inside 2MB pages", ""), ("second step inside 2MB pages", "")),
    "large-stride": (("L1 DTLB, 2MB pages", "tlb.l1d.2mb.entries"), ("STLB, 2MB pages", "tlb.stlb.entries")),
}
USED = {*MEANINGS, CACHES}
STEP_COLUMNS = STEPS.names[:-2]  #: what the file says is added later


@dataclass(frozen=True)
class LatencyJump:
    """A jump at ``entries`` (fractional footprint) from one level of cycles to the next."""

    entries: float
    last_below: int
    first_above: int
    below_cycles: float
    above_cycles: float


def translation_cycles(curves: Mapping[str, pd.Series], series: str) -> pd.Series:
    """Cycles of translation per access by footprint: ``series`` minus the chase over adjacent lines."""
    if series not in curves or CACHES not in curves:
        return pd.Series(dtype=float)
    pages = curves[series]
    pages = pages[pages.index <= MOST_PAGES]
    return pages - interpolated(curves[CACHES], pages.index.to_numpy(float))


def find_steps(cost: pd.Series, most: int = 2) -> list[LatencyJump]:
    """At most ``most`` upward steps of a cost by footprint; small ones are left out."""
    footprints, cycles = cost.index.to_numpy(float), cost.to_numpy(float)
    n = len(cycles)
    if n < 2 * LEAST_POINTS:
        return []
    logs = np.log2(np.maximum(cycles, 0) + FLOOR_CYCLES)
    for count in range(min(most, n // LEAST_POINTS - 1), 0, -1):
        edges = _best_edges(logs, count)
        levels = [float(np.median(cycles[a:b])) for a, b in zip([0, *edges], [*edges, n], strict=True)]
        if all(_is_step(a, b) for a, b in zip(levels, levels[1:], strict=False)):
            return [
                _located(footprints, cycles, edge, *pair)
                for edge, pair in zip(edges, zip(levels, levels[1:], strict=False), strict=True)
            ]
    return []


def _is_step(below: float, above: float) -> bool:
    return above - below >= LEAST_CYCLES and above + FLOOR_CYCLES >= LEAST_RATIO * (below + FLOOR_CYCLES)


def _best_edges(values: np.ndarray, count: int) -> tuple[int, ...]:
    """Edges between ``count`` + 1 constant pieces with the smallest sum of squares (dynamic programming)."""
    n = len(values)
    sums, squares = np.concatenate([[0], np.cumsum(values)]), np.concatenate([[0], np.cumsum(values**2)])
    ends, starts = np.arange(n + 1)[:, None], np.arange(n + 1)[None, :]
    length = np.maximum(ends - starts, 1)
    cost = squares[:, None] - squares[None, :] - (sums[:, None] - sums[None, :]) ** 2 / length
    cost = np.where(ends - starts >= LEAST_POINTS, cost, np.inf)  # cost[end, start] of one piece
    best, choices = cost[:, 0], []
    for _ in range(count):
        total = best[None, :] + cost
        choices.append(total.argmin(axis=1))
        best = total.min(axis=1)
    edges, end = [], n
    for choice in reversed(choices):
        end = int(choice[end])
        edges.append(end)
    return tuple(reversed(edges))


def _located(
    footprints: np.ndarray, cycles: np.ndarray, edge: int, below: float, above: float
) -> LatencyJump:
    """The crossing of the middle nearest to the edge, interpolated in the logarithm of the footprint."""
    middle = (below + above) / 2
    crossings = [i for i in range(1, len(cycles)) if cycles[i - 1] < middle <= cycles[i]]
    at = min(crossings, key=lambda i: abs(i - edge), default=edge)
    x0, x1 = np.log(footprints[at - 1]), np.log(footprints[at])
    y0, y1 = cycles[at - 1], cycles[at]
    share = (middle - y0) / (y1 - y0) if y1 > y0 else 0.5
    share = min(max(share, 0.0), 1.0)
    entries = float(np.exp(x0 + share * (x1 - x0)))
    return LatencyJump(entries, int(footprints[at - 1]), int(footprints[at]), below, above)


def steps_table(rows: pd.DataFrame, source: str, seed: int = 1, resamples: int = RESAMPLES) -> pd.DataFrame:
    """Steps of every series in ``rows`` (single measurements) with 95% bootstrap intervals.

    Args:
        rows: columns of chase.csv.
        source: goes to the column of that name (``measured``, or the name of a simulated platform).
    """
    matrices = {
        name: cycles_by_round(part) for name, part in rows.groupby("series", sort=False) if name in USED
    }
    curves = {name: matrix.median(axis=1) for name, matrix in matrices.items()}
    redrawn = list(_samples(matrices, seed, resamples))
    found = []
    for series, meanings in MEANINGS.items():
        here = find_steps(translation_cycles(curves, series))
        others = [find_steps(translation_cycles(sample, series)) for sample in redrawn]
        for number, (step, (what, key)) in enumerate(zip(here, meanings, strict=False)):
            same = [steps[number] for steps in others if len(steps) == len(here)]
            low, high = _interval([s.entries for s in same], step.entries)
            added = step.above_cycles - step.below_cycles
            added_low, added_high = _interval([s.above_cycles - s.below_cycles for s in same], added)
            found.append(
                dict(
                    zip(
                        STEP_COLUMNS,
                        (
                            source,
                            series,
                            number + 1,
                            what,
                            key,
                            step.entries,
                            min(low, step.last_below),
                            max(high, step.first_above),
                            step.below_cycles,
                            step.above_cycles,
                            added,
                            added_low,
                            added_high,
                        ),
                        strict=True,
                    )
                )
            )
    return pd.DataFrame(found, columns=list(STEP_COLUMNS))


def cycles_by_round(part: pd.DataFrame) -> pd.DataFrame:
    """Cycles per access of one series: a row per footprint, a column per round."""
    ghz = clock_ghz(part)
    part = part[part["elements"] > 0]
    part = part.assign(cycles=part["ns"] / part["accesses"] * ghz)
    return part.pivot_table(index="elements", columns="round", values="cycles", aggfunc="mean")


def _samples(matrices: dict[str, pd.DataFrame], seed: int, count: int) -> Iterator[dict[str, pd.Series]]:
    """Curves of resampled rounds: one draw for all footprints of a series, as a round is one sequence."""
    if all(matrix.shape[1] < 2 for matrix in matrices.values()):
        return
    random = np.random.default_rng(seed)
    for _ in range(count):
        drawn = {}
        for name, matrix in matrices.items():
            rounds = random.integers(matrix.shape[1], size=matrix.shape[1])
            drawn[name] = pd.Series(np.median(matrix.to_numpy()[:, rounds], axis=1), index=matrix.index)
        yield drawn


def _interval(values: list[float], value: float) -> tuple[float, float]:
    if not values:
        return value, value
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
