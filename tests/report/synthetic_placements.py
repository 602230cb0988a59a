"""The study of placements of a synthetic tree: cells that obey the closed form, one that failed."""

from __future__ import annotations

from pathlib import Path

from tessera import platforms
from tessera.numa.costs import LoadCosts, walk_cycles
from tessera.numa.gups import Gups
from tessera.numa.machine import PLATFORM, published
from tessera.numa.queue import wait_cycles
from tessera.numa.rows import rows_of
from tessera.numa.scaled import scaled
from tessera.numa.study import table_of
from tessera.numa.variants import Case, cases
from tessera.results.schema.numa import PLACEMENTS, PROGRAMS
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write

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


def program(name: str = "GUPS", scale: float = 16, change=lambda case, layout, cell: cell):
    """The table of :data:`PROGRAMS` of one workload, ``mitosis-<name>``; R = C + data as above."""
    platform, asked = scaled(platforms.load(PLATFORM), scale), list(cases(published()))
    workload = {"workload": f"mitosis-{name.lower()}"}
    found = [
        {layout: change(case, layout, cell(case, layout) | workload) for layout in LOADS} for case in asked
    ]
    same = {"platform": platform.name, "scale": scale, "program": name, "size": "scaled"}
    same |= {"footprint_bytes": 4 << 30, "accesses": 2 * UPDATES}
    return frame_of(PROGRAMS, rows_of(asked, found, platform, published(), same))


def write_programs(root: Path) -> None:
    """Two programs, one of them with a failed placement, and a recording that failed."""
    tree = Tree(root)
    write(PROGRAMS, program(change=one_failed), PROGRAMS.place(tree, "mitosis-gups"))
    write(PROGRAMS, program("XSBench", 20), PROGRAMS.place(tree, "mitosis-xsbench"))
    lost = {"workload": "mitosis-btree", "platform": "haswell-4s-sim-by-14", "scale": 14, "program": "BTree"}
    lost |= {"status": "failed", "message": "RECORDING-5"}
    write(PROGRAMS, frame_of(PROGRAMS, [lost]), PROGRAMS.place(tree, "mitosis-btree"))
