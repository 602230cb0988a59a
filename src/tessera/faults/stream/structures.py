"""Which structure of Linux an accessed line belongs to.

Sources: the map of virtual memory (Documentation/arch/x86/x86_64/mm.rst, four levels, no randomisation);
symbols of the kernel's image and of its per-CPU area; for the direct map, what is known of the frame: a cache
of the slab allocator, a page table, a page.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

PAGE = 4096
USER_END = 1 << 47
DIRECT_MAP, DIRECT_MAP_END = 0xFFFF_8880_0000_0000, 0xFFFF_C880_0000_0000
VMALLOC, VMALLOC_END = 0xFFFF_C900_0000_0000, 0xFFFF_E900_0000_0000
VMEMMAP, VMEMMAP_END = 0xFFFF_EA00_0000_0000, 0xFFFF_EB00_0000_0000
ENTRY_AREA, ENTRY_AREA_END = 0xFFFF_FE00_0000_0000, 0xFFFF_FE80_0000_0000
IMAGE = 0xFFFF_FFFF_8000_0000
STRUCT_PAGE = 64

#: Cache of the slab allocator -> structure. Others are "slab: <cache>".
CACHES = {
    "mm_struct": "mm", "vm_area_struct": "VMA", "vma_lock": "VMA", "maple_node": "VMA tree",
    "anon_vma": "anon_vma", "anon_vma_chain": "anon_vma", "task_struct": "task",
    "kmem_cache": "slab allocator",
    "kmem_cache_node": "slab allocator", "radix_tree_node": "page cache", "filp": "file",
    "ext2_inode_cache": "page cache",
}  # fmt: skip
#: Variable -> structure, in the image and in the per-CPU area. Others are "kernel data" and "per-CPU data".
VARIABLES = {
    "cpu_fbatches": "LRU batch", "vm_event_states": "counters", "memcg_stock": "memcg",
    "vm_zone_stat": "counters", "vm_node_stat": "counters", "vm_numa_event": "counters",
    "root_mem_cgroup": "memcg",
}  # fmt: skip


@dataclass(frozen=True)
class Range:
    """Virtual addresses of a structure; ``end`` is exclusive."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Facts:
    """What is known of a guest.

    Attributes:
        ranges: structures with known addresses; of nested ones, the inner one counts.
        symbols: (address, name) of the image, sorted.
        percpu_symbols: (offset, name) of the static per-CPU area, sorted.
        percpu_base: address of the per-CPU area.
        percpu_bytes: of its static part.
        caches: frame -> cache of the slab allocator.
        tables: frame -> level of a page table (1 for last-level tables); 0 if unknown.
        pages: frames of user pages.
    """

    ranges: Sequence[Range] = ()
    symbols: Sequence[tuple[int, str]] = ()
    percpu_symbols: Sequence[tuple[int, str]] = ()
    percpu_base: int = 0
    percpu_bytes: int = 0
    caches: Mapping[int, str] = field(default_factory=dict)
    tables: Mapping[int, int] = field(default_factory=dict)
    pages: frozenset[int] = frozenset()


class Structures:
    """Names of accesses in one guest."""

    def __init__(self, facts: Facts):
        self._facts = facts
        # Inner ranges are shorter: the first match counts.
        self._ranges = sorted(facts.ranges, key=lambda one: one.end - one.start)

    def name(self, virtual: int, physical: int, touched: range) -> str:
        """The structure at an address.

        Args:
            touched: physical addresses of the page that the program touched.
        """
        if virtual < USER_END:
            return "user memory"
        for one in self._ranges:
            if one.start <= virtual < one.end:
                return one.name
        if VMEMMAP <= virtual < VMEMMAP_END:
            return self._struct_page(virtual, touched)
        if ENTRY_AREA <= virtual < ENTRY_AREA_END:
            return "entry stack"
        if VMALLOC <= virtual < VMALLOC_END:
            return "vmalloc"
        if virtual >= IMAGE:
            return self._variable(self._facts.symbols, virtual, "kernel data")
        if DIRECT_MAP <= virtual < DIRECT_MAP_END:
            return self._direct(virtual, physical, touched)
        return "other"

    def _struct_page(self, virtual: int, touched: range) -> str:
        frame = (virtual - VMEMMAP) // STRUCT_PAGE
        return "struct page" if frame * PAGE in touched else "struct page of another"

    def _direct(self, virtual: int, physical: int, touched: range) -> str:
        facts, frame = self._facts, physical // PAGE
        offset = virtual - facts.percpu_base
        if 0 <= offset < facts.percpu_bytes:
            return self._variable(facts.percpu_symbols, offset, "per-CPU data")
        if physical in touched:
            return "page"
        if frame in facts.tables:
            level = facts.tables[frame]
            return f"page table {level}" if level else "page table"
        if frame in facts.caches:
            cache = facts.caches[frame]
            return CACHES.get(cache, f"slab: {cache}")
        return "another page" if frame in facts.pages else "other"

    def _variable(self, symbols: Sequence[tuple[int, str]], address: int, otherwise: str) -> str:
        at = bisect.bisect_right(symbols, address, key=lambda one: one[0]) - 1
        return VARIABLES.get(symbols[at][1], otherwise) if at >= 0 else otherwise
