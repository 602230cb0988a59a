"""The designs that the study compares by default, and the arrays whose energy is known (``energy.csv``).

A design that is not in :data:`DESIGNS` can be compared, too: it has no energy. Energy is that of the data
side behind L1: L1 TLBs, caches, page walks and code pages are not counted. A design with an array that
``energy.csv`` lacks (ranges, clusters, a segment's registers) has no energy, because a sum without it would
favour the design.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """A design of the study; ``arrays`` are all that it has behind L1, or none if one has no energy."""

    name: str
    sentence: str
    arrays: tuple[Array, ...] = ()


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
        "hvc-delayed-tlb",
        "virtually addressed caches, and a TLB behind L3",
        (
            *_candidates(_DELAYED),
            Array("tlb", ("delayed-tlb",), f"{_DELAYED}.entries", 1024, (f"{_DELAYED}.ways", 8)),
        ),
    ),
    Compared(
        "hvc-many-segment",
        "virtually addressed caches, and up to 2,048 segments behind L3",
        (
            *_candidates(_SEGMENTS),
            Array("segment-cache", ("segment-cache",), f"{_SEGMENTS}.sc_entries", 128),
            Array(
                "index-cache",
                ("index-cache",),
                f"{_SEGMENTS}.index_cache_bytes",
                32768,
                (f"{_SEGMENTS}.index_cache_ways", 8),
            ),
            Array("segment-table", ("segment-table",), "", 2048),
        ),
    ),
    Compared(IDEAL, "every data access hits in L1: the bound"),
)
NAMES = tuple(one.name for one in DESIGNS)
#: Designs whose second level is not among their structures.
HIDDEN_SECOND_LEVEL = (BASELINE, THP)


def arrays_of(design: str) -> tuple[Array, ...]:
    """The arrays of a design; none for one that is not in :data:`DESIGNS`."""
    return next((one.arrays for one in DESIGNS if one.name == design), ())


def _value(platform: Platform, key: str, default: int) -> int:
    found = platform.values.get(key)
    return default if found is None else int(found.value)
