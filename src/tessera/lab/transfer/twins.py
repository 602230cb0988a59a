"""Twins: layouts of P near a point in H, M and C, looked for in many random layouts of the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import write_layout
from tessera.core.mapping.page_mapping import POOLS
from tessera.core.mapping.paging import Touches, read_touches
from tessera.core.platforms import Platform
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.fit.models.samples import Samples
from tessera.lab.transfer.points import DECLARED_INPUTS, Measured
from tessera.lab.transfer.runs import PARTIAL, Runs, needed
from tessera.record import traces

# Random layouts of a window: some that no model saw, and many in which twins are looked for.

NEW_COUNT = 9
#: Added to the seed, so that they are not the random layouts that the models are fitted to.
SEED_OFFSET = 1000


def random_layouts(trace: Path, folder: Path, mosaics: int, seed: int) -> tuple[list[Path], list[Path]]:
    """Write :data:`NEW_COUNT` and ``mosaics`` layouts, with windows on pages that the trace touches."""
    space = touched_space(trace, folder)
    spans = list(generation.random_windows(space, NEW_COUNT + mosaics, seed + SEED_OFFSET))
    paths = []
    for number, (_, *places) in enumerate(spans):
        name = f"new-{number}" if number < NEW_COUNT else f"mosaic-{number - NEW_COUNT}"
        paths.append(folder / f"{name}.csv")
        write_layout(space.layout(name, *space.span(*places)), paths[-1])
    return paths[:NEW_COUNT], paths[NEW_COUNT:]


def touched_space(trace: Path, folder: Path) -> Space:
    """The address space of a trace, whose places are the 2MB pages that it touches."""
    space, file = Space.from_trace_info(traces.trace_info(trace)), folder / "touched.txt"
    traces.write_touches(trace, file)
    touches = read_touches(file)
    return space.on_touched(sorted(_places(space, touches)))


def _places(space: Space, touches: Touches) -> set[int]:
    """2MB pages of S that are touched."""
    found: set[int] = set()
    for number, pool in enumerate(POOLS):
        offsets = np.unique(touches.page[touches.pool == number] * PAGE_4KB // PAGE_2MB) * PAGE_2MB
        used = offsets[offsets < space.used_bytes.get(pool, 0)]
        found |= {space.position(pool, int(offset)) // PAGE_2MB for offset in used}
    return found


# R of P at the H, M, C of a point: the nearest layout of P, corrected by the slope of its neighbours.
#
# Distances are the largest difference of an input, divided by its range over the layouts of P. A twin that
# is exact needs no correction. If R of the point and of P at the same (H, M, C) differ by a share g of the
# smaller, a function f(H, M, C) has a relative error of at least g / (2 + g) at one of the two: with R1 and
# R2 = R1 (1 + g), the errors |f - R1| / R1 and |f - R2| / R2 are equal at f = 2 R1 R2 / (R1 + R2).

EXACT, NEAR, NONE = "exact", "near", "none"
NEAR_SHARE = 0.01
NEIGHBOURS = 10


@dataclass(frozen=True)
class Mosaics:
    """Layouts of P: ``names`` (n), ``x`` (n, 3) H, M, C, ``runtime`` (n,) cycles, NaN where not timed."""

    names: tuple[str, ...]
    x: np.ndarray
    runtime: np.ndarray

    @property
    def extent(self) -> np.ndarray:
        """Ranges of H, M, C; 1 for an input that never varies."""
        extent = np.ptp(self.x, axis=0)
        return np.where(extent > 0, extent, 1.0)

    def with_runtimes(self, runtimes: dict[str, float]) -> Mosaics:
        """The same with more of them timed."""
        found = [runtimes.get(n, old) for n, old in zip(self.names, self.runtime, strict=True)]
        return Mosaics(self.names, self.x, np.array(found, dtype=float))


@dataclass(frozen=True)
class Twin:
    """``runtime + correction`` is R of P at the point (cycles); ``kind`` NONE: neither exists."""

    kind: str
    name: str
    distance: float
    runtime: float = float("nan")
    correction: float = float("nan")

    @property
    def at_point(self) -> float:
        return self.runtime + self.correction


def nearest(mosaics: Mosaics, point: Sequence[float]) -> tuple[str, float]:
    """(name, distance) of the nearest layout; of equally near ones, a timed one, then the first."""
    distance = np.abs((mosaics.x - np.asarray(point, dtype=float)) / mosaics.extent).max(axis=1)
    order = np.lexsort((np.arange(len(distance)), np.isnan(mosaics.runtime), distance))
    return mosaics.names[order[0]], float(distance[order[0]])


def near_twin(mosaics: Mosaics, point: Sequence[float]) -> Twin:
    """The twin of a point, from the timed layouts; the nearest must be timed, if it is near."""
    name, distance = nearest(mosaics, point)
    if distance > NEAR_SHARE:
        return Twin(NONE, name, distance)
    at = mosaics.names.index(name)
    slope = _slope(mosaics, at)
    move = np.asarray(point, dtype=float) - mosaics.x[at]
    return Twin(NEAR, name, distance, float(mosaics.runtime[at]), float(slope @ move))


def _slope(mosaics: Mosaics, at: int) -> np.ndarray:
    """Cycles per hit, miss and walk cycle (3,): a plane through the nearest timed layouts."""
    known = np.flatnonzero(~np.isnan(mosaics.runtime))
    scaled = mosaics.x / mosaics.extent
    distance = np.abs(scaled[known] - scaled[at]).max(axis=1)
    picked = known[np.argsort(distance, kind="stable")[: NEIGHBOURS + 1]]
    x = scaled[picked] - scaled[at]
    design = np.column_stack([np.ones(len(picked)), x])
    weights, *_ = np.linalg.lstsq(design, mosaics.runtime[picked] - mosaics.runtime[at], rcond=1e-9)
    return weights[1:] / mosaics.extent


def gap(runtime: float, other: float) -> float:
    """g: the difference of two runtimes as a share of the smaller."""
    return abs(runtime - other) / min(runtime, other)


def least_error(g: float) -> float:
    """g / (2 + g): below that, no function of H, M, C is right at both."""
    return g / (2 + g)


# The twins of all points: which layouts of P are near, and their R.


def find_twins(
    runs: Runs, platform: Platform, samples: Samples, more: Sequence[Path], points: Sequence[Measured]
) -> list[dict[str, Twin]]:
    """For each point its twin by input; {} for a point without numbers.

    ``more``: layouts that are simulated without time first; those that are near a point are timed.
    """
    mosaics = _mosaics(runs, platform, samples, more)
    wanted = [_wanted(point) for point in points]
    found = (nearest(mosaics, x) for each in wanted for x in each.values())
    names = {name for name, share in found if share <= NEAR_SHARE}
    files = [path for path in more if path.stem in names]
    if files:
        runs.progress(f"timing {len(files)} twins")
        timed = needed(runs.cells(platform, files), "a twin")
        mosaics = mosaics.with_runtimes({name: cell.runtime for name, cell in timed.items()})
    return [_twins_of(point, mosaics, each) for point, each in zip(points, wanted, strict=True)]


def has_exact_twin(point: Measured) -> bool:
    """P has the H, M and C of the point under the same layout."""
    return point.ok and point.cell.x == point.base.x


def _mosaics(runs: Runs, platform: Platform, samples: Samples, more: Sequence[Path]) -> Mosaics:
    x = np.column_stack([samples.H, samples.M, samples.C])
    if not more:
        return Mosaics(samples.layouts, x, samples.R)
    runs.progress(f"H, M and C of {len(more)} further layouts of P")
    cells = needed(runs.cells(platform, more, engine=PARTIAL), "P")
    return Mosaics(
        (*samples.layouts, *cells),
        np.vstack([x, [cell.x for cell in cells.values()]]),
        np.append(samples.R, np.full(len(cells), np.nan)),
    )


def _wanted(point: Measured) -> dict[str, tuple]:
    """Input -> (H, M, C) for which a near twin is looked for."""
    if not point.ok:
        return {}
    same = has_exact_twin(point)
    return {
        inputs: tuple(point.x[inputs])
        for inputs in DECLARED_INPUTS
        if not (same and tuple(point.x[inputs]) == point.base.x)
    }


def _twins_of(point: Measured, mosaics: Mosaics, wanted: dict[str, tuple]) -> dict[str, Twin]:
    if not point.ok:
        return {}
    there = Twin(EXACT, point.cell.layout, 0.0, point.base.runtime, 0.0)
    return {
        inputs: near_twin(mosaics, wanted[inputs]) if inputs in wanted else there
        for inputs in DECLARED_INPUTS
    }
