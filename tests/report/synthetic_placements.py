"""The study of placements of a synthetic tree: cells that obey the closed form, one that failed."""

from __future__ import annotations

from pathlib import Path

from tessera import platforms
from tessera.numa.costs import LoadCosts, walk_cycles
from tessera.numa.gups import Gups
from tessera.numa.machine import PLATFORM, published
from tessera.numa.queue import wait_cycles
from tessera.numa.study import table_of
from tessera.numa.variants import Case, cases
from tessera.results.schema.numa import PLACEMENTS
from tessera.results.tree import Tree
from tessera.results.write import write

LOADS = {"4kb": 1000, "2mb": 0}  #: n; all walks take 100,000 cycles besides
DATA = 2000  #: the program's loads from memory
UPDATES = 2000


def cell(case: Case, layout: str, gb: int = 64) -> dict:
    """R = C + 1000 loads of data + 100,000."""
    costs = LoadCosts(280, 580, wait_cycles(case.lines, 5))
    walks = walk_cycles(100_000 + 280 * LOADS[layout], LOADS[layout], case.where, costs)
    runtime = walks + DATA / 2 * costs.data_load_cycles(case.where) + 100_000
    return {
        "workload": f"gups-{gb}gb", "status": "ok", "message": "", "stlb_misses": UPDATES,
        "walk_cycles": walks, "walk_cycles_ci95": 10, "runtime_cycles": runtime, "runtime_cycles_ci95": 10,
        "walker_dram_loads": LOADS[layout], "program_dram_loads": DATA,
    }  # fmt: skip


def table(change=lambda case, layout, cell: cell, gb: int = 64):
    """The table of :data:`PLACEMENTS`; ``change`` may replace cells."""
    asked = list(cases(published()))
    found = [{layout: change(case, layout, cell(case, layout, gb)) for layout in LOADS} for case in asked]
    return table_of(asked, found, platforms.load(PLATFORM), published(), Gups(gb, UPDATES))


def write_placements(root: Path, **options) -> None:
    """Write ``studies/numa/placements.csv``."""
    write(PLACEMENTS, table(**options), PLACEMENTS.place(Tree(root)))


def one_failed(case: Case, layout: str, of_case: dict) -> dict:
    """RP-RD with 2MB pages was refused."""
    if (case.where.name, layout) != ("RP-RD", "2mb"):
        return of_case
    return {"workload": of_case["workload"], "status": "failed", "message": "PLACEMENT-7"}
