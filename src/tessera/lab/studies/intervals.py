"""Intervals of a window: basic-block vectors, counts in each layout, and estimates of totals from some."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built, with_names
from tessera.core.results.outcomes import is_ok
from tessera.lab.study import Inputs
from tessera.machine.container import RunOptions, toolchain
from tessera.simulate.runner import simulate_platform
from tessera.simulate.sampling import Intervals
from tessera.simulate.simulator import died

# Basic-block vectors: intervals of a trace and what they execute, by ``tessera-sim blocks``.


@dataclass(frozen=True)
class BlockVectors:
    """n intervals that abut and cover a trace: ``start_access``, ``instructions``, ``accesses`` (n,).

    ``vectors`` (n, blocks): instructions that each static block executed in each interval.
    """

    start_access: np.ndarray
    instructions: np.ndarray
    accesses: np.ndarray
    vectors: np.ndarray

    def __len__(self) -> int:
        return len(self.start_access)


def parse_block_vectors(table: pd.DataFrame) -> BlockVectors:
    """The long table that ``tessera-sim blocks`` writes."""
    wide = table.pivot(index="interval", columns="block", values="executed_instructions").fillna(0)
    heads = table.drop_duplicates("interval").set_index("interval").loc[wide.index]
    return BlockVectors(
        heads["start_access"].to_numpy(),
        heads["instructions"].to_numpy(),
        heads["accesses"].to_numpy(),
        wide.to_numpy(dtype=float),
    )


def block_vectors(trace: Path, instructions: int) -> BlockVectors:
    """Vectors of ``trace`` by intervals of ``instructions``; the last interval is what is left."""
    with tempfile.TemporaryDirectory(prefix="tessera-blocks-") as name:
        out = Path(name) / "blocks.csv"
        argv = [built("simulator", "tessera-sim"), "blocks", "--trace", trace.resolve()]
        argv += ["--instructions", instructions, "--out", out]
        done = toolchain().run(
            [str(a) for a in argv],
            paths=[trace.resolve()],
            capture=True,
            check=False,
            options=RunOptions(writes=(out.parent,)),
        )
        if done.returncode:
            raise died(done.returncode, with_names(done.stderr, {f"{out.parent}/": ""}))
        return parse_block_vectors(pd.read_csv(out))


# Counts of each interval or unit of a simulated trace, in each layout.
#
# A plan is systematic samples or intervals at chosen places (:mod:`tessera.simulate.sampling`). The caches'
# contents are kept between units, so adjacent intervals that cover a trace give the counts of a full
# simulation, per interval. Only the pipeline starts empty in each: a few hundred cycles in a million.

ENGINE = "timing"
UNIT_COLUMNS = (
    "layout", "unit", "start_access", "instructions", "accesses",
    "stlb_misses", "walk_cycles", "runtime_cycles",
)  # fmt: skip
#: the paper's quantities by their column
QUANTITIES = {"R": "runtime_cycles", "C": "walk_cycles", "M": "stlb_misses"}


def covering(intervals: BlockVectors) -> Intervals:
    """The plan that simulates all of the trace, interval by interval, without warm-up."""
    pairs = zip(intervals.start_access, intervals.instructions, strict=True)
    return Intervals.of([(int(start), 0, int(instructions), 1) for start, instructions in pairs])


def unit_counts(inputs: Inputs) -> pd.DataFrame:
    """:data:`UNIT_COLUMNS`, a row per layout and unit with instructions; results in its cache are reused.

    Raises:
        TesseraError: the simulator rejected the trace, the platform, the plan or a layout.
    """
    units: list[dict] = []
    options = inputs.options | {"workload": ""}
    rows = simulate_platform(inputs.trace, inputs.platform, list(inputs.files), units=units, **options)
    if failed := [row for row in rows if not is_ok(row)]:
        raise TesseraError(
            f"layout {failed[0]['layout']}", failed[0]["message"], "correct the layout", exit_code=EXIT_FAILED
        )
    table = pd.DataFrame(units, columns=list(UNIT_COLUMNS))
    return table[table["instructions"] > 0].reset_index(drop=True)


# From counts of some intervals to totals of the whole, and how far they are off.
#
# Systematic samples are a ratio estimate with its 95% half-width (Student's t over units), as the
# simulator's own (artifacts/simulator/src/engine/estimate.h). Places that are weighted (clusters) or
# contiguous (blind) have no half-width: nothing says how much the parts differ that were not simulated.


@dataclass(frozen=True)
class Estimate:
    """A total and its 95% half-width; NaN where there is none."""

    value: float
    ci95: float = float("nan")

    def covers(self, truth: float) -> bool | None:
        """Whether the interval holds ``truth``; None without an interval."""
        return None if np.isnan(self.ci95) else bool(abs(self.value - truth) <= self.ci95)


def ratio_estimate(counts, instructions, total: float) -> Estimate:
    """``sum(counts) / sum(instructions) * total`` over units (n,), with its interval from n >= 2 on.

    ``counts`` may be differences between two layouts: both have the same instructions in each unit.
    """
    y, x = np.asarray(counts, dtype=float), np.asarray(instructions, dtype=float)
    rate, n = y.sum() / x.sum(), len(y)
    if n < 2:
        return Estimate(rate * total)
    error = np.sqrt(((y - rate * x) ** 2).sum() / (n * (n - 1))) / x.mean()
    return Estimate(rate * total, float(stdtrit(n - 1, 0.975) * error * total))


def weighted_estimate(counts, instructions, shares, total: float) -> Estimate:
    """``total * sum(shares * counts / instructions)``: interval i stands for its share of all."""
    y, x, w = (np.asarray(v, dtype=float) for v in (counts, instructions, shares))
    return Estimate(float(total * (w * y / x).sum()))
