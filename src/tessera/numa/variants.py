"""A platform as the machine of a placement: values of the simulator's keys ``numa.*``.

The program's socket is node 0, the other one node 1. Latency and rate of remote memory are published for one
machine (:mod:`tessera.numa.machine`), so a platform of another one needs values of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tessera.numa.machine import Machine
from tessera.numa.placement import Placement, placement, placements
from tessera.numa.queue import SWEEP, hog_lines
from tessera.platforms import Platform
from tessera.platforms.change import with_values

WHY = "assumed: a placement of Mitosis Table 2 (tessera numa placements)"
MOVED = "RPI-LD+M"  #: the page tables of RPI-LD after Mitosis moved them (Figures 6 and 10)


@dataclass(frozen=True)
class Case:
    """One simulated placement; ``lines`` of the hog are 0 if nobody waits behind it."""

    where: Placement
    lines: float = 0.0
    assumption: str = ""


def cases(machine: Machine) -> Iterator[Case]:
    """The configurations of Table 2 and :data:`MOVED`; several where a load waits for the hog."""
    for where in [*placements().values(), placement(MOVED)]:
        if where.hog not in (where.tables, where.data):
            yield Case(where)
            continue
        for factor, reason in SWEEP.items():
            yield Case(where, round(factor * hog_lines(machine)), reason)


def variant(platform: Platform, machine: Machine, case: Case) -> Platform:
    """The platform with the keys of the placement."""
    where = case.where
    keys = {
        "numa.nodes": 2,
        "numa.table_node": int(where.tables != where.program),
        "numa.data_node": int(where.data != where.program),
        "numa.remote_load_cycles": machine.remote_load_cycles,
        "numa.remote_cycles_per_line": machine.remote_cycles_per_line,
        "numa.hog_node": int(where.hog is not None and where.hog != where.program),
        "numa.hog_lines": int(case.lines),
    }
    return with_values(platform, keys, WHY)
