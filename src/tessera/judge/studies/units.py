"""Counts of each interval or unit of a simulated trace, in each layout.

A plan is systematic samples or intervals at chosen places (:mod:`tessera.simulate.plan`). The caches'
contents are kept between units, so adjacent intervals that cover a trace give the counts of a full
simulation, per interval. Only the pipeline starts empty in each: a few hundred cycles in a million.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.judge.studies.blocks import BlockVectors
from tessera.platforms import Platform
from tessera.results.status import is_ok
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Intervals, Plan
from tessera.simulate.runner import simulate

ENGINE = "timing"
COLUMNS = (
    "layout", "unit", "start_access", "instructions", "accesses",
    "stlb_misses", "walk_cycles", "runtime_cycles",
)  # fmt: skip
#: the paper's quantities by their column
QUANTITIES = {"R": "runtime_cycles", "C": "walk_cycles", "M": "stlb_misses"}


def covering(intervals: BlockVectors) -> Intervals:
    """The plan that simulates all of the trace, interval by interval, without warm-up."""
    pairs = zip(intervals.start_access, intervals.instructions, strict=True)
    return Intervals.of([(int(start), 0, int(instructions), 1) for start, instructions in pairs])


def unit_counts(
    trace: Path,
    platform: Platform,
    layouts: list[Path],
    plan: Plan,
    cache: Path,
    progress: Callable[[str], None] = lambda line: None,
) -> pd.DataFrame:
    """:data:`COLUMNS`, a row per layout and unit with instructions; results in ``cache`` are reused.

    Raises:
        TesseraError: the simulator rejected the trace, the platform, the plan or a layout.
    """
    units: list[dict] = []
    rows = simulate(
        trace, platform, layouts,
        workload="", engine=ENGINE, sampling=plan, cache=CellCache(cache), progress=progress, units=units,
    )  # fmt: skip
    if failed := [row for row in rows if not is_ok(row)]:
        raise TesseraError(
            f"layout {failed[0]['layout']}", failed[0]["message"], "correct the layout", exit_code=EXIT_FAILED
        )
    table = pd.DataFrame(units, columns=list(COLUMNS))
    return table[table["instructions"] > 0].reset_index(drop=True)
