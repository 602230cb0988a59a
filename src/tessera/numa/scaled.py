"""The scaled machine: a platform whose L3, STLB and walk caches are as much smaller as a program's footprint.

The programs of Mitosis need 32 GB to 85 GB. With 1/k of the footprint, page tables fit in an L3 of 35 MB, and
walks never reach memory. On the scaled machine, L3, STLB and page-walk caches have 1/k of their entries, so
they cover the same share of the footprint as the whole ones of the paper's. k = 14 leaves one slice of L3.

Not scaled: L1 TLBs, L1 and L2 caches, which hold what a program uses again at once (for example its stack, of
the same size with every footprint), latencies, rates, and the hog.
"""

from __future__ import annotations

from dataclasses import replace

from tessera.core.errors import TesseraError
from tessera.platforms import Platform
from tessera.platforms.change import with_values

LINE_BYTES = 64
ARRAYS = ("tlb.stlb", "pwc.pde", "pwc.pdpte", "pwc.pml4e")  #: keys ``.entries`` and ``.ways``
SMALLEST_L3 = 4  #: in L2 caches: below, L3 would add little to L2


def smaller(entries: int, ways: int, scale: float) -> tuple[int, int]:
    """Entries and ways of an array with 1/scale of the entries; it has fewer ways only below one set."""
    wanted = max(1, round(entries / scale))
    ways = min(ways, wanted)
    return max(1, round(wanted / ways)) * ways, ways


def scaled(platform: Platform, scale: float) -> Platform:
    """The platform with 1/scale of its L3, STLB and walk caches, named ``<platform>-by-<scale>``.

    ``scale`` 1 is the platform itself.

    Raises:
        TesseraError: a scale below 1, or one that leaves an L3 smaller than :data:`SMALLEST_L3` L2 caches.
    """
    if not scale >= 1:
        raise TesseraError(
            f"a machine scaled by {scale:g}",
            "the scale must be at least 1: the published footprint over that of the trace",
            "correct --scale, for example 14",
            code="numa-scale",
        )
    if scale == 1:
        return platform
    value = {key: one.value for key, one in platform.values.items()}
    keys = {}
    for array in ARRAYS:
        if entries := int(value.get(f"{array}.entries", 0)):
            made = smaller(entries, int(value[f"{array}.ways"]), scale)
            keys[f"{array}.entries"], keys[f"{array}.ways"] = made
    ways, slices = int(value["cache.l3.ways"]), int(value.get("cache.l3.slices", 0))
    if slices:
        keys["cache.l3.slices"] = max(1, round(slices / scale))
    step = ways * LINE_BYTES * keys.get("cache.l3.slices", 1)  # one set of each slice
    keys["cache.l3.bytes"] = max(1, round(int(value["cache.l3.bytes"]) / scale / step)) * step
    least = SMALLEST_L3 * int(value["cache.l2.bytes"])
    if keys["cache.l3.bytes"] < least:
        raise TesseraError(
            f"{platform.name} scaled by {scale:g}",
            f"its L3 would have {keys['cache.l3.bytes']} bytes, less than {least}: {SMALLEST_L3} times L2",
            "record a larger size of the program, which needs a smaller scale",
            code="numa-scale-l3",
        )
    why = f"assumed: 1/{scale:g} of {platform.name}, as the footprint (docs/numa.md, The scaled machine)"
    return replace(with_values(platform, keys, why), name=f"{platform.name}-by-{scale:g}")
