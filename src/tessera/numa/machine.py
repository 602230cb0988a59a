"""The machine of Mitosis (ASPLOS 2020, section 8): sockets, latencies and rates of local and remote memory.

All values come from ``reference-results/mitosis_timing.csv``. A line is 64 bytes. Rates in GB/s are decimal,
and cycles of a line are rounded to whole cycles, as in the platform file ``haswell-4s-sim``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera import reference

LINE_BYTES = 64
PLATFORM = "haswell-4s-sim"  #: one socket of this machine as a platform; its memory is the local one
TABLE = "mitosis_timing"


@dataclass(frozen=True)
class Machine:
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


def printed(quantity: str) -> float:
    """One number that sections 1 and 8 or Table 6 print, by its ``quantity``."""
    return reference.lookup(TABLE, {"quantity": quantity})


def published() -> Machine:
    """The four-socket Xeon E7-4850 v3 as section 8 describes it."""
    return Machine(
        sockets=int(printed("sockets")),
        cores_per_socket=int(printed("cores_per_socket")),
        frequency_hz=printed("frequency") * 1e9,
        local_load_cycles=int(printed("local_latency")),
        remote_load_cycles=int(printed("remote_latency")),
        local_bytes_per_second=printed("local_throughput") * 1e9,
        remote_bytes_per_second=printed("remote_throughput") * 1e9,
    )
