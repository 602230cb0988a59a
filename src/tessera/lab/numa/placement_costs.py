"""Walk cycles of a placement of page tables in closed form (docs/explain/numa.md, The formula).

The machine of Mitosis, the wait behind a bandwidth hog, the placements of Table 2, and the formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tessera.core import reference
from tessera.core.errors import TesseraError, unknown_name

# The machine of Mitosis (ASPLOS 2020, section 8): sockets, latencies and rates of local and remote memory.
#
# All values come from ``reference-results/mitosis_timing.csv``. A line is 64 bytes. Rates in GB/s are
# decimal, and cycles of a line are rounded to whole cycles, as in the platform file ``haswell-4s-sim``.

LINE_BYTES = 64
PLATFORM = "haswell-4s-sim"  #: one socket of this machine as a platform; its memory is the local one
TIMING_TABLE = "mitosis_timing"


@dataclass(frozen=True)
class NumaMachine:
    """Sockets and memory; latencies of one load in core cycles, rates in bytes per second."""

    sockets: int
    cores_per_socket: int
    frequency_hz: float
    local_load_cycles: int
    remote_load_cycles: int
    local_bytes_per_second: float
    remote_bytes_per_second: float

    @property
    def local_cycles_per_line(self) -> int:
        """Cycles between two lines of the local memory at its full rate."""
        return round(self.frequency_hz * LINE_BYTES / self.local_bytes_per_second)

    @property
    def remote_cycles_per_line(self) -> int:
        """Cycles between two lines of a remote memory at its full rate."""
        return round(self.frequency_hz * LINE_BYTES / self.remote_bytes_per_second)

    @property
    def first_touch_load_cycles(self) -> float:
        """Mean latency of a walker's load if every socket holds the same share of the tables."""
        remote = (self.sockets - 1) * self.remote_load_cycles
        return (self.local_load_cycles + remote) / self.sockets


def printed_number(quantity: str) -> float:
    """One number that sections 1 and 8 or Table 6 print, by its ``quantity``."""
    return reference.lookup(TIMING_TABLE, {"quantity": quantity})


def published_machine() -> NumaMachine:
    """The four-socket Xeon E7-4850 v3 as section 8 describes it."""
    return NumaMachine(
        sockets=int(printed_number("sockets")),
        cores_per_socket=int(printed_number("cores_per_socket")),
        frequency_hz=printed_number("frequency") * 1e9,
        local_load_cycles=int(printed_number("local_latency")),
        remote_load_cycles=int(printed_number("remote_latency")),
        local_bytes_per_second=printed_number("local_throughput") * 1e9,
        remote_bytes_per_second=printed_number("remote_throughput") * 1e9,
    )


# The wait of a load at a node whose memory bandwidth another process uses up (Table 2, interference).
#
# The hog is a closed queue: a fixed number of its lines is always outstanding, and the memory serves one
# line in ``cycles_per_line``. A load that arrives then waits behind all of them, W = lines x cycles_per_line
# (Little's law). The number of lines is assumed: every core of the hog's socket has all its fill buffers
# busy. W is never fitted to archived runs. Not modelled: memory channels, the order of service, the link's
# queue.

FILL_BUFFERS = 10  #: of one Haswell core (Intel optimization manual)

#: factor of the assumed number of lines -> why this factor
HOG_SWEEP: dict[float, str] = {
    0.5: "half of the fill buffers are busy",
    1.0: "all fill buffers are busy",
    4 / 3: "write-backs add a third to the lines",
    2.0: "twice as many lines, for example by prefetchers",
}


def hog_lines(machine: NumaMachine) -> int:
    """Outstanding lines of a hog on all cores of one socket; assumed."""
    return machine.cores_per_socket * FILL_BUFFERS


def wait_cycles(lines: float, cycles_per_line: float) -> float:
    """W in cycles of a load that arrives behind ``lines`` lines.

    Raises:
        TesseraError: a negative number of lines, or a rate that is not positive.
    """
    if not lines >= 0 or not cycles_per_line > 0:
        raise TesseraError(
            f"a queue of {lines:g} lines at {cycles_per_line:g} cycles a line",
            "lines must be 0 or more, and cycles a line more than 0",
            "correct --hog-lines, or memory.cycles_per_line of the platform",
            code="numa-queue",
        )
    return lines * cycles_per_line


# Placements of a program on one socket: where it runs, its page tables, its data, and a hog (Table 2).
#
# The seven configurations are read from ``reference-results/mitosis_table2.csv``. ``+M`` behind a name means
# that Mitosis has moved the page tables to the socket of the program. A name that starts with T (2MB pages)
# is no other placement: the page sizes are those of the layout.

MIGRATED = "+M"
LOCAL = "LP-LD"  #: everything on one socket, no interference: what a cell of one socket measures
REMOTE_HOGGED = "RPI-LD"  #: page tables on the other socket, with a hog; Mitosis moves them (Figures 10, 11)
_NONE = "none"


@dataclass(frozen=True)
class Placement:
    """One configuration; sockets by the paper's names A and B, ``hog`` None without interference."""

    name: str
    program: str
    tables: str
    data: str
    hog: str | None

    @property
    def hogged_tables(self) -> bool:
        """The memory that holds the page tables is the one that the hog uses."""
        return self.hog == self.tables

    def migrated(self) -> Placement:
        """The same with the page tables on the socket of the program."""
        return replace(self, name=self.name + MIGRATED, tables=self.program)


def placements() -> dict[str, Placement]:
    """The configurations of Table 2 by name, in the order of the file."""
    found = {}
    for name, rows in reference.load_published("mitosis_table2").groupby("configuration", sort=False):
        place = dict(zip(rows["part"], rows["place"], strict=True))
        hog = None if place["interference"] == _NONE else place["interference"]
        found[str(name)] = Placement(str(name), place["program"], place["page tables"], place["data"], hog)
    return found


def placement_named(name: str) -> Placement:
    """The placement of this name, with ``+M`` or without.

    Raises:
        TesseraError: an unknown name; names with T say how to choose 2MB pages.
    """
    known = placements()
    base = name.removesuffix(MIGRATED)
    if base in known:
        return known[base] if base == name else known[base].migrated()
    if base.startswith("T") and base[1:] in known:
        raise TesseraError(
            f"configuration '{name}'",
            "T stands for 2MB pages, which are a property of the layout",
            f"give --mitosis {name[1:]} --layout 2mb (a bound: Linux gives a program only some 2MB pages)",
            code="numa-2mb",
        )
    raise unknown_name("configuration", name, [*known, f"one of them with {MIGRATED}"])


# The formula.
#
# C(placement) = C(local) + n x (L(placement) - L(local)). C(local) are the walk cycles with all tables in
# local memory, n the walker's loads that reached memory, L the latency of one such load. On one socket, the
# placement changes neither TLB nor caches, so n is the same for all placements. A walk's loads depend on
# each other, so their latencies add up.
#
# Not modelled: walks that overlap with each other, loads that another socket's L3 serves, waits behind the
# program's own loads.

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


def placed_walk_cycles(local_walk_cycles: float, loads: float, where: Placement, costs: LoadCosts) -> float:
    """C of the placement in cycles.

    Args:
        local_walk_cycles: C with all page tables in local memory.
        loads: n, the walker's loads that reached memory.
    """
    return local_walk_cycles + loads * (costs.walker_load_cycles(where) - costs.local_cycles)


def greatest_ratio(where: Placement, costs: LoadCosts) -> float:
    """Upper bound of C(placement) / C(local): every cycle of every walk is a load from memory."""
    return costs.walker_load_cycles(where) / costs.local_cycles
