"""The state of the guest's page allocator, as the text that ``tessera-phys --snapshot`` reads.

The format is that of ``artifacts/imitation/phys/snapshot.h``, to the byte, without its ``used`` lines: the
kernel does not know the order of blocks in use. Sources in Linux 6.12: struct zone, free_area,
per_cpu_pages, per_cpu_zonestat, mem_section (include/linux/mmzone.h), page flags (include/linux/page-
flags.h), the memory map (arch/x86/include/asm/e820/types.h), get_pfnblock_flags_mask (mm/page_alloc.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.oracle.guest_memory import PAGE_BYTES, KernelMemory, Vmlinux

VMEMMAP = 0xFFFF_EA00_0000_0000  # arch/x86/include/asm/pgtable_64_types.h, four levels, no randomisation
SECTION_FRAMES = 1 << 15  # 128MB, arch/x86/include/asm/sparsemem.h
PAGEBLOCK_ORDER, ORDERS, THP_ORDER = 9, 11, 9
TYPES = ("Unmovable", "Movable", "Reclaimable", "HighAtomic")
MOVABLE = 1
ZONES = ("DMA", "DMA32", "Normal")
E820_RAM = 1
FRAMES_OF_A_LINE = 32
ZONE_FLAGS = ("BELOW_HIGH", "BOOSTED_WATERMARK", "RECLAIM_ACTIVE")
ZONE_FLAG_WORDS = ("below_high", "boosted", "reclaim")
PERCPU_FLAG_WORDS = ("freed_high", "keeps_batch")  # PCPF_PREV_FREE_HIGH_ORDER, PCPF_FREE_HIGH_BATCH


@dataclass(frozen=True)
class Pages:
    """What struct page says of each frame below the end of memory; shapes (frames,).

    Attributes:
        present: RAM that the kernel got from the firmware.
        flags: page->flags; 0 outside the memory sections that have RAM.
        next: where the first list pointer of the page leads: a frame, or -1 for anything but a page.
        head: the raw pointer behind ``next``.
    """

    present: np.ndarray
    flags: np.ndarray
    next: np.ndarray
    head: np.ndarray


class Reader:
    """Reads states of one guest.

    Args:
        vmlinux: of the kernel that the guest runs.
        memory: the kernel's memory; the machine must not run while :meth:`text` works.
        cpus: processors of the guest.
    """

    def __init__(self, vmlinux: Vmlinux, memory: KernelMemory, cpus: int = 1):
        self._kernel, self.memory, self._cpus = vmlinux, memory, cpus
        self._list = vmlinux.offset("page", "buddy_list")
        self._zone_bytes = vmlinux.size("zone")
        self._zones = vmlinux.address("contig_page_data") + vmlinux.offset("pglist_data", "node_zones")
        self._ram = list(self._ram_ranges())
        self._frames = -(-self._ram[-1][1] // 1024) * 1024
        self._reserved: np.ndarray | None = None

    @property
    def frames(self) -> int:
        """Frames below the end of memory, rounded up to 4MB."""
        return self._frames

    def text(self, *, others: bool = False) -> str:
        """The state now.

        Args:
            others: with a ``used`` line for each page of order 0 on an LRU list, so that they can move.
        """
        pages = self._pages()
        types = self._pageblock_types()
        reserved = self._reserved_frames(pages)
        lines = ["tessera-phys 1", f"cpus {self._cpus}"]
        lines.append(f"min_free_kbytes {self._number(self._kernel.address('min_free_kbytes'), 4)}")
        lines.append(f"boost_factor {self._number(self._kernel.address('watermark_boost_factor'), 4)}")
        lines += _runs("ram", pages.present)
        lines += _runs("reserved", reserved)
        lines += _type_runs(types)
        populated = [zone for zone in range(len(ZONES)) if self._zone(zone, "present_pages")]
        lines += [self._zone_line(zone) for zone in populated]
        for zone in populated:
            lines += self._free_lists(zone, pages)
        for zone in populated:
            lines += [self._cpu_line(zone, cpu) for cpu in range(self._cpus)]
        for zone in populated:
            for cpu in range(self._cpus):
                lines += self._percpu_lists(zone, cpu, pages)
        lru = self._lru(pages) & pages.present & ~reserved
        lines += _runs("used 0", lru & (pages.flags & self._flag("PG_head") == 0)) if others else []
        lines += _runs("lru", lru)
        return "\n".join([*lines, "end", ""])

    def zone_counts(self, zone: int) -> dict[str, int]:
        """Counters of a zone that the text does not have: frames spanned, present and managed."""
        names = {"spanned": "spanned_pages", "present": "present_pages", "managed": "managed_pages"}
        return {key: self._zone(zone, member) for key, member in names.items()}

    # struct page

    def _ram_ranges(self) -> Iterator[tuple[int, int]]:
        """First frame and end of each range of whole frames of RAM (struct e820_table)."""
        table = self._number(self._kernel.address("e820_table"), 8)
        for index in range(self._number(table, 4)):
            entry = table + 4 + 20 * index
            address, size = self._number(entry, 8), self._number(entry + 8, 8)
            if self._number(entry + 16, 4) == E820_RAM:
                first, end = -(-address // PAGE_BYTES), (address + size) // PAGE_BYTES
                if end > first:
                    yield first, end

    def _pages(self) -> Pages:
        size = self._kernel.size("page")
        words = np.zeros((self._frames, size // 8), dtype=np.uint64)
        present = np.zeros(self._frames, dtype=bool)
        for first, end in self._ram:
            present[first:end] = True
        for first in range(0, self._frames, SECTION_FRAMES):
            if present[first : first + SECTION_FRAMES].any():
                count = min(SECTION_FRAMES, self._frames - first)
                raw = self.memory.read(VMEMMAP + first * size, count * size)
                words[first : first + count] = raw.view(np.uint64).reshape(count, -1)
        head = words[:, self._list // 8]
        frame = (head - np.uint64(VMEMMAP + self._list)) // np.uint64(size)
        inside = (head >= np.uint64(VMEMMAP)) & (frame < np.uint64(self._frames))
        return Pages(present, words[:, 0], np.where(inside, frame, -1).astype(np.int64), head)

    def _reserved_frames(self, pages: Pages) -> np.ndarray:
        """RAM that the allocator does not manage: the flag ``reserved``. Constant after the boot."""
        if self._reserved is None:
            self._reserved = pages.present & (pages.flags & self._flag("PG_reserved") != 0)
            starts = [self._zone(zone, "zone_start_pfn") for zone in range(len(ZONES))]
            for zone, start in enumerate(starts):
                counts = self.zone_counts(zone)
                inside = slice(start, start + counts["spanned"])
                present = int(pages.present[inside].sum())
                self._same(zone, "present", counts["present"], present)
                self._same(zone, "managed", counts["managed"], present - int(self._reserved[inside].sum()))
        return self._reserved

    def _lru(self, pages: Pages) -> np.ndarray:
        """Frames of folios on LRU lists."""
        lru, head = self._flag("PG_lru"), self._flag("PG_head")
        found = pages.flags & lru != 0
        for frame in np.flatnonzero(found & (pages.flags & head != 0)):
            order = int(pages.flags[frame + 1]) & 0xFF  # folio_order: low bits of _flags_1
            found[frame : frame + (1 << order)] = True
        return found

    # pageblocks

    def _pageblock_types(self) -> np.ndarray:
        """Type of each pageblock; Movable where there is no memory section."""
        kernel = self._kernel
        types = np.full(self._frames >> PAGEBLOCK_ORDER, MOVABLE, dtype=np.uint8)
        roots = self._number(kernel.address("mem_section"), 8)
        section_bytes, per_root = kernel.size("mem_section"), PAGE_BYTES // kernel.size("mem_section")
        blocks = SECTION_FRAMES >> PAGEBLOCK_ORDER
        for section in range(-(-self._frames // SECTION_FRAMES)):
            root = self._number(roots + 8 * (section // per_root), 8)
            usage = root and self._number(
                root + section_bytes * (section % per_root) + kernel.offset("mem_section", "usage"), 8
            )
            if not usage:
                continue
            raw = self.memory.read(usage + kernel.offset("mem_section_usage", "pageblock_flags"), blocks // 2)
            nibbles = np.stack([raw & 7, raw >> 4 & 7], axis=1).ravel()  # NR_PAGEBLOCK_BITS is 4
            here = types[section * blocks : (section + 1) * blocks]
            here[:] = nibbles[: len(here)]
        return types

    # zones

    def _zone_address(self, zone: int, member: str) -> int:
        return self._zones + zone * self._zone_bytes + self._kernel.offset("zone", member)

    def _zone(self, zone: int, member: str, index: int = 0) -> int:
        return self._number(self._zone_address(zone, member) + 8 * index, 8, signed=True)

    def _zone_line(self, zone: int) -> str:
        marks = [
            self._zone(zone, "_watermark", self._kernel.value(f"WMARK_{m}")) for m in ("MIN", "LOW", "HIGH")
        ]
        reserve = " ".join(str(self._zone(zone, "lowmem_reserve", i)) for i in range(len(ZONES)))
        bits = self._zone(zone, "flags")
        flags = [
            word
            for name, word in zip(ZONE_FLAGS, ZONE_FLAG_WORDS, strict=True)
            if bits >> self._kernel.value(f"ZONE_{name}") & 1
        ]
        return (
            f"zone {ZONES[zone]} min {marks[0]} low {marks[1]} high {marks[2]} "
            f"boost {self._zone(zone, 'watermark_boost')} reserve {reserve} "
            f"free {self._zone(zone, 'vm_stat', self._kernel.value('NR_FREE_PAGES'))} "
            f"reserved_highatomic {self._zone(zone, 'nr_reserved_highatomic')} flags {','.join(flags) or '-'}"
        )

    def _free_lists(self, zone: int, pages: Pages) -> Iterator[str]:
        kernel = self._kernel
        area = self._zone_address(zone, "free_area")
        lists = kernel.offset("free_area", "free_list")
        for order in range(ORDERS):
            total = 0
            for index, kind in enumerate(TYPES):
                at = area + order * kernel.size("free_area") + lists + 16 * index
                frames = self._list_frames(at, pages)
                total += len(frames)
                yield from _frames(f"free {ZONES[zone]} {order} {kind}", frames)
            counted = self._number(
                area + order * kernel.size("free_area") + kernel.offset("free_area", "nr_free"), 8
            )
            self._same(zone, f"free blocks of order {order}", counted, total)

    # processors

    def _percpu(self, zone: int, member: str, cpu: int) -> int:
        """Address of a processor's struct."""
        offset = self._number(self._kernel.address("__per_cpu_offset") + 8 * cpu, 8)
        return (self._zone(zone, member) + offset) & 0xFFFF_FFFF_FFFF_FFFF

    def _cpu_line(self, zone: int, cpu: int) -> str:
        lists, stats = (
            self._percpu(zone, "per_cpu_pageset", cpu),
            self._percpu(zone, "per_cpu_zonestats", cpu),
        )

        def of_lists(member: str, size: int) -> int:
            return self._number(lists + self._kernel.offset("per_cpu_pages", member), size, signed=True)

        numbers = {name: of_lists(name, 4) for name in ("high", "high_min", "high_max", "batch")}
        numbers |= {"free_count": of_lists("free_count", 2), "alloc_factor": of_lists("alloc_factor", 1)}
        bits = of_lists("flags", 1)
        flags = [word for bit, word in enumerate(PERCPU_FLAG_WORDS) if bits >> bit & 1]
        drift = stats + self._kernel.offset("per_cpu_zonestat", "vm_stat_diff")
        drift += self._kernel.value("NR_FREE_PAGES")
        threshold = stats + self._kernel.offset("per_cpu_zonestat", "stat_threshold")
        return (
            f"cpu {ZONES[zone]} {cpu} {' '.join(f'{name} {value}' for name, value in numbers.items())} "
            f"flags {','.join(flags) or '-'} drift {self._number(drift, 1, signed=True)} "
            f"threshold {self._number(threshold, 1, signed=True)}"
        )

    def _percpu_lists(self, zone: int, cpu: int, pages: Pages) -> Iterator[str]:
        lists = self._percpu(zone, "per_cpu_pageset", cpu) + self._kernel.offset("per_cpu_pages", "lists")
        for index in range(14):  # NR_PCP_LISTS: orders 0 to 3 of three types, and two of order 9
            order, kind = divmod(index, 3) if index < 12 else (THP_ORDER, index - 12)
            key = f"percpu {ZONES[zone]} {cpu} {order} {TYPES[kind]}"
            yield from _frames(key, self._list_frames(lists + 16 * index, pages))

    def _list_frames(self, head: int, pages: Pages) -> list[int]:
        """Frames of the pages of a list, from its first one."""
        size, found = self._kernel.size("page"), []
        pointer = self._number(head, 8)
        if pointer == head:
            return found
        frame = (pointer - VMEMMAP - self._list) // size
        while 0 <= frame < self._frames and len(found) <= self._frames:
            found.append(frame)
            last, frame = frame, int(pages.next[frame])
        if not found or int(pages.head[last]) != head:
            raise TesseraError(
                f"the list at {head:#x} of the guest",
                f"after {len(found)} pages it does not come back to its head",
                "read it while the machine stands still, with the vmlinux of its kernel",
                exit_code=EXIT_FAILED,
                code="broken-list",
            )
        return found

    def _flag(self, name: str) -> np.uint64:
        """A flag of struct page as a mask."""
        return np.uint64(1 << self._kernel.value(name))

    def _number(self, address: int, size: int, signed: bool = False) -> int:
        return self.memory.number(address, size, signed)

    def _same(self, zone: int, what: str, counted: int, found: int) -> None:
        if counted != found:
            raise TesseraError(
                f"zone {ZONES[zone]} of the guest: {what}",
                f"the kernel counts {counted}, its memory shows {found}",
                "read it while the machine stands still, with the vmlinux of its kernel",
                exit_code=EXIT_FAILED,
                code="counts-differ",
            )


def _frames(key: str, frames: list[int]) -> Iterator[str]:
    for at in range(0, len(frames), FRAMES_OF_A_LINE):
        yield f"{key} {' '.join(map(str, frames[at : at + FRAMES_OF_A_LINE]))}"


def _runs(key: str, bits: np.ndarray) -> list[str]:
    """``KEY FIRST COUNT`` of each run of set bits."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], bits, [False])).astype(np.int8)))
    return [f"{key} {first} {end - first}" for first, end in edges.reshape(-1, 2)]


def _type_runs(types: np.ndarray) -> list[str]:
    edges = np.flatnonzero(np.diff(types.astype(np.int16))) + 1
    starts = np.concatenate(([0], edges))
    ends = np.concatenate((edges, [len(types)]))
    return [
        f"pageblocks {TYPES[types[first]]} {first} {end - first}"
        for first, end in zip(starts, ends, strict=True)
        if types[first] != MOVABLE
    ]
