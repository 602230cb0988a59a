"""Runtime and walk cycles of a computed GUPS under every placement: the table :data:`PLACEMENTS`.

All placements share the trace and its samples, so ratios are more precise than their intervals. The warm-up
of the first sample is long: with 2 M updates it brings over a million lines, twice those of an L3 of 35 MB. A
cell that the simulator refuses is a failed row.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.numa.gups import Gups
from tessera.numa.gups_trace import LAYOUTS, write_layouts, write_trace
from tessera.numa.machine import Machine, published
from tessera.numa.rows import rows_of
from tessera.numa.variants import Case, cases, variant
from tessera.platforms import Platform
from tessera.results.schema.numa import PLACEMENTS
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Intervals
from tessera.simulate.runner import simulate_all

UNITS = 8  #: samples
ACCESSES, INSTRUCTIONS = 2, 12  #: of an update


@dataclass(frozen=True)
class Study:
    """What is simulated: the updates, on which platform, with which engine, into which table."""

    gups: Gups
    platform: str
    cache: Path | None
    out: Path
    engine: str = "timing"
    jobs: int = 1


def plan(gups: Gups) -> Intervals:
    """A quarter of the updates warms the caches; of each of 8 parts behind it, the last quarter counts."""
    part = gups.updates * 3 // 4 // UNITS
    timed = max(1, part // 4)
    first = gups.updates - UNITS * part
    rows = []
    for unit in range(UNITS):
        start = 0 if unit == 0 else first + unit * part
        warm = (first if unit == 0 else 0) + part - timed
        rows.append((start * ACCESSES, warm * ACCESSES, timed * INSTRUCTIONS, 1))
    return Intervals.of(rows)


def placements_study(study: Study, progress: Callable[[str], None] = lambda line: None) -> pd.DataFrame:
    """Write the trace into a folder that goes away, simulate it under every placement, and write the table.

    Raises:
        TesseraError: an unknown platform, a component that is not built, or a trace that cannot be written.
    """
    machine, platform = published(), platforms.load(study.platform)
    asked = list(cases(machine))
    with tempfile.TemporaryDirectory(prefix="tessera-numa-") as name:
        folder = Path(name)
        progress(f"writing {study.gups.updates} updates of {study.gups.gb} GB")
        trace = write_trace(study.gups, folder / "gups.tst")
        layouts = write_layouts(study.gups, folder / "layouts")
        tables = simulate_all(
            trace, [variant(platform, machine, case) for case in asked], layouts,
            workload=f"gups-{study.gups.gb}gb", engine=study.engine, sampling=plan(study.gups),
            cache=CellCache(study.cache), progress=progress, threads=study.jobs,
        )  # fmt: skip
    found = [dict(zip(LAYOUTS, cells, strict=True)) for cells in tables]
    table = table_of(asked, found, platform, machine, study.gups)
    return write(PLACEMENTS, table, study.out)


def table_of(
    asked: list[Case], cells: list[dict[str, dict]], platform: Platform, machine: Machine, gups: Gups
) -> pd.DataFrame:
    """:data:`PLACEMENTS` from a cell for each placement and layout, in the order of ``asked``."""
    rows = rows_of(asked, cells, platform, machine, {"platform": platform.name, "updates": gups.updates})
    return frame_of(PLACEMENTS, rows)
