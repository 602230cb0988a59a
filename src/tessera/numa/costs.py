"""Walk cycles of a placement in closed form (docs/numa.md, The formula).

C(placement) = C(local) + n x (L(placement) - L(local)). C(local) are the walk cycles with all tables in local
memory, n the walker's loads that reached memory, L the latency of one such load. On one socket, the placement
changes neither TLB nor caches, so n is the same for all placements. A walk's loads depend on each other, so
their latencies add up.

Not modelled: walks that overlap with each other, loads that another socket's L3 serves, waits behind the
program's own loads.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.numa.placement import Placement

LEAST_RATIO = 1.05  #: smaller effects are listed and not judged


@dataclass(frozen=True)
class LoadCosts:
    """Cycles of one load that reaches memory: local, remote, and the wait W at a node with a hog."""

    local_cycles: float
    remote_cycles: float
    wait_cycles: float = 0.0

    def __post_init__(self) -> None:
        if not (0 < self.local_cycles <= self.remote_cycles and self.wait_cycles >= 0):
            raise TesseraError(
                f"{self.local_cycles:g} cycles, remote {self.remote_cycles:g}, wait {self.wait_cycles:g}",
                "the local latency must be above 0, the remote one at least as long, and the wait 0 or more",
                "correct --remote-load-cycles or --hog-lines",
                code="numa-costs",
            )

    def walker_load_cycles(self, where: Placement) -> float:
        """L: latency of one load of a page-table entry that reaches memory."""
        return self._load_cycles(where, where.tables)

    def data_load_cycles(self, where: Placement) -> float:
        """Latency of one load of the program's data that reaches memory."""
        return self._load_cycles(where, where.data)

    def _load_cycles(self, where: Placement, node: str) -> float:
        base = self.local_cycles if node == where.program else self.remote_cycles
        return base + (self.wait_cycles if node == where.hog else 0.0)


def walk_cycles(local_walk_cycles: float, loads: float, where: Placement, costs: LoadCosts) -> float:
    """C of the placement in cycles.

    Args:
        local_walk_cycles: C with all page tables in local memory.
        loads: n, the walker's loads that reached memory.
    """
    return local_walk_cycles + loads * (costs.walker_load_cycles(where) - costs.local_cycles)


def greatest_ratio(where: Placement, costs: LoadCosts) -> float:
    """Upper bound of C(placement) / C(local): every cycle of every walk is a load from memory."""
    return costs.walker_load_cycles(where) / costs.local_cycles
