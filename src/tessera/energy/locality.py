"""E2 fitted to hit rates at several sizes of the cache: a (locality exponent) and w (bytes).

The fit is least squares of ln(1 - P), because miss rates of one program span orders of magnitude. Two sizes
give two equations for two values, so at least two different sizes are needed; a perfect cache (P = 1) has
no logarithm and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares, minimize_scalar

from tessera.core.errors import EXIT_FAILED, TesseraError

#: ln(a - 1) and ln(w / bytes) stay within these, so a fit of data of another shape ends.
_LOW, _HIGH = np.array([-12.0, -20.0]), np.array([5.0, 60.0])


@dataclass(frozen=True)
class Locality:
    """E2: P(S) = 1 - (S/w + 1)^-(a-1), with S bytes of cache for a thread."""

    exponent: float  #: a, above 1
    bytes: float  #: w, above 0
    rms: float = 0.0  #: root of the mean square of the errors of ln(1 - P)

    def hit_rate(self, cache_bytes):
        """P with ``cache_bytes`` for a thread."""
        return 1 - (np.asarray(cache_bytes, dtype=float) / self.bytes + 1) ** -(self.exponent - 1)


def fit_locality(cache_bytes, hit_rates) -> Locality:
    """a and w of the hit rates.

    Raises:
        TesseraError: fewer than two different sizes with a hit rate below 1.
    """
    sizes, rates = np.asarray(cache_bytes, dtype=float), np.asarray(hit_rates, dtype=float)
    usable = (rates < 1) & (rates >= 0) & (sizes > 0)
    sizes, logs = sizes[usable], np.log1p(-rates[usable])
    if len(set(sizes)) < 2:
        raise TesseraError(
            "fit of a and w",
            f"{len(set(sizes))} sizes have a hit rate from 0 to below 1; two values need two",
            "sweep more sizes, or a trace that misses",
            exit_code=EXIT_FAILED,
            code="too-few-sizes",
        )

    def errors(logged: np.ndarray) -> np.ndarray:
        return -np.exp(logged[0]) * np.log1p(sizes / np.exp(logged[1])) - logs

    best = least_squares(
        errors, _start(sizes, logs), bounds=(_LOW, _HIGH), xtol=1e-14, ftol=1e-14, gtol=1e-14, x_scale="jac"
    )
    exponent, size = np.exp(best.x)
    return Locality(1 + float(exponent), float(size), float(np.sqrt(np.mean(best.fun**2))))


def _start(sizes: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """ln(a - 1) and ln(w) near the best ones: for one w, the best a - 1 is the slope of a line through 0."""

    def slope(log_bytes: float) -> float:
        line = -np.log1p(sizes / np.exp(log_bytes))
        return float(np.clip(line @ logs / (line @ line), *np.exp([_LOW[0], _HIGH[0]])))

    def cost(log_bytes: float) -> float:
        return float(np.sum((slope(log_bytes) * np.log1p(sizes / np.exp(log_bytes)) + logs) ** 2))

    grid = np.linspace(_LOW[1], _HIGH[1], 321)
    at = int(np.argmin([cost(one) for one in grid]))
    around = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    found = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-12}).x
    return np.clip([np.log(slope(found)), found], _LOW + 1e-9, _HIGH - 1e-9)
