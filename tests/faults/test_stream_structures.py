"""Names of accesses in a guest made by hand, and of a page that was copied."""

import pytest

from tessera.lab.faults.recorded_faults import Access, Count, Fault
from tessera.lab.faults.recording import (
    DIRECT_MAP,
    VMEMMAP,
    Facts,
    Range,
    Structures,
    choose,
    with_structures,
)

BASE = DIRECT_MAP + 0x3DE00000
FACTS = Facts(
    ranges=(
        Range(0xFFFFFFFF81000000, 0xFFFFFFFF81002000, "zone"),
        Range(0xFFFFFFFF81001000, 0xFFFFFFFF81001100, "LRU list"),
        Range(0xFFFFC90000010000, 0xFFFFC90000014000, "stack"),
        Range(BASE + 0x30000, BASE + 0x30100, "per-CPU page list"),
    ),
    symbols=[(0xFFFFFFFF80000000, "_text"), (0xFFFFFFFF81800000, "vm_zone_stat"), (0xFFFFFFFF81800100, "x")],
    percpu_symbols=[(0, "start"), (0x28C40, "cpu_fbatches"), (0x28D00, "pcpu_hot")],
    percpu_base=BASE,
    percpu_bytes=0x2C658,
    caches={0x100: "mm_struct", 0x101: "kmalloc-64", 0x102: "maple_node"},
    tables={0x200: 1, 0x201: 4, 0x202: 0},
    pages=frozenset({0x300, 0x301}),
)
TOUCHED = range(0x300 << 12, 0x301 << 12)


@pytest.mark.parametrize(
    ("virtual", "physical", "name"),
    [
        (0x7FFF_FFFF_FFFF, 0, "user memory"),
        (0xFFFFFFFF81000FFF, 0, "zone"),
        (0xFFFFFFFF81001000, 0, "LRU list"),  # inside the zone's range
        (0xFFFFFFFF810010FF, 0, "LRU list"),
        (0xFFFFFFFF81001100, 0, "zone"),
        (0xFFFFFFFF81002000, 0, "kernel data"),
        (0xFFFFFFFF81800008, 0, "counters"),
        (0xFFFFFFFF81800108, 0, "kernel data"),
        (0xFFFFC90000013FFF, 0, "stack"),
        (0xFFFFC90000014000, 0, "vmalloc"),
        (0xFFFFFE0000002FC8, 0, "entry stack"),
        (VMEMMAP + 64 * 0x300, 0, "struct page"),
        (VMEMMAP + 64 * 0x300 + 63, 0, "struct page"),
        (VMEMMAP + 64 * 0x301, 0, "struct page of another"),
        (BASE + 0x28C50, 0x3DE28C50, "LRU batch"),
        (BASE + 0x28D10, 0x3DE28D10, "per-CPU data"),
        (BASE + 0x30020, 0x3DE30020, "per-CPU page list"),
        (DIRECT_MAP + 0x100040, 0x100040, "mm"),
        (DIRECT_MAP + 0x101040, 0x101040, "slab: kmalloc-64"),
        (DIRECT_MAP + 0x102040, 0x102040, "VMA tree"),
        (DIRECT_MAP + 0x200008, 0x200008, "page table 1"),
        (DIRECT_MAP + 0x201008, 0x201008, "page table 4"),
        (DIRECT_MAP + 0x202008, 0x202008, "page table"),
        (DIRECT_MAP + 0x300000, 0x300000, "page"),
        (DIRECT_MAP + 0x301000, 0x301000, "another page"),
        (DIRECT_MAP + 0x400000, 0x400000, "other"),
        (0xFFFFF00000000000, 0, "other"),
    ],
)
def test_the_structure_at_an_address(virtual, physical, name):
    assert Structures(FACTS).name(virtual, physical, TOUCHED) == name


def access(physical, store=False, string=False, bytes_=8):
    return Access(1, store, string, DIRECT_MAP + physical, physical, bytes_)


def names_of(accesses, kind="write-cow", touch=0x300_008):
    return [
        one.structure
        for one in with_structures(
            Fault(1, tuple(accesses), 0, 0, 0, (0, touch)), kind, Structures(FACTS)
        ).accesses
    ]


def test_a_frame_that_is_loaded_whole_was_copied():
    """64 lines of an unknown frame: another page. 63 lines: unknown. Stores are no loads."""
    whole = [access(0x400_000 + 64 * line) for line in range(64)]
    assert set(names_of(whole)) == {"another page"}
    assert set(names_of(whole[:-1])) == {"other"}
    assert set(names_of([access(one.physical, store=True) for one in whole])) == {"other"}
    assert names_of([access(0x400_000, string=True, bytes_=4096)]) == ["another page"]


def test_the_page_of_a_2mb_fault_has_2mb():
    assert names_of([access(0x3FF_000)], "write-cow") == ["other"]
    assert names_of([access(0x3FF_000)], "write-2mb", touch=0x200_008) == ["page"]


def counts(instructions):
    return [Count(number, one, 0, 0, 0, 0, 0) for number, one in enumerate(instructions)]


def test_chosen_are_the_most_common_and_the_largest_others():
    """Common is 10 (six times): the first four. Others: the first of 90, 80, 70 and 60, not of 50."""
    assert choose(counts([10, 50, 10, 60, 70, 10, 80, 90, 90, 10, 10, 10])) == [0, 2, 3, 4, 5, 6, 7, 9]
    assert choose(counts([7])) == [0]
