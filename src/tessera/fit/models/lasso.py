"""The exact Lasso path, by homotopy: which features are nonzero at which penalty.

Minimised at each penalty a: ``|y - Z b|^2 / (2 n) + a |b|_1``, Z standardised, y centred, intercept
not penalised. As a falls from the largest |Z'y| / n to zero the solution is piecewise linear in a:
between two knots ``b = u - a v`` on the active set, with u its least squares solution and
v = (Z'Z/n)^-1 sign(b). A knot is where a correlation of the residual reaches the penalty (a feature
joins) or a coefficient reaches zero (it leaves). So there is no grid of penalties, no tolerance of
convergence and no iteration limit that could change the path with the library version. The constants
below are the only settings. The optimality conditions check it in the tests.
Each knot is computed from the data again, so rounding does not add up along the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgeqrf, dorgqr, dtrtrs

FLOOR = 1e-4  #: the path ends at this share of the largest penalty
SPAN = 1e-5  #: a feature this close (share of its norm) to the span of the active ones cannot join
TIE = 1e-9  #: knots closer than this share are one; the feature of lowest index goes first
MAX_KNOTS = 2000  #: a guard against endless cycling under ties; paths of 19 features have < 100


@dataclass(frozen=True)
class Segment:
    """Between two knots: penalties ``lower`` < a <= ``upper``, the ``active`` features in order."""

    upper: float
    lower: float
    active: tuple[int, ...]
    coefficients: np.ndarray  #: (len(active),) at ``lower``


class PathError(ArithmeticError):
    """The homotopy found more than :data:`MAX_KNOTS` knots."""


@np.errstate(divide="ignore", invalid="ignore")  # knots that are not possible are masked
def lasso_path(Z: np.ndarray, y: np.ndarray, floor: float = FLOOR) -> list[Segment]:
    """Segments of the path from the largest penalty down to ``floor`` times it.

    Args:
        Z: (n, p) standardised columns (mean 0, ddof-0 standard deviation 1).
        y: (n,) centred response.

    Returns:
        Segments by falling penalty, empty if no feature correlates with ``y``. Above the first one
        all coefficients are zero.
    """
    n, p = Z.shape
    correlation = Z.T @ y / n
    penalty = float(np.max(np.abs(correlation), initial=0.0))
    if penalty <= TIE * np.linalg.norm(y) / np.sqrt(n):
        return []
    end = floor * penalty
    first = int(np.argmax(np.abs(correlation) >= penalty * (1 - TIE)))
    signs = {first: float(np.sign(correlation[first]))}  # active feature -> sign of its coefficient
    segments: list[Segment] = []
    while penalty > end:
        active = sorted(signs)
        s = np.array([signs[j] for j in active])
        Q, R = _factors(Z[:, active])
        inside, direction = Q.T @ y, _solve(R, s, transposed=True)
        u, v = _solve(R, inside), n * _solve(R, direction)
        # correlations are c0 + a * c1 along this segment
        c0, c1 = (y - Q @ inside) @ Z / n, (Q @ direction) @ Z
        outside = Z - Q @ (Q.T @ Z)
        apart = np.einsum("ij,ij->j", outside, outside) > SPAN**2 * n
        apart[active] = False
        # penalties of what lies below this segment: first the features that leave (|b| shrinks as the
        # penalty falls), then those that join with either sign (falling slower than the penalty)
        below = np.concatenate([u / v, c0 / (1.0 - c1), c0 / (-1.0 - c1)])
        possible = np.concatenate([s * v < 0, apart & (c1 < 1), apart & (-c1 < 1)])
        knots = np.where(possible & (below > end) & (below <= penalty * (1 + TIE)), below, -np.inf)
        highest = float(knots.max())
        lower = min(max(highest, end), penalty)
        segments.append(Segment(penalty, lower, tuple(active), u - lower * v))
        if highest < end:
            break
        tied = np.flatnonzero(knots >= highest * (1 - TIE))
        k = len(active)
        feature, knot = min((active[i] if i < k else (i - k) % p, i) for i in map(int, tied))
        if knot < k:
            del signs[feature]
        else:
            signs[feature] = 1.0 if knot < k + p else -1.0
        penalty = lower
        if not signs:
            break
        if len(segments) > MAX_KNOTS:
            raise PathError(f"more than {MAX_KNOTS} knots on the Lasso path")
    return segments


def _factors(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Q, R) of A (n, k), k <= n, by LAPACK itself: wrappers cost more. Below its diagonal R is not zero."""
    packed, tau, _, _ = dgeqrf(A)
    return dorgqr(packed, tau)[0], packed[: A.shape[1]]


def _solve(R: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    """R x = b (or R' x = b) for upper triangular R."""
    x, failed = dtrtrs(R, b, trans=transposed)
    if failed:
        raise np.linalg.LinAlgError(f"triangular solve failed at {failed}")
    return x


def least_penalised(segments: list[Segment], max_nonzero: int) -> Segment | None:
    """The segment of lowest penalty with at most ``max_nonzero`` active features.

    Segments narrower than :data:`TIE` are rounding and do not count. None: no feature is ever
    active, or more than ``max_nonzero`` are from the start.
    """
    for segment in reversed(segments):
        wide = segment.lower < segment.upper * (1 - TIE)
        if wide and len(segment.active) <= max_nonzero:
            return segment
    return None
