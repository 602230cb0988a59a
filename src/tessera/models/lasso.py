"""The exact Lasso path, by homotopy: which features are nonzero at which penalty.

Minimised at each penalty a: ``|y - Z b|^2 / (2 n) + a |b|_1``, Z standardised, y centred, intercept
not penalised. As a falls from the largest |Z'y| / n to zero the solution is piecewise linear in a:
between two knots ``b = u - a v`` on the active set, with u its least squares solution and
v = (Z'Z/n)^-1 sign(b). A knot is where a correlation of the residual reaches the penalty (a feature
joins) or a coefficient reaches zero (it leaves). So there is no grid of penalties, no tolerance of
convergence and no iteration limit that could make the path another function in another library
version; the constants below are all there is. The optimality conditions check it in the tests.
Each knot is computed from the data again, so rounding does not add up along the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dtrtrs

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
        Q, R = np.linalg.qr(Z[:, active])
        u = _solve(R, Q.T @ y)
        v = n * _solve(R, _solve(R, s, transposed=True))
        # correlations are c0 + a * c1 along this segment
        c0, c1 = Z.T @ (y - Z[:, active] @ u) / n, Z.T @ (Z[:, active] @ v) / n
        apart = np.linalg.norm(Z - Q @ (Q.T @ Z), axis=0) > SPAN * np.sqrt(n)
        # (penalty, feature, sign to join with or 0 to leave) of what lies below this segment
        knots: list[tuple[float, int, float]] = []
        for i in np.flatnonzero(s * v < 0):  # |b| shrinks as the penalty falls
            knots.append((u[i] / v[i], active[i], 0.0))
        apart[active] = False
        for sign in (1.0, -1.0):
            for j in np.flatnonzero(apart & (sign * c1 < 1)):  # falls slower than the penalty
                knots.append((c0[j] / (sign - c1[j]), int(j), sign))
        knots = [knot for knot in knots if end < knot[0] <= penalty * (1 + TIE)]
        highest = max((knot[0] for knot in knots), default=end)
        lower = min(highest, penalty)
        segments.append(Segment(penalty, lower, tuple(active), u - lower * v))
        if not knots:
            break
        _, feature, sign = min((k for k in knots if k[0] >= highest * (1 - TIE)), key=lambda k: k[1])
        if sign:
            signs[feature] = sign
        else:
            del signs[feature]
        penalty = lower
        if not signs:
            break
        if len(segments) > MAX_KNOTS:
            raise PathError(f"more than {MAX_KNOTS} knots on the Lasso path")
    return segments


def _solve(R: np.ndarray, b: np.ndarray, transposed: bool = False) -> np.ndarray:
    """R x = b (or R' x = b) for upper triangular R, by LAPACK itself: the wrapper costs more."""
    if R.flags.f_contiguous:
        x, failed = dtrtrs(R, b, trans=transposed)
    else:  # its transpose is lower triangular, in the order that LAPACK wants
        x, failed = dtrtrs(R.T, b, lower=True, trans=not transposed)
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
