"""Runtime and walk cycles of a computed GUPS under every placement: the table :data:`PLACEMENTS`.

All placements share the trace and its samples, so ratios are more precise than their intervals. The warm-up
of the first sample is long: with 2 M updates it brings over a million lines, twice those of an L3 of 35 MB. A
cell that the simulator refuses is a failed row.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.numa.costs import LoadCosts, walk_cycles
from tessera.numa.gups import Gups
from tessera.numa.gups_trace import LAYOUTS, write_layouts, write_trace
from tessera.numa.machine import Machine, published
from tessera.numa.placement import LOCAL
from tessera.numa.queue import wait_cycles
from tessera.numa.variants import Case, cases, variant
from tessera.platforms import Platform
from tessera.results.schema.numa import PLACEMENTS
from tessera.results.status import FAILED, is_ok
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import Intervals
from tessera.simulate.runner import simulate_all

UNITS = 8  #: samples
ACCESSES, INSTRUCTIONS = 2, 12  #: of an update
PAGE_SIZES = {"4kb": "4KB", "2mb": "2MB"}


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
    rows = []
    for layout, size in PAGE_SIZES.items():
        base = next(c[layout] for case, c in zip(asked, cells, strict=True) if case.where.name == LOCAL)
        for case, of_case in zip(asked, cells, strict=True):
            rows.append(
                {
                    "workload": of_case[layout]["workload"], "platform": platform.name, "page_size": size,
                    "configuration": case.where.name, "assumption": case.assumption,
                    "hog_lines": case.lines,
                }
                | _row(case, of_case[layout], base, platform, machine, gups)
            )  # fmt: skip
    return frame_of(PLACEMENTS, rows)


def _row(case: Case, cell: dict, base: dict, platform: Platform, machine: Machine, gups: Gups) -> dict:
    said = {"status": cell["status"], "message": cell["message"]}
    if not is_ok(cell) or not is_ok(base):
        return said if not is_ok(cell) else said | {"status": FAILED, "message": f"{LOCAL} failed"}
    wait = wait_cycles(case.lines, float(platform.values["memory.cycles_per_line"].value))
    costs = LoadCosts(float(platform.values["memory.load_cycles"].value), machine.remote_load_cycles, wait)
    walks, own = float(base["walk_cycles"]), case.where.program
    runtime, spread = _ratio(cell, base, "runtime_cycles")
    return said | {
        "updates": gups.updates,
        "stlb_misses": cell["stlb_misses"],
        "walk_cycles": cell["walk_cycles"],
        "walk_cycles_ci95": cell["walk_cycles_ci95"],
        "formula_walk_cycles": walk_cycles(walks, float(base["walker_dram_loads"]), case.where, costs),
        "runtime_cycles": cell["runtime_cycles"],
        "runtime_cycles_ci95": cell["runtime_cycles_ci95"],
        "walker_dram_local": cell["walker_dram_loads"] if case.where.tables == own else 0,
        "walker_dram_remote": 0 if case.where.tables == own else cell["walker_dram_loads"],
        "program_dram_local": cell["program_dram_loads"] if case.where.data == own else 0,
        "program_dram_remote": 0 if case.where.data == own else cell["program_dram_loads"],
        "walk_ratio": float(cell["walk_cycles"]) / walks if walks else None,
        "runtime_ratio": runtime,
        "runtime_ratio_ci95": spread,
        "provenance": "simulated",
    }


def _ratio(cell: dict, base: dict, column: str) -> tuple[float | None, float | None]:
    """Quotient of two cells and half-width of its interval; None without runtimes (engine ``partial``)."""
    values = [cell[column], base[column]]
    if any(value in (None, "") or not float(value) > 0 for value in values):
        return None, None
    ratio = float(cell[column]) / float(base[column])
    shares = [float(one[f"{column}_ci95"] or 0) / float(one[column]) for one in (cell, base)]
    return ratio, ratio * math.hypot(*shares)
