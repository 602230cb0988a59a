"""P(S/n) of one trace: hit rates with an L3 of several sizes, and E2 fitted to them."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from scipy.optimize import least_squares, minimize_scalar

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import ALL_4KB, write_layout
from tessera.core.platforms import Platform, with_values
from tessera.core.results.outcomes import FAILED, OK, is_ok, note_in, ok_rows
from tessera.core.results.study_tables import THREADS_SWEEP
from tessera.core.results.table_io import frame_of
from tessera.core.tables import print_table
from tessera.lab.study import Inputs, Jobs, Recording, Run, study
from tessera.record import traces
from tessera.simulate.runner import CellCache, simulate_all
from tessera.simulate.sampling import FULL, Plan

# E2 fitted to hit rates at several sizes of the cache: a (locality exponent) and w (bytes).
#
# The fit is least squares of ln(1 - P), because miss rates of one program span orders of magnitude. Two
# sizes give two equations for two values, so at least two different sizes are needed; a perfect cache (P =
# 1) has no logarithm and is left out.

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


# The sweep: the partial engine with L3 / n for every n (docs/explain/energy.md).
#
# Each run is one program alone with an n-th of the cache, as n threads that share L3 evenly and share no
# data would see it. P = 1 - DRAM loads / memory instructions: the program's loads that reached memory, over
# all its loads and stores. Samples can have more accesses per instruction than the trace, so their DRAM
# loads are scaled by accesses. Sizes are rounded to whole sets of every slice. At n = 1 the cell is that of
# the platform as it is. Not modelled: threads that use the same lines, or unequal shares.

ENGINE = "partial"
L3, WAYS, SLICES = "cache.l3.bytes", "cache.l3.ways", "cache.l3.slices"
LINE_BYTES = 64
MOST_THREADS = 4096


def parse_threads(text: str) -> list[int]:
    """``1-24`` or ``1,2,4-6``, ascending, each once.

    Raises:
        TesseraError: another form, a number below 1, or above :data:`MOST_THREADS`.
    """
    found: set[int] = set()
    for part in text.split(","):
        low, dash, high = part.strip().partition("-")
        if not (low.isascii() and low.isdigit() and (not dash or (high.isascii() and high.isdigit()))):
            raise TesseraError(
                f"threads {text}", f"'{part}' is no number and no range", "write for example 1,2,4-8"
            )
        first, last = int(low), int(high or low)
        if not 1 <= first <= last <= MOST_THREADS:
            rule = f"'{part}' must ascend from at least 1 to at most {MOST_THREADS}"
            raise TesseraError(f"threads {text}", rule, "write for example 1,2,4-8")
        found.update(range(first, last + 1))
    return sorted(found)


def l3_bytes(platform: Platform, threads: int) -> int:
    """L3 / threads, rounded to whole sets of every slice; one set of each at least."""
    values = platform.values
    ways, slices = (int(values[key].value) for key in (WAYS, SLICES))
    grain = ways * LINE_BYTES * max(1, slices)
    whole = int(values[L3].value)
    if threads == 1:
        return whole
    return max(1, round(whole / threads / grain)) * grain


def smaller_l3(platform: Platform, threads: int) -> Platform:
    """The platform with :func:`l3_bytes`; unchanged for one thread."""
    if threads == 1:
        return platform
    return with_values(
        platform, {L3: l3_bytes(platform, threads)}, f"assumed: L3 of one of {threads} threads"
    )


def say_fit(table: pd.DataFrame) -> None:
    """Print the hit rates and the fit; the exit status says if there are none."""
    good = ok_rows(table)
    if good.empty:
        raise SystemExit(EXIT_FAILED)
    rows = [
        (str(row.threads), str(row.l3_bytes), f"{row.hit_rate:.6f}", f"{row.fitted_hit_rate:.6f}")
        for row in good.itertuples()
    ]
    print_table(["threads", "l3_bytes", "hit rate", "fitted"], rows, right=range(4))
    first = good.iloc[0]
    print(f"a = {first['locality_exponent']:.4g}, w = {first['locality_bytes']:.4g} bytes")


@study(THREADS_SWEEP, failed={}, show=say_fit)
def threads_sweep(
    run: Run,
    trace: Recording,
    platform: Platform,
    cache: CellCache,
    threads: Annotated[str, parse_threads] = "1-24",
    sampling: Plan = FULL,
    jobs: Jobs = 1,
) -> pd.DataFrame:
    """Simulate a trace with L3 / n for each n, and fit the locality a, w of E2 (docs/explain/energy.md).

    P is 1 - DRAM loads / memory instructions. Sizes are rounded to whole sets. No time is simulated.

    Example, after ./run smoke:
      ./run tessera lab run threads-sweep trace=results/smoke/traces/gups/info.json \\
        platform=haswell-sim threads=1,2,4,8 --out /tmp/sweep.csv

    Args:
        trace: trace (.tst), or info.json of a recording or window.
        platform: name or YAML file.
        threads: values of n, such as 1-24 or 1,2,4-8.
        sampling: plan (tessera simulate --help).
        jobs: threads of the simulator.
        cache: folder of finished simulations; default: .cache beside the table.
    """
    inputs = Inputs(trace.workload, trace.trace, platform, (), cache, sampling, jobs, run.say)
    return l3_sweep_table(inputs, parse_threads(threads))


def l3_sweep_table(inputs: Inputs, threads: Sequence[int]) -> pd.DataFrame:
    """The table :data:`THREADS_SWEEP`; ``threads`` ascending, each once. ``inputs.files`` are not used.

    Raises:
        TesseraError: the trace is refused, the simulator died, or nothing can be fitted.
    """
    rows = [_row(inputs, n, cell) for n, (cell,) in zip(threads, _cells(inputs, threads), strict=True)]
    good = [row for row in rows if is_ok(row)]
    fitted = fit_locality([row["l3_bytes"] for row in good], [row["hit_rate"] for row in good])
    return frame_of(THREADS_SWEEP, [row | _fitted(row, fitted) if is_ok(row) else row for row in rows])


def _cells(inputs: Inputs, threads: Sequence[int]) -> list[list[dict]]:
    """A cell of the 4KB layout for each number of threads; all platforms share passes over the trace."""
    space = Space.from_trace_info(traces.trace_info(inputs.trace))
    with tempfile.TemporaryDirectory(prefix="tessera-threads-") as name:
        path = Path(name) / f"{ALL_4KB}.csv"
        write_layout(space.layout(ALL_4KB, 0, 0), path)
        smaller = [smaller_l3(inputs.platform, n) for n in threads]
        return simulate_all(inputs.trace, smaller, [path], **inputs.options | {"engine": ENGINE})


def _row(inputs: Inputs, threads: int, cell: dict) -> dict:
    size = l3_bytes(inputs.platform, threads)
    head = inputs.pair | {"threads": threads, "l3_bytes": size, "provenance": "simulated"}
    if not is_ok(cell):
        return head | {"status": FAILED, "message": cell["message"]}
    accesses, sampled = int(cell["accesses"]), int(cell["program_l1d_loads"])
    if not sampled:
        return head | {"status": FAILED, "message": "no access was simulated"}
    # accesses / sampled is 1 if all accesses are simulated
    loads = round(int(cell["program_dram_loads"]) * accesses / sampled)
    counted = {"accesses": accesses, "dram_loads": loads, "hit_rate": 1 - loads / accesses}
    return head | {"status": OK, "message": note_in(cell["message"])} | counted


def _fitted(row: dict, fitted: Locality) -> dict:
    return {
        "fitted_hit_rate": float(fitted.hit_rate(row["l3_bytes"])),
        "locality_exponent": fitted.exponent,
        "locality_bytes": fitted.bytes,
    }
