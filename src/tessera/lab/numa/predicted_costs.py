"""The closed form on a simulated cell: what page tables on other sockets cost one thread, or several."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError, unknown_name
from tessera.core.layouts.layout import canonical_name
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.kernel_tables import PLACEMENT
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import read_file
from tessera.lab.kernel.page_tables import remote_leaf_share
from tessera.lab.numa.archive import Archive
from tessera.lab.numa.placement_costs import (
    HOG_SWEEP,
    LEAST_RATIO,
    PLATFORM,
    LoadCosts,
    NumaMachine,
    Placement,
    greatest_ratio,
    hog_lines,
    placed_walk_cycles,
    wait_cycles,
)
from tessera.lab.numa.placement_map import PlacementMap, pages_by_leaf_node

# One thread: the closed form on one row of cells.
#
# The cell is one socket with everything local, so its C is C(LP-LD). n are its ``walker_dram_loads``. The
# form needs walks whose loads follow each other; a cell with n x (shortest local load) above C breaks this
# and is an error. The interval of a prediction is that of the cell's C: n has no interval of its own.

PREDICTED_COLUMNS = (
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


def memory_of(
    platform: str, machine: NumaMachine, remote_cycles: float | None, lines: float | None
) -> Memory:
    """Latencies of a platform; those of another node are published for ``haswell-4s-sim`` only.

    Raises:
        TesseraError: another platform without ``remote_cycles`` and ``lines``.
    """
    values = platforms.load_platform(platform).values
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


def predict_placements(walks: Walks, memory: Memory, configurations: list[Placement]) -> pd.DataFrame:
    """A row for each configuration and, where a hog slows the walker, for each factor of the queue.

    Returns:
        :data:`PREDICTED_COLUMNS`: cycles of one load and of all walks, the ratio to LP-LD and its bound.

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
        for factor, reason in HOG_SWEEP.items() if where.hogged_tables else [(0.0, "")]:
            wait = wait_cycles(factor * memory.lines, memory.cycles_per_line)
            costs = LoadCosts(memory.local_cycles, memory.remote_cycles, wait)
            cycles = placed_walk_cycles(walks.cycles, walks.loads, where, costs)
            ratio = cycles / walks.cycles if walks.cycles else 1.0
            rows.append(
                [where.name, reason, costs.walker_load_cycles(where), wait, cycles, walks.cycles_ci95, ratio,
                 greatest_ratio(where, costs)]
            )  # fmt: skip
    return pd.DataFrame(rows, columns=list(PREDICTED_COLUMNS))


def nearly_no_effect(walks: Walks, memory: Memory) -> bool:
    """The walker reads memory so rarely that remote tables change C by less than 5%."""
    extra = walks.loads * (memory.remote_cycles - memory.local_cycles)
    return extra < (LEAST_RATIO - 1) * walks.cycles


# Threads on several sockets, from the shares of leaf entries that they find remote.
#
# C(socket) = C(local) + n x share x (remote - local). Each thread walks as the given cell does, spread
# evenly over the leaf entries, and only leaf entries come from memory. With replicas (+M) every walk is
# local, so C(socket) / C(local) is what Mitosis saves. Not modelled: contention of the sockets, loads from
# another socket's L3, threads that prefer their own part of the data.

SOCKET_COLUMNS = ("socket", "remote_share", "walker_load_cycles", "walk_cycles", "walk_cycles_ratio")
FIGURE4_QUANTITY = "remote_leaf_entries"  #: quantity of the archive


def published_shares(archive: Archive, workload: str) -> np.ndarray:
    """Shares of Figure 4 by socket; numbers in quarantine are no shares."""
    rows = archive.good[archive.good["quantity"] == FIGURE4_QUANTITY]
    known = list(dict.fromkeys(rows["workload"]))
    if workload not in known:
        raise unknown_name("workload of Figure 4", workload, known)
    return rows.loc[rows["workload"] == workload, "value"].to_numpy(float) / 100


def measured_shares(path: Path, workload: str, config: str) -> np.ndarray:
    """Shares in a guest with our kernel, from its table of page tables (docs/explain/kernel.md).

    Raises:
        TesseraError: an unreadable table, or no such run in it.
    """
    rows = read_file(PLACEMENT, path)
    known = sorted(set(zip(rows["workload"], rows["config"], strict=True)))
    if (workload, config) not in known:
        names = [" ".join(pair) for pair in known]
        raise unknown_name("program and configuration", f"{workload} {config}", names)
    run = rows[(rows["workload"] == workload) & (rows["config"] == config)]
    return remote_leaf_share(run, sorted(set(run["target_socket"]))).to_numpy(float)


def mapped_shares(found: PlacementMap, nodes: int) -> np.ndarray:
    """Shares of a map of pages and page tables; each 4KB page is an entry.

    Raises:
        TesseraError: more nodes than sockets, or a page without a table.
    """
    local = pages_by_leaf_node(found, nodes)
    return 1 - local / local.sum()


def socket_costs(shares: np.ndarray, walks: Walks, memory: Memory) -> pd.DataFrame:
    """:data:`SOCKET_COLUMNS`: a row for each socket; ratios are over page tables that are all local.

    Raises:
        TesseraError: shares that are no shares of N sockets, whose sum must be N - 1.
    """
    slack = 0.01 * len(shares)  # shares are printed in whole percent
    if np.isnan(shares).any() or abs(shares.sum() - (len(shares) - 1)) > slack:
        raise TesseraError(
            f"remote shares {', '.join(f'{share:.2f}' for share in shares)}",
            f"they sum to {shares.sum():.2f}; of {len(shares)} sockets, each entry is remote for all but one",
            "give shares of one set of page tables; with +M every share is 0 and nothing is to compute",
            code="numa-shares",
        )
    extra = shares * (memory.remote_cycles - memory.local_cycles)
    cycles = walks.cycles + walks.loads * extra
    ratios = cycles / walks.cycles if walks.cycles else np.ones(len(shares))
    rows = zip(range(len(shares)), shares, memory.local_cycles + extra, cycles, ratios, strict=True)
    return pd.DataFrame(rows, columns=list(SOCKET_COLUMNS))
