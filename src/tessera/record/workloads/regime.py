"""Is a workload large for a platform? Two ratios that say which regime of the paper a size is in.

Above 1, a random access misses the TLB (first ratio) and a page walk misses the L3 (second ratio): 64 MB of
leaf page-table entries at 32 GB do not fit a 15 MB L3, 2 MB of them at 1 GB do.
"""

from __future__ import annotations

from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.platforms import Platform
from tessera.record.workloads.model import Workload

LEAF_ENTRY_BYTES = 8  #: one page-table entry per 4KB page


@dataclass(frozen=True)
class Regime:
    """Ratios of a workload's footprint to what a platform's hardware covers."""

    footprint_per_4kb_reach: float  #: / bytes that the STLB covers with 4KB pages
    footprint_per_2mb_reach: float  #: / bytes that the TLB covers with 2MB pages
    leaf_entries_per_l3: float  #: bytes of leaf page-table entries / bytes of L3


def regime(workload: Workload, label: str, platform: Platform) -> Regime:
    """The ratios of one size on one platform."""
    footprint = workload.size(label).footprint
    shared = _number(platform, "tlb.stlb.holds_2mb")
    entries_2mb = _number(platform, "tlb.stlb.entries" if shared else "tlb.l1d.2mb.entries")
    return Regime(
        footprint / (_number(platform, "tlb.stlb.entries") * PAGE_4KB),
        footprint / (entries_2mb * PAGE_2MB),
        footprint / PAGE_4KB * LEAF_ENTRY_BYTES / _number(platform, "cache.l3.bytes"),
    )


def _number(platform: Platform, key: str) -> int:
    if key not in platform.values:
        raise TesseraError(
            f"regime on platform {platform.name}", f"it has no {key}", "complete the platform file"
        )
    return int(platform.values[key].value)
