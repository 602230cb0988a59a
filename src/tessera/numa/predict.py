"""What the placement of page tables would cost a simulated cell: the closed form on one row of cells.

The cell is one socket with everything local, so its C is C(LP-LD). n are its ``walker_dram_loads``. The form
needs walks whose loads follow each other; a cell with n x (shortest local load) above C breaks this and is an
error. The interval of a prediction is that of the cell's C: n has no interval of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError, unknown_name
from tessera.layouts.model import canonical_name
from tessera.numa.costs import LEAST_RATIO, LoadCosts, greatest_ratio, walk_cycles
from tessera.numa.machine import PLATFORM, Machine
from tessera.numa.placement import Placement
from tessera.numa.queue import SWEEP, hog_lines, wait_cycles
from tessera.results.read import read_file
from tessera.results.schema.cells import CELLS
from tessera.results.status import ok_rows

COLUMNS = (
    "configuration", "assumption", "walker_load_cycles", "wait_cycles", "walk_cycles", "walk_cycles_ci95",
    "walk_cycles_ratio", "greatest_ratio",
)  # fmt: skip


@dataclass(frozen=True)
class Walks:
    """C, half-width of its 95% interval, n and M of a cell."""

    cycles: float
    cycles_ci95: float
    loads: float
    walks: float

    @property
    def loads_a_walk(self) -> float:
        """Walker loads from memory in one walk."""
        return self.loads / self.walks if self.walks else 0.0


def walks_of(cells: Path, workload: str, platform: str, layout: str = "4kb") -> Walks:
    """C, n and M of a cell; means over its repeats.

    Raises:
        TesseraError: no such cell, a cell that failed, or one without C or loads by level.
    """
    rows = read_file(CELLS, cells)
    for column, wanted in (
        ("workload", workload),
        ("platform", platform),
        ("layout", canonical_name(layout)),
    ):
        known = sorted(set(rows[column]))
        rows = rows[rows[column] == wanted]
        if rows.empty:
            raise unknown_name(column, wanted, known)
    asked = f"cell of {workload}, {platform}, {layout} in {cells}"
    good = ok_rows(rows)
    if good.empty:
        raise TesseraError(
            asked, f"status {rows['status'].iloc[0]}: {rows['message'].iloc[0]}", "simulate it again"
        )
    needed = ["walk_cycles", "walker_dram_loads", "stlb_misses"]
    means = good[[*needed, "walk_cycles_ci95"]].astype(float).mean()
    lacks = [name for name in needed if pd.isna(means[name])]
    if lacks:
        raise TesseraError(
            asked,
            f"no {', '.join(lacks)}",
            "use simulated cells whose samples have equal weights (docs/contracts.md, Cells)",
            code="numa-no-loads",
        )
    spread = 0.0 if pd.isna(means["walk_cycles_ci95"]) else float(means["walk_cycles_ci95"])
    return Walks(
        float(means["walk_cycles"]), spread, float(means["walker_dram_loads"]), float(means["stlb_misses"])
    )


@dataclass(frozen=True)
class Memory:
    """Memory of a cell's platform.

    Cycles of a local load, of the shortest local load (row hit), of one line at the full rate, of a remote
    load; outstanding lines of a hog.
    """

    local_cycles: int
    shortest_cycles: int
    cycles_per_line: int
    remote_cycles: float
    lines: float


def memory_of(platform: str, machine: Machine, remote_cycles: float | None, lines: float | None) -> Memory:
    """Latencies of a platform; those of another node are published for ``haswell-4s-sim`` only.

    Raises:
        TesseraError: another platform without ``remote_cycles`` and ``lines``.
    """
    values = platforms.load(platform).values
    local = int(values["memory.load_cycles"].value)
    if platform != PLATFORM and (remote_cycles is None or lines is None):
        raise TesseraError(
            f"remote memory of platform {platform}",
            f"its remote latency and a hog's lines are published for {PLATFORM} only (local: {local} cycles)",
            "give --remote-load-cycles and --hog-lines",
            code="numa-no-remote",
        )
    saved = values.get("dram.row_hit_saves_cycles")
    return Memory(
        local_cycles=local,
        shortest_cycles=local - int(saved.value if saved else 0),
        cycles_per_line=int(values["memory.cycles_per_line"].value),
        remote_cycles=machine.remote_load_cycles if remote_cycles is None else remote_cycles,
        lines=hog_lines(machine) if lines is None else lines,
    )


def predict(walks: Walks, memory: Memory, configurations: list[Placement]) -> pd.DataFrame:
    """A row for each configuration and, where a hog slows the walker, for each factor of the queue.

    Returns:
        :data:`COLUMNS`: cycles of one load and of all walks, the ratio to LP-LD and its bound.

    Raises:
        TesseraError: the walks' loads cannot have followed each other.
    """
    if walks.loads * memory.shortest_cycles > walks.cycles + walks.cycles_ci95:
        raise TesseraError(
            f"{walks.loads:.0f} walker loads from memory in {walks.cycles:.0f} walk cycles",
            f"one load takes at least {memory.shortest_cycles} cycles, so these loads overlapped",
            "the formula needs page tables whose loads follow each other; use cells of a conventional design",
            code="numa-overlap",
        )
    rows = []
    for where in configurations:
        for factor, reason in SWEEP.items() if where.hogged_tables else [(0.0, "")]:
            wait = wait_cycles(factor * memory.lines, memory.cycles_per_line)
            costs = LoadCosts(memory.local_cycles, memory.remote_cycles, wait)
            cycles = walk_cycles(walks.cycles, walks.loads, where, costs)
            ratio = cycles / walks.cycles if walks.cycles else 1.0
            rows.append(
                [where.name, reason, costs.walker_load_cycles(where), wait, cycles, walks.cycles_ci95, ratio,
                 greatest_ratio(where, costs)]
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(COLUMNS))


def near_zero(walks: Walks, memory: Memory) -> bool:
    """The walker reads memory so rarely that remote tables change C by less than 5%."""
    extra = walks.loads * (memory.remote_cycles - memory.local_cycles)
    return extra < (LEAST_RATIO - 1) * walks.cycles
