"""The designs that the study compares by default, and the arrays whose energy is known (``energy.csv``).

A design that is not in :data:`DESIGNS` can be compared, too: it has no energy. Energy is that of the data
side behind L1: L1 TLBs, caches, page walks and code pages are not counted. A design with an array that
``energy.csv`` lacks (ranges, clusters, a segment's registers) has no energy, because a sum without it would
favour the design.

:data:`VARIANTS` are designs with another size of one structure. They have names of their own, so that tables
and claims tell them apart; a study asks for them by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tessera.platforms import Platform

BASELINE, THP, IDEAL = "baseline", "thp", "ideal"
#: The second level of a design that does not list it among its structures; its accesses are H + M.
SECOND_LEVEL = "second-level"


@dataclass(frozen=True)
class Array:
    """An array of a design.

    Attributes:
        kind: in ``energy.csv``.
        structures: of ``tessera-sim run --designs-out``; each access of each reads the array.
        key: of the platform, gives the size; ``size`` if the platform leaves it out, or if there is no key.
        ways: key and value that ``energy.csv`` is for; another value has no energy.
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
        """Entries or bytes on the platform; 0 if its ways differ from those of ``energy.csv``."""
        key, ways = self.ways
        if key and _value(platform, key, ways) != ways:
            return 0
        return _value(platform, self.key, self.size)


@dataclass(frozen=True)
class Compared:
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
DESIGNS: tuple[Compared, ...] = (
    Compared(BASELINE, "two levels of TLBs on 4KB pages only", (_second_level(SECOND_LEVEL),)),
    Compared(THP, "the same on the pages of the mapping", (_second_level(SECOND_LEVEL),)),
    Compared("cluster", "an array of 4KB pages and an array of groups of eight"),
    Compared("cluster-2mb", "cluster, with 2MB pages in the array of pages"),
    Compared("rmm", "thp and 32 ranges beside it"),
    Compared(
        "anchor",
        "one array for pages and anchors; the distance is chosen once, by the reading count of Algorithm 1",
        (_second_level("regular", "anchor"),),
    ),
    Compared("direct-segment", "the largest chunk needs no TLB; thp outside it"),
    Compared(
        "hvc-delayed-tlb", "virtually addressed caches, and a TLB of 1,024 entries behind L3", _DELAYED_ARRAYS
    ),
    Compared(
        "hvc-many-segment",
        "virtually addressed caches, and up to 2,048 segments behind L3",
        (*_SEGMENT_ARRAYS, _SEGMENT_CACHE),
    ),
    Compared(IDEAL, "every data access hits in L1: the bound"),
)
NAMES = tuple(one.name for one in DESIGNS)
VARIANTS: tuple[Compared, ...] = (
    Compared(
        "hvc-delayed-tlb-32k",
        "hvc-delayed-tlb with 32,768 entries",
        _DELAYED_ARRAYS,
        "hvc-delayed-tlb",
        {f"{_DELAYED}.entries": 32768},
    ),
    Compared(
        "hvc-many-segment-no-sc",
        "hvc-many-segment without its segment cache",
        _SEGMENT_ARRAYS,
        "hvc-many-segment",
        {f"{_SEGMENTS}.sc_entries": 0},
    ),
    Compared(
        "hvc-many-segment-8kb",
        "hvc-many-segment with an index cache of 8KB",
        (),
        "hvc-many-segment",
        {f"{_SEGMENTS}.index_cache_bytes": 8192},
    ),
)
#: Designs whose second level is not among their structures.
HIDDEN_SECOND_LEVEL = (BASELINE, THP)


def named(name: str) -> Compared:
    """The row of a design or variant; any other name is a design of the simulator, without energy."""
    return next((one for one in (*DESIGNS, *VARIANTS) if one.name == name), Compared(name, ""))


def arrays_of(design: str) -> tuple[Array, ...]:
    """The arrays of a design or variant; none for one that is not listed."""
    return named(design).arrays


def behind_l3(design: str) -> bool:
    """Whether a design translates behind L3, so that its misses are none of a TLB before L1D."""
    return str(named(design).values["mmu.design"]).startswith("hvc-")


def _value(platform: Platform, key: str, default: int) -> int:
    found = platform.values.get(key)
    return default if found is None else int(found.value)
