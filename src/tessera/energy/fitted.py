"""Power constants from runs: Power = L + k1 IPS + k2 (LLC misses per second), by non-negative least squares.

k1 is e_x + m e_c of E6: within one workload, energy of instructions and of cache accesses cannot be told
apart. The 95% intervals are percentiles of a bootstrap of residuals, widened by their degrees of freedom,
with a fixed seed. If a constant is at 0, its interval begins at 0 and says little. docs/energy.md has the
interval's coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from scipy.stats import t as student

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import write_text
from tessera.energy import leaves, power
from tessera.energy.leaves import Leaf

NAMES = ("static_w", "instruction_j", "dram_j")  #: L, k1, k2
RESAMPLES = 1000
CONFIDENCE = 0.95
#: Largest ratio of singular values of the scaled columns; above it, they cannot be told apart.
MOST_ALIKE = 1e8


@dataclass(frozen=True)
class Fitted:
    """Constants and their intervals, in the order of :data:`NAMES`, and residuals in W."""

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    residuals_w: np.ndarray

    @property
    def rms_w(self) -> float:
        return float(np.sqrt(np.mean(self.residuals_w**2)))


def design(ips, misses_per_s) -> np.ndarray:
    """The matrix whose columns belong to :data:`NAMES`."""
    ips = np.asarray(ips, dtype=float)
    return np.column_stack([np.ones_like(ips), ips, np.asarray(misses_per_s, dtype=float)])


def fit(
    ips: Sequence[float], misses_per_s: Sequence[float], power_w: Sequence[float], seed: int = 1
) -> Fitted:
    """The constants of runs; lengths are equal.

    Raises:
        TesseraError: fewer runs than constants, power that is not positive, or columns that are alike.
    """
    matrix, watts = design(ips, misses_per_s), np.asarray(power_w, dtype=float)
    if (watts <= 0).any():
        raise _refused(f"a power of {watts.min():g} W; power must be above 0", "power-negative")
    if len(watts) <= len(NAMES):
        raise _refused(
            f"{len(watts)} runs; {len(NAMES)} constants need at least {len(NAMES) + 1}", "too-few-runs"
        )
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = matrix / scale
    used = [column for column in range(len(NAMES)) if scaled[:, column].any()]
    singular = np.linalg.svd(scaled[:, used], compute_uv=False)
    if singular[0] > MOST_ALIKE * singular[-1]:
        raise _refused("instructions and misses per second change together, or not at all", "columns-alike")
    values = _solve(scaled, watts)
    predicted = scaled @ values
    residuals = watts - predicted
    low, high = _intervals(scaled, predicted, residuals, values, seed)
    return Fitted(values / scale, low / scale, high / scale, residuals)


def fit_runs(table: pd.DataFrame, seed: int = 1) -> Fitted:
    """:func:`fit` of a table of :func:`tessera.energy.runs.read_runs`."""
    return fit(table["ips"], table["misses_per_s"], table["power_w"], seed)


def _solve(matrix: np.ndarray, watts: np.ndarray) -> np.ndarray:
    """Least squares if no constant is negative, as it then is the non-negative solution; else NNLS."""
    values = np.linalg.lstsq(matrix, watts, rcond=None)[0]
    return values if (values >= 0).all() else nnls(matrix, watts)[0]


def _intervals(matrix, predicted, residuals, values, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Percentiles of the bootstrap, widened from a normal to a t distribution.

    Residuals are divided by sqrt(1 - leverage), so that their spread is that of the noise.
    """
    count, constants = matrix.shape
    inverse = np.linalg.pinv(matrix)
    leverage = np.clip(np.einsum("ij,ji->i", matrix, inverse), 0, 1 - 1e-9)
    adjusted = residuals / np.sqrt(1 - leverage)
    adjusted -= adjusted.mean()
    draws = np.random.default_rng(seed).choice(adjusted, size=(RESAMPLES, count))
    found = (predicted + draws) @ inverse.T
    for number in np.flatnonzero((found < 0).any(axis=1)):
        found[number] = nnls(matrix, predicted + draws[number])[0]
    freedom = max(1, count - constants)
    tail = (1 - CONFIDENCE) / 2
    widened = student.ppf(1 - tail, freedom) / student.ppf(1 - tail, 1e9)
    low, high = np.quantile(found, [tail, 1 - tail], axis=0)
    low, high = values + (low - values) * widened, values + (high - values) * widened
    return np.clip(low, 0, None), high


def write_power(found: Fitted, name: str, workloads: str, path: Path) -> None:
    """A power file for ``tessera energy cells``; the loads of L1d, L2 and L3 are in ``instruction_j``."""
    values = {
        key: Leaf(0.0, "not separable: part of instruction_j within one workload") for key in power.KEYS
    }
    for key, value, low, high in zip(NAMES, found.values, found.low, found.high, strict=True):
        values[key] = Leaf(float(value), f"fitted: 95% interval {low:.4g} to {high:.4g}, {workloads}")
    remarks = (f"Fitted by tessera threads fit; residuals {found.rms_w:.3g} W (root mean square).",)
    write_text(path, leaves.text(name, f"fitted to {workloads}", values, remarks))


def _refused(found: str, code: str) -> TesseraError:
    remedy = "measure more numbers of threads, 5 runs of each"
    return TesseraError("fit of power constants", found, remedy, exit_code=EXIT_FAILED, code=code)
