"""The reader of the allocator's state, on a kernel whose structs and memory are written here."""

import json

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.oracle.guest_memory import Vmlinux
from tessera.lab.oracle.snapshot import VMEMMAP, Reader

PAGE, LIST = 64, 8  # size of struct page, and where its list pointer is
ZONE, AREA = 8192, 88  # size of a zone, and of a free_area (four heads, and a count at 72)
NODE, TABLE, ROOTS, ROOT, USAGE, PERCPU = 0x10000, 0x40000, 0x41000, 0x41100, 0x42000, 0x50000

MEMBERS = {
    "page": {"buddy_list": LIST},
    "pglist_data": {"node_zones": 0},
    "free_area": {"free_list": 0, "nr_free": 72},
    "mem_section": {"usage": 8},
    "mem_section_usage": {"pageblock_flags": 16},
    "per_cpu_pages": {"high": 4, "high_min": 8, "high_max": 12, "batch": 16, "flags": 20, "alloc_factor": 21}
    | {"free_count": 22, "lists": 32},
    "per_cpu_zonestat": {"vm_stat_diff": 0, "stat_threshold": 8},
    "zone": {"_watermark": 0, "watermark_boost": 32, "nr_reserved_highatomic": 40, "lowmem_reserve": 48}
    | {"per_cpu_pageset": 80, "per_cpu_zonestats": 88, "zone_start_pfn": 96, "managed_pages": 104}
    | {"spanned_pages": 112, "present_pages": 120, "flags": 128, "vm_stat": 136, "free_area": 256},
}
SIZES = {"page": PAGE, "zone": ZONE, "free_area": AREA, "mem_section": 16}
SYMBOLS = {"contig_page_data": NODE, "mem_section": 0x100, "e820_table": 0x108, "__per_cpu_offset": 0x110}
SYMBOLS |= {"min_free_kbytes": 0x118, "watermark_boost_factor": 0x120}
VALUES = {"WMARK_MIN": 0, "WMARK_LOW": 1, "WMARK_HIGH": 2, "NR_FREE_PAGES": 0, "PG_reserved": 13, "PG_lru": 5}
VALUES |= {"PG_head": 6, "ZONE_BOOSTED_WATERMARK": 0, "ZONE_RECLAIM_ACTIVE": 1, "ZONE_BELOW_HIGH": 2}


class Memory:
    """Bytes by address; 0 where nothing was written."""

    def __init__(self):
        self.low, self.pages = np.zeros(1 << 20, dtype=np.uint8), np.zeros(2048 * PAGE, dtype=np.uint8)

    def _part(self, address, count):
        array, start = (self.low, 0) if address < VMEMMAP else (self.pages, VMEMMAP)
        return array[address - start : address - start + count]

    def write(self, address, value, size=8):
        self._part(address, size)[:] = np.frombuffer(
            value.to_bytes(size, "little", signed=value < 0), np.uint8
        )

    def read(self, address, count):
        return self._part(address, count)

    def number(self, address, size=8, signed=False):
        return int.from_bytes(self.read(address, size).tobytes(), "little", signed=signed)

    def chain(self, head, frames):
        """A list: its head, and the pages of the frames."""
        nodes = [head, *(VMEMMAP + frame * PAGE + LIST for frame in frames), head]
        for node, following in zip(nodes, nodes[1:], strict=False):
            self.write(node, following)


