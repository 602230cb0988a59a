"""Read from a stopped guest what :mod:`tessera.lab.faults.recording` needs.

Sources in Linux 6.12: struct page and enum pagetype (include/linux/mm_types.h, page-flags.h), struct slab
and kmem_cache (mm/slab.h), percpu pointers (include/linux/percpu-defs.h), mem_cgroup
(include/linux/memcontrol.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.faults.recording import DIRECT_MAP, VMEMMAP, Facts, Range
from tessera.lab.kernel.guest import Look
from tessera.lab.kernel.page_tables import walk
from tessera.lab.oracle.guest_memory import KernelMemory

THREAD_BYTES = 4 * 4096  # THREAD_SIZE, arch/x86/include/asm/page_64_types.h
TYPE_TABLE, TYPE_SLAB = 0xF2, 0xF5  # enum pagetype, the highest byte of page->page_type
#: Counters of a process's pages in mm->rss_stat (NR_MM_COUNTERS).
MM_COUNTERS = 4
MOST_OF_A_LIST = 10_000
#: Low bits of page->memcg_data say what else the pointer may be: 0 for a page's memcg.
MEMCG_BITS = 7


def symbols_of(system_map: Path) -> dict[str, int]:
    """Symbols of a kernel; of equal names the first."""
    found: dict[str, int] = {}
    for line in system_map.read_text().splitlines():
        address, _, name = line.split()
        found.setdefault(name, int(address, 16))
    return found


class GuestReader:
    """Reads one guest at one moment.

    Args:
        symbols: of its kernel.
        structs: layouts, as ``artifacts/kernel-stream/describe.py`` prints them.
        look: the stopped guest.
        frames: of the guest's memory, from 0.
        program: name of the process whose faults were recorded.
    """

    def __init__(
        self,
        symbols: Mapping[str, int],
        structs: Mapping[str, dict],
        look: Look,
        frames: int,
        program: str,
    ):
        self._symbols, self._structs, self._look, self._frames = symbols, structs, look, frames
        self._memory = KernelMemory(look.memory, look.processors[0])
        self._base = self._pointer(symbols["__per_cpu_offset"])
        self._task = self._find_task(program)

    def facts(self) -> Facts:
        """Everything."""
        words = self._struct_pages()
        word, inside = divmod(self._offset("page", "page_type"), 8)
        kinds = words[:, word] >> np.uint64(8 * inside + 24) & np.uint64(0xFF)
        sorted_symbols = sorted((address, name) for name, address in self._symbols.items())
        static = self._symbols["__per_cpu_end"]
        return Facts(
            ranges=list(self._ranges(words, kinds)),
            symbols=[one for one in sorted_symbols if one[0] >= 1 << 63],
            percpu_symbols=[one for one in sorted_symbols if one[0] < static],
            percpu_base=self._base,
            percpu_bytes=static,
            caches=self._caches(words, kinds),
            tables=self._tables(kinds),
            pages=frozenset(np.flatnonzero(self._user_pages(words, kinds)).tolist()),
        )

    # struct page

    def _struct_pages(self) -> np.ndarray:
        """Words of struct page, shape (frames, 8); those of a compound page's tails are its head's."""
        size = self._size("page")
        raw = self._memory.read(VMEMMAP, self._frames * size)
        words = raw.view(np.uint64).reshape(self._frames, size // 8).copy()
        link = words[:, self._offset("page", "compound_head") // 8]
        tails = np.flatnonzero(link & np.uint64(1))
        heads = (link[tails] - np.uint64(1) - np.uint64(VMEMMAP)) // np.uint64(size)
        inside = heads < self._frames
        words[tails[inside]] = words[heads[inside].astype(np.int64)]
        return words

    def _user_pages(self, words: np.ndarray, kinds: np.ndarray) -> np.ndarray:
        mapping = words[:, self._offset("page", "mapping") // 8]
        return (mapping != 0) & (kinds != TYPE_SLAB) & (kinds != TYPE_TABLE)

    def _caches(self, words: np.ndarray, kinds: np.ndarray) -> dict[int, str]:
        names = self._cache_names()
        pointers = words[:, self._offset("slab", "slab_cache") // 8]
        found = {}
        for frame in np.flatnonzero(kinds == TYPE_SLAB).tolist():
            name = names.get(int(pointers[frame]))
            if name is not None:
                found[frame] = name
        return found

    def _tables(self, kinds: np.ndarray) -> dict[int, int]:
        found = {frame: 0 for frame in np.flatnonzero(kinds == TYPE_TABLE).tolist()}
        mm = self._pointer(self._task + self._offset("task_struct", "mm"))
        root = self._pointer(mm + self._offset("mm_struct", "pgd")) - DIRECT_MAP
        for level, one in walk(self._look.memory, root).levels.items():
            found |= {int(address) // 4096: level for address in one.physical}
        return found

    # structures with known addresses

    def _ranges(self, words: np.ndarray, kinds: np.ndarray) -> Iterator[Range]:
        stack = self._pointer(self._task + self._offset("task_struct", "stack"))
        yield Range(stack, stack + THREAD_BYTES, "stack")
        mm = self._pointer(self._task + self._offset("task_struct", "mm"))
        for index in range(MM_COUNTERS):
            counter = mm + self._offset("mm_struct", "rss_stat") + index * self._size("percpu_counter")
            yield self._percpu(counter + self._offset("percpu_counter", "counters"), 4, "mm")
        yield from self._node()
        for memcg in self._memcgs(words, kinds):
            yield from self._memcg(memcg)
        for cache in self._cache_addresses():
            yield self._percpu(cache + self._offset("kmem_cache", "cpu_slab"), 64, "slab allocator")

    def _node(self) -> Iterator[Range]:
        node = self._symbols["contig_page_data"]
        yield Range(node, node + self._size("pglist_data"), "zone")
        lruvec = node + self._offset("pglist_data", "__lruvec")
        yield Range(lruvec, lruvec + self._size("lruvec"), "LRU list")
        counters = node + self._offset("pglist_data", "vm_stat")
        yield Range(counters, node + self._size("pglist_data"), "counters")
        stats = node + self._offset("pglist_data", "per_cpu_nodestats")
        yield self._percpu(stats, self._size("per_cpu_nodestat"), "counters")
        for index in range(3):  # DMA, DMA32, Normal
            zone = node + self._offset("pglist_data", "node_zones") + index * self._size("zone")
            lists = zone + self._offset("zone", "per_cpu_pageset")
            yield self._percpu(lists, self._size("per_cpu_pages"), "per-CPU page list")
            counters = zone + self._offset("zone", "per_cpu_zonestats")
            yield self._percpu(counters, self._size("per_cpu_zonestat"), "counters")

    def _memcgs(self, words: np.ndarray, kinds: np.ndarray) -> set[int]:
        """The root, and what user pages are charged to."""
        found = words[:, self._offset("page", "memcg_data") // 8][self._user_pages(words, kinds)]
        plain = found[(found & np.uint64(MEMCG_BITS) == 0) & (found >= np.uint64(1 << 63))]
        return {self._pointer(self._symbols["root_mem_cgroup"]), *np.unique(plain).tolist()}

    def _memcg(self, memcg: int) -> Iterator[Range]:
        yield Range(memcg, memcg + self._size("mem_cgroup"), "memcg")
        stats = self._pointer(memcg + self._offset("mem_cgroup", "vmstats"))
        yield Range(stats, stats + self._size("memcg_vmstats"), "memcg")
        percpu = memcg + self._offset("mem_cgroup", "vmstats_percpu")
        yield self._percpu(percpu, self._size("memcg_vmstats_percpu"), "memcg")
        yield self._references(memcg + self._offset("mem_cgroup", "css"), "cgroup_subsys_state")
        objects = self._pointer(memcg + self._offset("mem_cgroup", "objcg"))
        if objects:
            yield Range(objects, objects + self._size("obj_cgroup"), "memcg")
            yield self._references(objects, "obj_cgroup")
        css = memcg + self._offset("mem_cgroup", "css")
        cgroup = self._pointer(css + self._offset("cgroup_subsys_state", "cgroup"))
        yield Range(cgroup, cgroup + self._size("cgroup"), "memcg")
        percpu = cgroup + self._offset("cgroup", "rstat_cpu")
        yield self._percpu(percpu, self._size("cgroup_rstat_cpu"), "memcg")
        node = self._pointer(memcg + self._offset("mem_cgroup", "nodeinfo"))
        yield Range(node, node + self._size("mem_cgroup_per_node"), "memcg")
        lruvec = node + self._offset("mem_cgroup_per_node", "lruvec")
        yield Range(lruvec, lruvec + self._size("lruvec"), "LRU list")
        stats = self._pointer(node + self._offset("mem_cgroup_per_node", "lruvec_stats"))
        yield Range(stats, stats + self._size("lruvec_stats"), "memcg")
        percpu = node + self._offset("mem_cgroup_per_node", "lruvec_stats_percpu")
        yield self._percpu(percpu, self._size("lruvec_stats_percpu"), "memcg")

    def _references(self, address: int, struct: str) -> Range:
        """The per-CPU part of a struct's reference count."""
        pointer = self._offset(struct, "refcnt") + self._offset("percpu_ref", "percpu_count_ptr")
        return self._percpu(address + pointer, 8, "memcg")

    def _percpu(self, address: int, bytes_: int, name: str) -> Range:
        """What the per-CPU pointer at an address leads to, on the guest's processor.

        The two lowest bits of a reference count's pointer are flags.
        """
        start = (self._pointer(address) & ~3) + self._base & (1 << 64) - 1
        return Range(start, start + bytes_, name)

    # lists

    def _find_task(self, program: str) -> int:
        for task in self._list(
            self._symbols["init_task"] + self._offset("task_struct", "tasks"), "task_struct", "tasks"
        ):
            name = self._memory.read(task + self._offset("task_struct", "comm"), 16).tobytes()
            if name.split(b"\0")[0].decode(errors="replace") == program[:15]:
                return task
        raise TesseraError(
            f"the process {program} of the guest",
            "no task has this name",
            "compare the layouts with the kernel that the guest booted",
            exit_code=EXIT_FAILED,
        )

    def _cache_addresses(self) -> Iterator[int]:
        return self._list(self._symbols["slab_caches"], "kmem_cache", "list")

    def _list(self, head: int, struct: str, member: str) -> Iterator[int]:
        """Structs of a circular list (struct list_head), without its head."""
        link = self._pointer(head)
        for _ in range(MOST_OF_A_LIST):
            if link == head:
                return
            yield link - self._offset(struct, member)
            link = self._pointer(link)
        raise TesseraError(
            f"the guest's list of {struct}",
            f"it has no end after {MOST_OF_A_LIST}",
            "compare the layouts with the kernel that the guest booted",
            exit_code=EXIT_FAILED,
        )

    def _cache_names(self) -> dict[int, str]:
        found = {}
        for cache in self._cache_addresses():
            raw = self._memory.read(self._pointer(cache + self._offset("kmem_cache", "name")), 64)
            found[cache] = raw.tobytes().split(b"\0")[0].decode(errors="replace")
        return found

    # memory

    def _pointer(self, address: int) -> int:
        return self._memory.number(address)

    def _offset(self, struct: str, member: str) -> int:
        return self._structs[struct]["members"][member]

    def _size(self, struct: str) -> int:
        return self._structs[struct]["size"]
