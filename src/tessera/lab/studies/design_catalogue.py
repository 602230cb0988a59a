"""The designs that the study compares by default, their arrays, and the energy of the arrays."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tessera.core.platforms import Platform

# The designs, and the arrays whose energy is known (``design_energy.csv``).
#
# A design that is not in :data:`DESIGNS` can be compared, too: it has no energy. Energy is that of the data
# side behind L1: L1 TLBs, caches, page walks and code pages are not counted. A design with an array that
# ``design_energy.csv`` lacks (ranges, clusters, a segment's registers) has no energy, because a sum without
# it would favour the design.
#
# :data:`DESIGN_VARIANTS` are designs with another size of one structure. They have names of their own, so
# that tables and claims tell them apart; a study asks for them by name.

BASELINE_DESIGN, THP, IDEAL = "baseline", "thp", "ideal"
#: The second level of a design that does not list it among its structures; its accesses are H + M.
SECOND_LEVEL = "second-level"


@dataclass(frozen=True)
class Array:
    """An array of a design.

    Attributes:
        kind: in ``design_energy.csv``.
        structures: of ``tessera-sim run --designs-out``; each access of each reads the array.
        key: of the platform, gives the size; ``size`` if the platform leaves it out, or if there is no key.
        ways: key and value that ``design_energy.csv`` is for; another value has no energy.
        reads: of one access.
        copies: arrays that leak.
    """

    kind: str
    structures: tuple[str, ...]
    key: str
    size: int
    ways: tuple[str, int] = ("", 0)
    reads: int = 1
    copies: int = 1

    def size_on(self, platform: Platform) -> int:
        """Entries or bytes on the platform; 0 if its ways differ from those of ``design_energy.csv``."""
        key, ways = self.ways
        if key and _value(platform, key, ways) != ways:
            return 0
        return _value(platform, self.key, self.size)


@dataclass(frozen=True)
class CataloguedDesign:
    """A design of the study.

    Attributes:
        arrays: all that it has behind L1, or none if one has no energy.
        design: of the simulator, if it has another name.
        changes: keys of the platform and their values.
    """

    name: str
    sentence: str
    arrays: tuple[Array, ...] = ()
    design: str = ""
    changes: dict[str, int] = field(default_factory=dict)

    @property
    def values(self) -> dict[str, int | str]:
        """All changes of the platform that select this design."""
        return {"mmu.design": self.design or self.name} | self.changes


def _second_level(*structures: str) -> Array:
    return Array("tlb", structures, "tlb.stlb.entries", 0, ("tlb.stlb.ways", 8))


def _candidates(section: str) -> tuple[Array, ...]:
    """Filters and synonym TLB of hybrid virtual caching: two filters, two reads of each."""
    return (
        Array("synonym-filter", ("synonym-filter",), "", 1024, reads=4, copies=2),
        Array(
            "synonym-tlb", ("synonym-tlb",), f"{section}.synonym_entries", 64, (f"{section}.synonym_ways", 4)
        ),
    )


_DELAYED, _SEGMENTS = "design.hvc-delayed-tlb", "design.hvc-many-segment"
_DELAYED_ARRAYS = (
    *_candidates(_DELAYED),
    Array("tlb", ("delayed-tlb",), f"{_DELAYED}.entries", 1024, (f"{_DELAYED}.ways", 8)),
)
_SEGMENT_CACHE = Array("segment-cache", ("segment-cache",), f"{_SEGMENTS}.sc_entries", 128)
_SEGMENT_ARRAYS = (
    *_candidates(_SEGMENTS),
    Array(
        "index-cache",
        ("index-cache",),
        f"{_SEGMENTS}.index_cache_bytes",
        32768,
        (f"{_SEGMENTS}.index_cache_ways", 8),
    ),
    Array("segment-table", ("segment-table",), "", 2048),
)
DESIGNS: tuple[CataloguedDesign, ...] = (
    CataloguedDesign(BASELINE_DESIGN, "two levels of TLBs on 4KB pages only", (_second_level(SECOND_LEVEL),)),
    CataloguedDesign(THP, "the same on the pages of the mapping", (_second_level(SECOND_LEVEL),)),
    CataloguedDesign("cluster", "an array of 4KB pages and an array of groups of eight"),
    CataloguedDesign("cluster-2mb", "cluster, with 2MB pages in the array of pages"),
    CataloguedDesign("rmm", "thp and 32 ranges beside it"),
    CataloguedDesign(
        "anchor",
        "one array for pages and anchors; the distance is chosen once, by the reading count of Algorithm 1",
        (_second_level("regular", "anchor"),),
    ),
    CataloguedDesign("direct-segment", "the largest chunk needs no TLB; thp outside it"),
    CataloguedDesign(
        "hvc-delayed-tlb", "virtually addressed caches, and a TLB of 1,024 entries behind L3", _DELAYED_ARRAYS
    ),
    CataloguedDesign(
        "hvc-many-segment",
        "virtually addressed caches, and up to 2,048 segments behind L3",
        (*_SEGMENT_ARRAYS, _SEGMENT_CACHE),
    ),
    CataloguedDesign(IDEAL, "every data access hits in L1: the bound"),
)
DESIGN_NAMES = tuple(one.name for one in DESIGNS)
DESIGN_VARIANTS: tuple[CataloguedDesign, ...] = (
    CataloguedDesign(
        "hvc-delayed-tlb-32k",
        "hvc-delayed-tlb with 32,768 entries",
        _DELAYED_ARRAYS,
        "hvc-delayed-tlb",
        {f"{_DELAYED}.entries": 32768},
    ),
    CataloguedDesign(
        "hvc-many-segment-no-sc",
        "hvc-many-segment without its segment cache",
        _SEGMENT_ARRAYS,
        "hvc-many-segment",
        {f"{_SEGMENTS}.sc_entries": 0},
    ),
    CataloguedDesign(
        "hvc-many-segment-8kb",
        "hvc-many-segment with an index cache of 8KB",
        (),
        "hvc-many-segment",
        {f"{_SEGMENTS}.index_cache_bytes": 8192},
    ),
)
#: Designs whose second level is not among their structures.
HIDDEN_SECOND_LEVEL = (BASELINE_DESIGN, THP)


def named_design(name: str) -> CataloguedDesign:
    """The row of a design or variant; any other name is a design of the simulator, without energy."""
    return next((one for one in (*DESIGNS, *DESIGN_VARIANTS) if one.name == name), CataloguedDesign(name, ""))


def arrays_of(design: str) -> tuple[Array, ...]:
    """The arrays of a design or variant; none for one that is not listed."""
    return named_design(design).arrays


def behind_l3(design: str) -> bool:
    """Whether a design translates behind L3, so that its misses are none of a TLB before L1D."""
    return str(named_design(design).values["mmu.design"]).startswith("hvc-")


def _value(platform: Platform, key: str, default: int) -> int:
    found = platform.values.get(key)
    return default if found is None else int(found.value)


# Energy of the arrays of a design: reads x energy of a read + leakage x R / frequency.
#
# ``design_energy.csv`` has what CACTI gives for each array; all its values are assumed, because no source of
# the designs prints them.

ENERGY_FILE = Path(__file__).with_name("design_energy.csv")
FREQUENCY = "core.frequency_hz"
_NJ_OF_PJ, _NJ_OF_MJ = 1e-3, 1e6  #: mW x s = mJ


@dataclass(frozen=True)
class ArrayEnergy:
    """Of one array."""

    read_pj: float
    leakage_mw: float


@cache
def energy_by_size() -> dict[tuple[str, int], ArrayEnergy]:
    """(kind of array, its size in entries, bytes or bits) -> cost."""
    with ENERGY_FILE.open(encoding="utf-8", newline="") as stream:
        return {
            (row["array"], int(row["size"])): ArrayEnergy(float(row["read_pj"]), float(row["leakage_mw"]))
            for row in csv.DictReader(stream)
        }


def array_energy(array: Array, platform: Platform) -> ArrayEnergy | None:
    """None: ``design_energy.csv`` has no such size."""
    return energy_by_size().get((array.kind, array.size_on(platform)))


def read_energy_nj(design: str, structure: str, accesses: int, platform: Platform) -> float | None:
    """Energy of the reads of one structure; None: it is not known."""
    for array in arrays_of(design):
        if structure in array.structures and (cost := array_energy(array, platform)):
            return accesses * array.reads * cost.read_pj * _NJ_OF_PJ
    return None


def leakage_nj(design: str, runtime_cycles: float, platform: Platform) -> float | None:
    """Leakage of all arrays of a design during R; None: an array is not known, or there is none."""
    found = [(array, array_energy(array, platform)) for array in arrays_of(design)]
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