@pytest.fixture
def memory():
    """4 MB of RAM from frame 1 on, but for frames 8 to 15: one zone, DMA. Frames 1 to 7 are reserved."""
    made = Memory()
    for symbol, value in (("mem_section", ROOTS), ("e820_table", TABLE)):
        made.write(SYMBOLS[symbol], value)
    made.write(SYMBOLS["min_free_kbytes"], 64, 4)
    made.write(SYMBOLS["watermark_boost_factor"], 15000, 4)
    made.write(TABLE, 3, 4)
    for index, (start, size, kind) in enumerate(
        [(0x1000, 0x7800, 1), (0x8800, 0x7800, 2), (0x10000, 0x3F0000, 1)]
    ):
        entry = TABLE + 4 + 20 * index
        made.write(entry, start)
        made.write(entry + 8, size)
        made.write(entry + 16, kind, 4)
    made.write(ROOTS, ROOT)
    made.write(ROOT + 8, USAGE)
    made.write(USAGE + 16, 0x18, 1)  # block 0: unmovable, and the skip bit; block 1: movable
    for frame in range(1, 8):
        made.write(VMEMMAP + frame * PAGE, 1 << 13)
    made.write(VMEMMAP + 600 * PAGE, 1 << 5 | 1 << 6)  # a folio of order 1 on an LRU list
    made.write(VMEMMAP + 601 * PAGE, 1)
    for zone in range(3):
        for order in range(11):
            for kind in range(4):
                made.chain(NODE + zone * ZONE + 256 + order * AREA + 16 * kind, [])
    zone = {0: 3, 8: 4, 16: 5, 32: 512, 64: 9, 80: PERCPU, 88: PERCPU + 0x1000, 96: 1, 104: 1008, 112: 1023}
    zone |= {120: 1015, 128: 5, 136: 77}
    for offset, value in zone.items():
        made.write(NODE + offset, value)
    made.chain(NODE + 256 + 16, [700, 20, 900])  # order 0, movable
    made.write(NODE + 256 + 72, 3)
    for index in range(14):
        made.chain(PERCPU + 32 + 16 * index, [])
    made.chain(PERCPU + 32 + 16 * 4, [514, 512])  # order 1, movable
    for offset, value in {4: 30, 8: 10, 12: 60, 16: 7}.items():
        made.write(PERCPU + offset, value, 4)
    made.write(PERCPU + 20, 1 | 3 << 8 | 2 << 16, 4)  # flags, alloc_factor, free_count
    made.write(PERCPU + 0x1000, -4, 1)
    made.write(PERCPU + 0x1008, 12, 1)
    return made


@pytest.fixture
def reader(memory, tmp_path):
    structs = {name: {"size": SIZES.get(name, 0), "members": members} for name, members in MEMBERS.items()}
    path = tmp_path / "layouts.json"
    path.write_text(json.dumps({"symbols": SYMBOLS, "structs": structs, "enumerators": VALUES}))
    return Reader(Vmlinux(path), memory)


CPU = "cpu DMA 0 high 30 high_min 10 high_max 60 batch 7 free_count 2 alloc_factor 3 flags freed_high"
EXPECTED = f"""\
tessera-phys 1
cpus 1
min_free_kbytes 64
boost_factor 15000
ram 1 7
ram 16 1008
reserved 1 7
pageblocks Unmovable 0 1
zone DMA min 3 low 4 high 5 boost 512 reserve 0 0 9 free 77 reserved_highatomic 0 flags below_high,boosted
free DMA 0 Movable 700 20 900
{CPU} drift -4 threshold 12
percpu DMA 0 1 Movable 514 512
lru 600 2
end
"""


def test_the_state_in_the_format_of_the_imitation(reader):
    assert reader.text() == EXPECTED


def test_a_list_that_does_not_come_back_is_refused(reader, memory):
    memory.write(VMEMMAP + 900 * PAGE + LIST, 0)
    with pytest.raises(TesseraError) as caught:
        reader.text()
    assert caught.value.code == "broken-list"


@pytest.mark.parametrize("offset, what", [(256 + 72, "order 0"), (104, "managed"), (120, "present")])
def test_a_count_that_the_memory_contradicts_is_refused(reader, memory, offset, what):
    memory.write(NODE + offset, memory.number(NODE + offset) + 1)
    with pytest.raises(TesseraError, match=what) as caught:
        reader.text()
    assert caught.value.code == "counts-differ"


def test_a_name_that_the_description_lacks_is_named(reader):
    with pytest.raises(TesseraError, match="nr_zeros"):
        reader._kernel.offset("zone", "nr_zeros")
