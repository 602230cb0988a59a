"""Walk cycles rise at most by the ratio of latencies (Figures 6 and 9).

Every cycle of a walk is at most a load from memory, so C(RP-LD) / C(LP-LD) lies between 1 and 580 / 280, and
C(RPI-LD) / C(LP-LD) below (580 + W) / 280 with the assumed W. On four sockets, a leaf table lies on one
socket, so the remote shares that the sockets see sum to 3. With equal numbers of walks on all sockets, C(F) /
C(F+M) is at most (280 + 3 x 580) / 4 / 280. Upper bounds have no tolerance, lower bounds that of noise.
"""

from __future__ import annotations

from collections.abc import Iterator

from tessera.numa.archive import Archive, column, cycles_of
from tessera.numa.arithmetic.check import Check
from tessera.numa.arithmetic.tolerances import QUIET
from tessera.numa.costs import LoadCosts, greatest_ratio
from tessera.numa.machine import published
from tessera.numa.placement import LOCAL, placement
from tessera.numa.queue import hog_lines, wait_cycles


def bounds(archive: Archive) -> Iterator[Check]:
    """Ratios of walk cycles within the ratios of latencies."""
    machine = published()
    wait = wait_cycles(hog_lines(machine), machine.local_cycles_per_line)
    costs = LoadCosts(machine.local_load_cycles, machine.remote_load_cycles, wait)
    pairs = [
        ("Figure 6", name, LOCAL, greatest_ratio(placement(name), costs)) for name in ("RP-LD", "RPI-LD")
    ]
    spread = machine.first_touch_load_cycles / machine.local_load_cycles
    pairs += [("Figure 9a", name, f"{name}+M", spread) for name in ("F", "F-A", "I")]
    for size, noise in QUIET.items():
        for figure, far, near, upper in pairs:
            walk = cycles_of(archive.good, figure, "walk", size)
            for workload, value in (column(walk, far) / column(walk, near)).items():
                yield Check(
                    f"walks of {far}",
                    str(workload),
                    size,
                    float(value),
                    1 - noise,
                    upper,
                    "ratio",
                    f"over {near}",
                )
