"""Distance of a point to the convex hull of the samples in (H, M, C).

Each input can be in its range although no sample has a similar combination (many misses without walk
cycles), so a check of the three ranges is not enough. Inputs are divided by their ranges over the samples (an
input that never varies by its value, or 1). The distance is the least t such that some mixture of samples
is within t of the point in every input, a linear program: minimise t subject to
|sum_i w_i x_i - p| <= t, sum_i w_i = 1, w >= 0. t = 0.1 means "outside by 10% of the range".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.fit.models.inputs import ORDER
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUT_COLUMNS

INSIDE = 1e-7  #: of the range; what the linear program's tolerance leaves of zero


def distance_outside(samples: Samples, H: float, M: float, C: float, used: Sequence[str] = ORDER) -> float:
    """Distance of one point to the hull as a share of the ranges; 0.0 inside.

    ``used``: the inputs that count, at least one.
    """
    from scipy.optimize import linprog  # 0.3 s to import

    of_point = dict(zip(ORDER, (H, M, C), strict=True))
    known = np.unique(np.column_stack([getattr(samples, symbol) for symbol in used]), axis=0)
    low, extent = known.min(axis=0), _extents(known)
    points = (known - low) / extent
    point = (np.array([of_point[symbol] for symbol in used], dtype=float) - low) / extent
    n, k = points.shape
    if k == 1:  # no linear program for a range
        beyond = float(max(points.min() - point[0], point[0] - points.max()))
        return beyond if beyond > INSIDE else 0.0
    edge = -np.ones((k, 1))
    found = linprog(
        c=np.append(np.zeros(n), 1.0),
        A_ub=np.block([[points.T, edge], [-points.T, edge]]),
        b_ub=np.concatenate([point, -point]),
        A_eq=np.append(np.ones(n), 0.0)[None, :],
        b_eq=[1.0],
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        raise TesseraError(
            f"hull of {len(samples)} samples at H={H:g}, M={M:g}, C={C:g}",
            f"the linear program found no optimum: {found.message}",
            "check the units of the design: plain counts and cycles",
            exit_code=EXIT_FAILED,
        )
    return float(found.fun) if found.fun > INSIDE else 0.0


def outside_ranges(samples: Samples, H: float, M: float, C: float) -> list[str]:
    """Which inputs are out of their own range, and by how much of it."""
    known = np.column_stack([getattr(samples, symbol) for symbol in ORDER])
    found = []
    for symbol, value, low, high, extent in zip(
        ORDER, (H, M, C), known.min(axis=0), known.max(axis=0), _extents(known), strict=True
    ):
        beyond = max(low - value, value - high) / extent
        if beyond > INSIDE:
            side = "below" if value < low else "above"
            found.append(f"{INPUT_COLUMNS[symbol]} {_share(beyond)} of its range {side} the range")
    return found


def describe(samples: Samples, H: float, M: float, C: float) -> tuple[float, str]:
    """(distance, sentence); the sentence is empty inside the hull."""
    distance = distance_outside(samples, H, M, C)
    if not distance:
        return 0.0, ""
    ranges = outside_ranges(samples, H, M, C)
    why = "; ".join(ranges) or "each input is in its range, but this combination is not"
    return (
        distance,
        f"extrapolation: outside the samples' hull by {_share(distance)} of their ranges ({why})",
    )


def _share(value: float) -> str:
    return f"{100 * value:.2g}%" if value < 1 else f"{100 * value:.4g}%"


def _extents(known: np.ndarray) -> np.ndarray:
    extent = np.ptp(known, axis=0)
    fixed = np.where(known[0] > 0, known[0], 1.0)
    return np.where(extent > 0, extent, fixed)
