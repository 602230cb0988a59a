"""The study of placements of a synthetic tree: cells that obey the closed form, one that failed."""

from __future__ import annotations

from pathlib import Path

from tessera.core import platforms
from tessera.core.results.kernel_tables import FRAGMENTED, MAPS, PLACEMENTS, PROGRAMS
from tessera.core.results.table_io import frame_of
from tessera.lab.numa.gups import Gups
from tessera.lab.numa.placement_costs import (
    PLATFORM,
    LoadCosts,
    placed_walk_cycles,
    published_machine,
    wait_cycles,
)
from tessera.lab.numa.placement_study import (
    PlacementCase,
    placement_cases,
    placement_rows,
    placements_of_cells,
)
from tessera.lab.numa.program_study import scaled

from .tables import put

LOADS = {"4kb": 1000, "2mb": 0}  #: n; all walks take 100,000 cycles besides
DATA = 2000  #: the program's loads from memory
UPDATES = 2000


def cell(case: PlacementCase, layout: str, gb: int = 64) -> dict:
    """R = C + 1000 loads of data + 100,000."""
    costs = LoadCosts(280, 580, wait_cycles(case.lines, 5))
    walks = placed_walk_cycles(100_000 + 280 * LOADS[layout], LOADS[layout], case.where, costs)
    runtime = walks + DATA / 2 * costs.data_load_cycles(case.where) + 100_000
    return {
        "workload": f"gups-{gb}gb", "status": "ok", "message": "", "stlb_misses": UPDATES,
        "walk_cycles": walks, "walk_cycles_ci95": 10, "runtime_cycles": runtime, "runtime_cycles_ci95": 10,
        "walker_dram_loads": LOADS[layout], "program_dram_loads": DATA,
    }  # fmt: skip


def table(change=lambda case, layout, cell: cell, gb: int = 64):
    """The table of :data:`PLACEMENTS`; ``change`` may replace cells."""
    asked = list(placement_cases(published_machine()))
    found = [{layout: change(case, layout, cell(case, layout, gb)) for layout in LOADS} for case in asked]
    return placements_of_cells(
        asked, found, platforms.load_platform(PLATFORM), published_machine(), Gups(gb, UPDATES)
    )


def one_failed(case: PlacementCase, layout: str, of_case: dict) -> dict:
    """RP-RD with 2MB pages was refused."""
    if (case.where.name, layout) != ("RP-RD", "2mb"):
        return of_case
    return {"workload": of_case["workload"], "status": "failed", "message": "PLACEMENT-7"}


def program(name: str = "GUPS", scale: float = 16, change=lambda case, layout, cell: cell):
    """The table of :data:`PROGRAMS` of one workload, ``mitosis-<name>``; R = C + data as above."""
    platform, asked = (
        scaled(platforms.load_platform(PLATFORM), scale),
        list(placement_cases(published_machine())),
    )
    workload = {"workload": f"mitosis-{name.lower()}"}
    found = [
        {layout: change(case, layout, cell(case, layout) | workload) for layout in LOADS} for case in asked
    ]
    same = {"platform": platform.name, "scale": scale, "program": name, "size": "scaled"}
    same |= {"footprint_bytes": 4 << 30, "accesses": 2 * UPDATES}
    return frame_of(PROGRAMS, placement_rows(asked, found, platform, published_machine(), same))


def maps(wrong: int = 0):
    """The table of :data:`MAPS`: two rules, one of them with ``wrong`` leaf tables on another node."""
    rows = []
    for rule, other in (("RP-LD", wrong), ("TRP-LD+M", 0)):
        for kind, units in (("data", 8192), ("table", 17)):
            found = {"same_node": units - other * (kind == "table"), "other_node": other * (kind == "table")}
            rows.append(
                {"workload": "mitosis-gups", "size": "tiny", "rule": rule, "status": "ok", "message": ""}
                | {"kind": kind, "level": 1, "guest_units": units, "rule_units": units, "only_guest": 0}
                | {"only_rule": 0, "provenance": "measured"} | found
            )  # fmt: skip
    return frame_of(MAPS, rows)


def fragmented(share: float = 0.25, large_free: int = 64 << 20):
    """The table of :data:`FRAGMENTED`: a control, a run, and one with compaction that failed."""
    same = {"workload": "mitosis-gups", "size": "guest", "configuration": "TRP-LD", "provenance": "measured"}
    data = 256 << 20
    rows = [
        same | {"blocks": "free", "least_index": index, "status": "ok", "message": "", "index": index + 0.01,
                "free_bytes": 512 << 20, "large_free_bytes": large - (1 << 20), "listed_bytes": 1 << 20,
                "data_bytes": data, "share": got,
                "large_data_bytes": int(got * data), "smaps_large_bytes": int(got * data),
                "index_after": 0.97}
        for index, large, got in ((0.0, 500 << 20, 1.0), (0.9, large_free, share))
    ]  # fmt: skip
    lost = same | {"blocks": "compacted", "least_index": 0.9, "status": "failed", "message": "GUEST-3"}
    return frame_of(FRAGMENTED, [*rows, lost])


def write(root: Path) -> None:
    """A failed placement; two programs, one of them with another, a recording that failed; the guest's."""
    put(root, PLACEMENTS, table(change=one_failed))
    put(root, PROGRAMS, program(change=one_failed), "mitosis-gups")
    put(root, PROGRAMS, program("XSBench", 20), "mitosis-xsbench")
    lost = {"workload": "mitosis-btree", "platform": "haswell-4s-sim-by-14", "scale": 14, "program": "BTree"}
    lost |= {"status": "failed", "message": "RECORDING-5"}
    put(root, PROGRAMS, [lost], "mitosis-btree")
    put(root, MAPS, maps(wrong=3))
    put(root, FRAGMENTED, fragmented())
