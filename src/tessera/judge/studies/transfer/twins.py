"""R of P at the H, M, C of a point: the nearest layout of P, corrected by the slope of its neighbours.

Distances are the largest difference of an input, divided by its range over the layouts of P. A twin that is
exact needs no correction. If R of the point and of P at the same (H, M, C) differ by a share g of the
smaller, a function f(H, M, C) has a relative error of at least g / (2 + g) at one of the two: with R1 and
R2 = R1 (1 + g), the errors |f - R1| / R1 and |f - R2| / R2 are equal at f = 2 R1 R2 / (R1 + R2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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

    def timed(self, name: str) -> bool:
        return not np.isnan(self.runtime[self.names.index(name)])

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
