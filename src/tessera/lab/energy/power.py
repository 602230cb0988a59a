"""Power constants of equations E6 and E8: read from files, varied, and fitted to runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import nnls
from scipy.special import stdtrit

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import repo_root, write_text
from tessera.core.tables import print_table
from tessera.lab.energy import sourced_values, thread_runs
from tessera.lab.energy.sourced_values import NOT_NEGATIVE, Leaf
from tessera.lab.study import Run, Seed, study

# The constants: static watts, and joules of each event.
#
# An energy is what an access adds at its level: a load that misses L1d pays ``l1d_j`` and ``l2_j``. So a
# miss pays for the cache too, as in the reading e_c + (1-P) e_m of E6. With e_m - e_c in place of e_m, the
# other reading P e_c + (1-P) e_m is the same model; no conclusion depends on which one Guz et al. print.

STATIC = "static_w"
INSTRUCTION = "instruction_j"
LEVELS = ("l1d", "l2", "l3", "dram")  #: of the columns ``program_<level>_loads`` and ``walker_<level>_loads``
KEYS = (STATIC, INSTRUCTION, *(f"{level}_j" for level in LEVELS))
POWER_FILE = sourced_values.leaves_file("power file", dict.fromkeys(KEYS, NOT_NEGATIVE))
#: Sources of a constant differ by such factors; a value is divided and multiplied by it.
SWEEP_FACTOR = 4.0
BASELINE = "as given"


@dataclass(frozen=True)
class Power:
    """Constants of one core or one package; watts and joules."""

    name: str
    description: str
    values: Mapping[str, Leaf]

    def of(self, key: str) -> float:
        return self.values[key].value

    def vector(self) -> np.ndarray:
        """All values, in the order of :data:`KEYS`."""
        return np.array([self.of(key) for key in KEYS])

    def changed(self, name: str, **changes: float) -> Power:
        """The same with other values; their source says that they are varied."""
        new = {key: Leaf(value, f"assumed: varied, {name}") for key, value in changes.items()}
        return replace(self, name=name, values={**self.values, **new})


def default_power_file() -> Path:
    """The constants of one core, all assumed."""
    return repo_root() / "config" / "machines" / "power" / "one-core.yaml"


def read_power(path: Path) -> Power:
    """A power file.

    Raises:
        TesseraError: as :func:`tessera.lab.energy.sourced_values.read_leaves`; or all constants are zero.
    """
    texts, values = sourced_values.read_leaves(path, POWER_FILE)
    if not any(leaf.value for leaf in values.values()):
        raise TesseraError(f"{POWER_FILE.what} {path}", "all constants are zero", "give at least one of them")
    return Power(texts["name"], texts["description"], values)


def swept_power(power: Power) -> list[Power]:
    """The constants as given, each nonzero one divided and multiplied by `SWEEP_FACTOR`, and both limits.

    The limits: ``static only`` (every energy 0, where E9 is exact), and ``no static`` (0 W).
    """
    found = [replace(power, name=BASELINE)]
    for key in KEYS:
        value = power.of(key)
        if value:
            found += [
                power.changed(f"{key} / {SWEEP_FACTOR:g}", **{key: value / SWEEP_FACTOR}),
                power.changed(f"{key} x {SWEEP_FACTOR:g}", **{key: value * SWEEP_FACTOR}),
            ]
    if power.of(STATIC):
        found.append(power.changed("static only", **{key: 0.0 for key in KEYS if key != STATIC}))
    if any(power.of(key) for key in KEYS if key != STATIC):
        found.append(power.changed("no static", **{STATIC: 0.0}))
    return found


# Fitted to runs: Power = L + k1 IPS + k2 (LLC misses per second), by non-negative least squares.
#
# k1 is e_x + m e_c of E6: within one workload, energy of instructions and of cache accesses cannot be told
# apart. The 95% intervals are percentiles of a bootstrap of residuals, widened by their degrees of freedom,
# with a fixed seed. If a constant is at 0, its interval begins at 0 and says little. tests/energy/test_fit.py
# counts how often intervals contain the true values.

FITTED_NAMES = ("static_w", "instruction_j", "dram_j")  #: L, k1, k2
RESAMPLES = 1000
CONFIDENCE = 0.95
#: Largest ratio of singular values of the scaled columns; above it, they cannot be told apart.
MOST_ALIKE = 1e8


@dataclass(frozen=True)
class FittedPower:
    """Constants and their intervals, in the order of :data:`FITTED_NAMES`, and residuals in W."""

    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    residuals_w: np.ndarray

    @property
    def rms_w(self) -> float:
        return float(np.sqrt(np.mean(self.residuals_w**2)))


def fit_matrix(ips, misses_per_s) -> np.ndarray:
    """The matrix whose columns belong to :data:`FITTED_NAMES`."""
    ips = np.asarray(ips, dtype=float)
    return np.column_stack([np.ones_like(ips), ips, np.asarray(misses_per_s, dtype=float)])


def fit_power(
    ips: Sequence[float], misses_per_s: Sequence[float], power_w: Sequence[float], seed: int = 1
) -> FittedPower:
    """The constants of runs; lengths are equal.

    Raises:
        TesseraError: fewer runs than constants, power that is not positive, or columns that are alike.
    """
    matrix, watts = fit_matrix(ips, misses_per_s), np.asarray(power_w, dtype=float)
    if (watts <= 0).any():
        raise _refused(f"a power of {watts.min():g} W; power must be above 0", "power-negative")
    if len(watts) <= len(FITTED_NAMES):
        raise _refused(
            f"{len(watts)} runs; {len(FITTED_NAMES)} constants need at least {len(FITTED_NAMES) + 1}",
            "too-few-runs",
        )
    scale = np.abs(matrix).max(axis=0)
    scale[scale == 0] = 1.0
    scaled = matrix / scale
    used = [column for column in range(len(FITTED_NAMES)) if scaled[:, column].any()]
    singular = np.linalg.svd(scaled[:, used], compute_uv=False)
    if singular[0] > MOST_ALIKE * singular[-1]:
        raise _refused("instructions and misses per second change together, or not at all", "columns-alike")
    values = _non_negative(scaled, watts)
    predicted = scaled @ values
    residuals = watts - predicted
    low, high = _bootstrap_intervals(scaled, predicted, residuals, values, seed)
    return FittedPower(values / scale, low / scale, high / scale, residuals)


def fit_runs(table: pd.DataFrame, seed: int = 1) -> FittedPower:
    """:func:`fit_power` of a table of :func:`tessera.lab.energy.thread_runs.read_runs`."""
    return fit_power(table["ips"], table["misses_per_s"], table["power_w"], seed)


def _non_negative(matrix: np.ndarray, watts: np.ndarray) -> np.ndarray:
    """Least squares if no constant is negative, as it then is the non-negative solution; else NNLS."""
    values = np.linalg.lstsq(matrix, watts, rcond=None)[0]
    return values if (values >= 0).all() else nnls(matrix, watts)[0]


def _bootstrap_intervals(matrix, predicted, residuals, values, seed: int) -> tuple[np.ndarray, np.ndarray]:
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
    widened = stdtrit(freedom, 1 - tail) / stdtrit(1e9, 1 - tail)
    low, high = np.quantile(found, [tail, 1 - tail], axis=0)
    low, high = values + (low - values) * widened, values + (high - values) * widened
    return np.clip(low, 0, None), high


def write_power(found: FittedPower, name: str, workloads: str, path: Path) -> None:
    """A power file for the study ``energy``; the loads of L1d, L2 and L3 are in ``instruction_j``."""
    values = {key: Leaf(0.0, "not separable: part of instruction_j within one workload") for key in KEYS}
    for key, value, low, high in zip(FITTED_NAMES, found.values, found.low, found.high, strict=True):
        values[key] = Leaf(float(value), f"fitted: 95% interval {low:.4g} to {high:.4g}, {workloads}")
    remarks = (f"Fitted by tessera lab run threads-fit; residuals {found.rms_w:.3g} W (root mean square).",)
    write_text(path, sourced_values.leaves_text(name, f"fitted to {workloads}", values, remarks))


def say_constants(found: FittedPower) -> None:
    """Print each constant with its interval, and the residuals."""
    rows = [
        (key, f"{value:.5g}", f"{low:.5g}", f"{high:.5g}")
        for key, value, low, high in zip(FITTED_NAMES, found.values, found.low, found.high, strict=True)
    ]
    print_table(["constant", "value", "95% from", "to"], rows, right=(1, 2, 3))
    worst = abs(found.residuals_w).max()
    print(
        f"residuals of {len(found.residuals_w)} runs: {found.rms_w:.3g} W (root mean square), "
        f"{worst:.3g} W at most"
    )


@study(show=say_constants)
def threads_fit(run: Run, runs: Path, name: str = "fitted", seed: Seed = 1) -> FittedPower:
    """Fit static power, energy per instruction and energy per LLC miss to runs; write a power file.

    Prints each constant with a 95% bootstrap interval, and the residuals. The study energy takes the file.

    Example, after tessera lab threads measure:
      ./run tessera lab run threads-fit runs=runs.csv --out power.yaml

    Args:
        runs: CSV file of `tessera lab threads measure`.
        name: of the constants.
        seed: of the bootstrap.
    """
    table = thread_runs.read_runs(runs)
    found = fit_runs(table, seed)
    write_power(found, name, f"{len(table)} runs of {runs.name}", run.file("power.yaml"))
    return found


def _refused(found: str, code: str) -> TesseraError:
    remedy = "measure more numbers of threads, 5 runs of each"
    return TesseraError("fit of power constants", found, remedy, exit_code=EXIT_FAILED, code=code)
