"""Simulated placements: a platform for each, rows of their cells, and the study of a computed GUPS."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.platforms import Platform, with_values
from tessera.core.results.kernel_tables import PLACEMENTS
from tessera.core.results.outcomes import FAILED, is_ok
from tessera.core.results.table_io import frame_of
from tessera.core.tables import frame_rows, print_table
from tessera.lab.numa.gups import LAYOUTS, Gups, write_gups_layouts, write_trace
from tessera.lab.numa.placement_costs import (
    HOG_SWEEP,
    LOCAL,
    MIGRATED,
    PLATFORM,
    REMOTE_HOGGED,
    LoadCosts,
    NumaMachine,
    Placement,
    hog_lines,
    placed_walk_cycles,
    placement_named,
    placements,
    published_machine,
    wait_cycles,
)
from tessera.lab.study import Engine, Inputs, Jobs, Run, study
from tessera.simulate.runner import CellCache, simulate_all
from tessera.simulate.sampling import Intervals

# A platform as the machine of a placement: values of the simulator's keys ``numa.*``.
#
# The program's socket is node 0, the other one node 1. Latency and rate of remote memory are published for
# one machine (:mod:`tessera.lab.numa.placement_costs`), so a platform of another one needs values of its own.

PLACED_SOURCE = "assumed: a placement of Mitosis Table 2 (docs/explain/numa.md)"
MOVED_TABLES = REMOTE_HOGGED + MIGRATED  #: after Mitosis moved them (Figures 6 and 10)


@dataclass(frozen=True)
class PlacementCase:
    """One simulated placement; ``lines`` of the hog are 0 if nobody waits behind it."""

    where: Placement
    lines: float = 0.0
    assumption: str = ""


def placement_cases(machine: NumaMachine) -> Iterator[PlacementCase]:
    """The configurations of Table 2 and :data:`MOVED_TABLES`; several where a load waits for the hog."""
    for where in [*placements().values(), placement_named(MOVED_TABLES)]:
        if where.hog not in (where.tables, where.data):
            yield PlacementCase(where)
            continue
        for factor, reason in HOG_SWEEP.items():
            yield PlacementCase(where, round(factor * hog_lines(machine)), reason)


def placed_platform(platform: Platform, machine: NumaMachine, case: PlacementCase) -> Platform:
    """The platform with the keys of the placement."""
    where = case.where
    keys = {
        "numa.nodes": 2,
        "numa.table_node": int(where.tables != where.program),
        "numa.data_node": int(where.data != where.program),
        "numa.remote_load_cycles": machine.remote_load_cycles,
        "numa.remote_cycles_per_line": machine.remote_cycles_per_line,
        "numa.hog_node": int(where.hog is not None and where.hog != where.program),
        "numa.hog_lines": int(case.lines),
    }
    return with_values(platform, keys, PLACED_SOURCE)


# Numbers of one simulated placement: cycles, loads by memory, the formula, and ratios to LP-LD.

PAGE_SIZES = {"4kb": "4KB", "2mb": "2MB"}  #: layout -> size of all its pages


def placement_rows(
    asked: list[PlacementCase],
    cells: list[dict[str, dict]],
    platform: Platform,
    machine: NumaMachine,
    same: dict,
) -> list[dict]:
    """A row for each layout and placement, with the columns ``same`` of all rows.

    Args:
        cells: for each of ``asked``, the cells by layout (:data:`PAGE_SIZES`).
    """
    rows = []
    for layout, size in PAGE_SIZES.items():
        base = next(c[layout] for case, c in zip(asked, cells, strict=True) if case.where.name == LOCAL)
        for case, of_case in zip(asked, cells, strict=True):
            cell = of_case[layout]
            which = {
                "workload": cell["workload"], "page_size": size, "configuration": case.where.name,
                "assumption": case.assumption, "hog_lines": case.lines,
            }  # fmt: skip
            rows.append(which | same | placement_row(case, cell, base, platform, machine))
    return rows


def placement_row(
    case: PlacementCase, cell: dict, base: dict, platform: Platform, machine: NumaMachine
) -> dict:
    """Columns of a placement from its cell and from that of LP-LD with the same pages.

    Without ``status`` ok in both there is only ``status`` and ``message``. Cycles are those of the cell;
    runtimes are empty if the engine has none.
    """
    said = {"status": cell["status"], "message": cell["message"]}
    if not is_ok(cell) or not is_ok(base):
        return said if not is_ok(cell) else said | {"status": FAILED, "message": f"{LOCAL} failed"}
    wait = wait_cycles(case.lines, float(platform.values["memory.cycles_per_line"].value))
    costs = LoadCosts(float(platform.values["memory.load_cycles"].value), machine.remote_load_cycles, wait)
    walks, own = float(base["walk_cycles"]), case.where.program
    runtime, spread = cell_ratio(cell, base, "runtime_cycles")
    return said | {
        "stlb_misses": cell["stlb_misses"],
        "walk_cycles": cell["walk_cycles"],
        "walk_cycles_ci95": cell["walk_cycles_ci95"],
        "formula_walk_cycles": placed_walk_cycles(walks, float(base["walker_dram_loads"]), case.where, costs),
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


def cell_ratio(cell: dict, base: dict, column: str) -> tuple[float | None, float | None]:
    """Quotient of two cells and half-width of its interval; None without runtimes (engine ``partial``)."""
    values = [cell[column], base[column]]
    if any(value in (None, "") or not float(value) > 0 for value in values):
        return None, None
    quotient = float(cell[column]) / float(base[column])
    shares = [float(one[f"{column}_ci95"] or 0) / float(one[column]) for one in (cell, base)]
    return quotient, quotient * math.hypot(*shares)


# A computed GUPS under every placement: the table :data:`PLACEMENTS`.
#
# All placements share the trace and its samples, so ratios are more precise than their intervals. The
# warm-up of the first sample is long: with 2 M updates it brings over a million lines, twice those of an L3
# of 35 MB. A cell that the simulator refuses is a failed row.

GUPS_SAMPLES = 8  #: samples
ACCESSES, INSTRUCTIONS = 2, 12  #: of an update


def gups_sampling(gups: Gups) -> Intervals:
    """A quarter of the updates warms the caches; of each of 8 parts behind it, the last quarter counts."""
    part = gups.updates * 3 // 4 // GUPS_SAMPLES
    timed = max(1, part // 4)
    first = gups.updates - GUPS_SAMPLES * part
    rows = []
    for unit in range(GUPS_SAMPLES):
        start = 0 if unit == 0 else first + unit * part
        warm = (first if unit == 0 else 0) + part - timed
        rows.append((start * ACCESSES, warm * ACCESSES, timed * INSTRUCTIONS, 1))
    return Intervals.of(rows)


#: numbers of a table of placements that people want to see
RATIOS = ["page_size", "configuration", "hog_lines", "walk_ratio", "runtime_ratio", "runtime_ratio_ci95"]


def show_ratios(table: pd.DataFrame) -> None:
    """Print the ratios of :data:`PLACEMENTS` or of a program under placements."""
    print_table(**frame_rows(table[RATIOS], digits=3))


@study(PLACEMENTS, show=show_ratios)
def placements_of_gups(
    run: Run,
    cache: CellCache,
    platform: Platform | None = None,
    gb: int = 64,
    updates: int = 2_000_000,
    seed: int = 1,
    engine: Engine = "timing",
    jobs: Jobs = 1,
) -> pd.DataFrame:
    """Simulate HPCC's updates under the placements of Mitosis Table 2: walk cycles and runtime.

    Page tables and data lie on the program's socket or on another one; a hog may use up the bandwidth of the
    other. All pages are 4KB pages, then 2MB pages. The number of the hog's lines is assumed, and varied.

    Example (after: tessera dev build tracer simulator):
      ./run tessera lab run numa-placements gb=1 updates=100000 --out /tmp/placements.csv

    Args:
        platform: name or YAML file; default: haswell-4s-sim.
        gb: size of the table, GB; a power of two.
        updates: a load and a store each.
        seed: begin of HPCC's stream.
        engine: of the simulator; partial gives walk cycles only.
        jobs: threads of the simulator.
        cache: folder of finished simulations; default: .cache beside the table.

    Raises:
        TesseraError: a component that is not built, or a trace that cannot be written.
    """
    gups, machine = Gups(gb, updates, seed), published_machine()
    platform = platform or platforms.load_platform(PLATFORM)
    asked = list(placement_cases(machine))
    with tempfile.TemporaryDirectory(prefix="tessera-numa-") as name:
        folder = Path(name)
        run.say(f"writing {updates} updates of {gb} GB")
        trace = write_trace(gups, folder / "gups.tst")
        inputs = Inputs(
            f"gups-{gb}gb", trace, platform, write_gups_layouts(gups, folder / "layouts"), cache,
            gups_sampling(gups), jobs, run.say,
        )  # fmt: skip
        cells = placed_cells(inputs, machine, asked, LAYOUTS, engine)
    return placements_of_cells(asked, cells, platform, machine, gups)


def placed_cells(
    inputs: Inputs, machine: NumaMachine, asked: list[PlacementCase], layouts: Iterable[str], engine: str
) -> list[dict[str, dict]]:
    """For each placement the cells by layout; ``layouts`` are the names of ``inputs.files``."""
    tables = simulate_all(
        inputs.trace, [placed_platform(inputs.platform, machine, case) for case in asked], inputs.files,
        **inputs.options | {"engine": engine},
    )  # fmt: skip
    return [dict(zip(layouts, cells, strict=True)) for cells in tables]


def placements_of_cells(
    asked: list[PlacementCase],
    cells: list[dict[str, dict]],
    platform: Platform,
    machine: NumaMachine,
    gups: Gups,
) -> pd.DataFrame:
    """:data:`PLACEMENTS` from a cell for each placement and layout, in the order of ``asked``."""
    rows = placement_rows(
        asked, cells, platform, machine, {"platform": platform.name, "updates": gups.updates}
    )
    return frame_of(PLACEMENTS, rows)
