"""The designs that the study compares by default, their arrays, and the energy of the arrays."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from tessera.core.platforms import Platform

# The designs, and the arrays whose energy is known (``design_energy.csv``).
#
# A design that is not in :data:`DESIGNS` can be compared, too: it has no energy. Energy is that of the
# translation of data; caches, page walks and code pages are not counted. A design with an array that
# ``design_energy.csv`` lacks (ranges, clusters, a segment's registers) has no energy, because a sum without
# it would favour the design. Arrays that cores could share (Park, 2.4.4: the index cache) leak in full.
#
# :data:`DESIGN_VARIANTS` are designs with other values of one or two keys. They have names of their own, so
# that tables and claims tell them apart; a study asks for them by name.

BASELINE_DESIGN, THP, IDEAL = "baseline", "thp", "ideal"
#: The L1 DTLB, which no design lists among its structures; each access reads it.
FIRST_LEVEL = "first-level"
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
        arrays: all that translate data, or none if one has no energy.
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


def _two_levels(*structures: str, page_sizes: int) -> tuple[Array, ...]:
    """L1 DTLB and second level.

    An access reads the L1 arrays of all page sizes at once. That of 2MB pages (32 entries) is taken for one
    of 64, which has the size of Park's synonym TLB.
    """
    l1 = Array(
        "synonym-tlb",
        (FIRST_LEVEL,),
        "tlb.l1d.4kb.entries",
        0,
        ("tlb.l1d.4kb.ways", 4),
        reads=page_sizes,
        copies=page_sizes,
    )
    return l1, Array("tlb", structures, "tlb.stlb.entries", 0, ("tlb.stlb.ways", 8))


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
    CataloguedDesign(
        BASELINE_DESIGN, "two levels of TLBs on 4KB pages only", _two_levels(SECOND_LEVEL, page_sizes=1)
    ),
    CataloguedDesign(THP, "the same on the pages of the mapping", _two_levels(SECOND_LEVEL, page_sizes=2)),
    CataloguedDesign("cluster", "an array of 4KB pages and an array of groups of eight"),
    CataloguedDesign("cluster-2mb", "cluster, with 2MB pages in the array of pages"),
    CataloguedDesign("rmm", "thp and 32 ranges beside it"),
    CataloguedDesign(
        "anchor",
        "one array for pages and anchors; the distance is chosen once, by the reading count of Algorithm 1",
        _two_levels("regular", "anchor", page_sizes=2),
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
_VARIANTS: tuple[CataloguedDesign, ...] = (
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
    CataloguedDesign(
        "hvc-many-segment-virtualized",
        "hvc-many-segment in a virtual machine: segments of the guest, then those of the host",
        (),
        "hvc-many-segment",
        {f"{_SEGMENTS}.dimensions": 2},
    ),
    CataloguedDesign(
        "nested-4kb",
        "nested on 4KB pages only: walks of up to 24 loads",
        (),
        "nested",
        {"design.nested.only_4kb": 1},
    ),
)
#: Designs that walk and whose R Park's claims read. His Table 2.4 calls TLBs non-blocking and prints no
#: number of walkers. Many segments walk for code and for data outside the pools; :data:`IDEAL` never walks.
_WALKED = (
    BASELINE_DESIGN,
    "hvc-delayed-tlb",
    "hvc-many-segment",
    "hvc-many-segment-no-sc",
    "hvc-many-segment-virtualized",
    "nested-4kb",
)
#: end of the name -> ``walker.count``, in which 0 is any number
WALKERS = {"2-walkers": 2, "any-walkers": 0}
WALKERS_IN_WORDS = {"2-walkers": "2 walkers", "any-walkers": "any number of walkers"}


def _with_walkers(one: CataloguedDesign, words: str) -> CataloguedDesign:
    return replace(
        one,
        name=f"{one.name}-{words}",
        sentence=f"{one.name} with {WALKERS_IN_WORDS[words]}",
        design=one.design or one.name,
        changes=one.changes | {"walker.count": WALKERS[words]},
    )


DESIGN_VARIANTS: tuple[CataloguedDesign, ...] = (
    *_VARIANTS,
    *(
        _with_walkers(one, words)
        for one in (*DESIGNS, *_VARIANTS)
        if one.name in _WALKED
        for words in WALKERS
    ),
)
VARIANT_NAMES = tuple(one.name for one in DESIGN_VARIANTS)


def named_design(name: str) -> CataloguedDesign:
    """The row of a design or variant; any other name is a design of the simulator, without energy."""
    return next((one for one in (*DESIGNS, *DESIGN_VARIANTS) if one.name == name), CataloguedDesign(name, ""))


def arrays_of(design: str) -> tuple[Array, ...]:
    """The arrays of a design or variant; none for one that is not listed."""
    return named_design(design).arrays


def hides(design: str, level: str) -> bool:
    """Whether a design reads a level (:data:`FIRST_LEVEL`, :data:`SECOND_LEVEL`) that it does not list."""
    return any(level in array.structures for array in arrays_of(design))


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
