"""Numbers of one simulated placement: cycles, loads by memory, the formula, and ratios to LP-LD."""

from __future__ import annotations

import math

from tessera.numa.costs import LoadCosts, walk_cycles
from tessera.numa.machine import Machine
from tessera.numa.placement import LOCAL
from tessera.numa.queue import wait_cycles
from tessera.numa.variants import Case
from tessera.platforms import Platform
from tessera.results.status import FAILED, is_ok

PAGE_SIZES = {"4kb": "4KB", "2mb": "2MB"}  #: layout -> size of all its pages


def rows_of(
    asked: list[Case], cells: list[dict[str, dict]], platform: Platform, machine: Machine, same: dict
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
            rows.append(which | same | row_of(case, cell, base, platform, machine))
    return rows


def row_of(case: Case, cell: dict, base: dict, platform: Platform, machine: Machine) -> dict:
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
    runtime, spread = ratio(cell, base, "runtime_cycles")
    return said | {
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


def ratio(cell: dict, base: dict, column: str) -> tuple[float | None, float | None]:
    """Quotient of two cells and half-width of its interval; None without runtimes (engine ``partial``)."""
    values = [cell[column], base[column]]
    if any(value in (None, "") or not float(value) > 0 for value in values):
        return None, None
    quotient = float(cell[column]) / float(base[column])
    shares = [float(one[f"{column}_ci95"] or 0) / float(one[column]) for one in (cell, base)]
    return quotient, quotient * math.hypot(*shares)
