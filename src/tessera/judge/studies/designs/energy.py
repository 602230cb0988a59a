"""Energy of the arrays of a design: reads x energy of a read + leakage x R / frequency.

``energy.csv`` has what CACTI gives for each array; all its values are assumed, because no source of the
designs prints them.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tessera.judge.studies.designs.catalogue import Array, arrays_of
from tessera.platforms import Platform

FILE = Path(__file__).with_name("energy.csv")
FREQUENCY = "core.frequency_hz"
_NJ_OF_PJ, _NJ_OF_MJ = 1e-3, 1e6  #: mW x s = mJ


@dataclass(frozen=True)
class Cost:
    """Of one array."""

    read_pj: float
    leakage_mw: float


@cache
def costs() -> dict[tuple[str, int], Cost]:
    """(kind of array, its size in entries, bytes or bits) -> cost."""
    with FILE.open(encoding="utf-8", newline="") as stream:
        return {
            (row["array"], int(row["size"])): Cost(float(row["read_pj"]), float(row["leakage_mw"]))
            for row in csv.DictReader(stream)
        }


def cost_of(array: Array, platform: Platform) -> Cost | None:
    """None: ``energy.csv`` has no such size."""
    return costs().get((array.kind, array.size_on(platform)))


def read_energy_nj(design: str, structure: str, accesses: int, platform: Platform) -> float | None:
    """Energy of the reads of one structure; None: it is not known."""
    for array in arrays_of(design):
        if structure in array.structures and (cost := cost_of(array, platform)):
            return accesses * array.reads * cost.read_pj * _NJ_OF_PJ
    return None


def leakage_nj(design: str, runtime_cycles: float, platform: Platform) -> float | None:
    """Leakage of all arrays of a design during R; None: an array is not known, or there is none."""
    found = [(array, cost_of(array, platform)) for array in arrays_of(design)]
    if not found or any(cost is None for _, cost in found):
        return None
    seconds = runtime_cycles / int(platform.values[FREQUENCY].value)
    return sum(array.copies * cost.leakage_mw for array, cost in found if cost) * seconds * _NJ_OF_MJ


def energy_nj(
    design: str, accesses: Mapping[str, int], runtime_cycles: float | None, platform: Platform
) -> float | None:
    """Reads and leakage of a design; ``accesses`` by structure. None: an array is not known."""
    if runtime_cycles is None or (leaked := leakage_nj(design, runtime_cycles, platform)) is None:
        return None
    reads = [
        read_energy_nj(design, name, accesses.get(name, 0), platform) or 0.0
        for array in arrays_of(design)
        for name in array.structures
    ]
    return leaked + sum(reads)
