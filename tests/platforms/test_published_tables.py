"""The platforms say what the papers' tables say: typed here once more, from the papers, in their units."""

from __future__ import annotations

import pytest

from tessera.core import platforms

KB, MB = 1024, 1024 * 1024

# MICRO'20 Table 4: L1 entries for 4KB, 2MB, 1GB pages; L2 entries for 4KB, 2MB, 1GB pages; page walkers.
MICRO20_TABLE_4 = {
    "sandybridge-sim": (64, 32, 4, 512, 0, 0, 1),
    "ivybridge-sim": (64, 32, 4, 512, 0, 0, 1),
    "haswell-sim": (64, 32, 4, 1024, "shared", 0, 1),
    "broadwell-sim": (64, 32, 4, 1536, "shared", 16, 2),
    "skylake-sim": (64, 32, 4, 1536, "shared", 16, 2),
}
# MICRO'20 Table 3: clock in GHz, L3 in MB; its caption: L1d 32 KB, L2 256 KB.
MICRO20_TABLE_3 = {"sandybridge-sim": (1.9, 15), "haswell-sim": (2.1, 30), "broadwell-sim": (2.2, 60)}


def expect(name: str, source: str, expected: dict[str, int | str]) -> None:
    """Each value, and that it is cited from ``source`` and not assumed."""
    values = platforms.load_platform(name).values
    assert {key: values[key].value for key in expected} == expected
    for key in expected:
        assert not values[key].assumed, key
        assert source in values[key].source, key


@pytest.mark.parametrize("name", MICRO20_TABLE_4)
def test_micro20_table_4(name):
    l1_4kb, l1_2mb, l1_1gb, l2_4kb, l2_2mb, l2_1gb, walkers = MICRO20_TABLE_4[name]
    expected = {
        "tlb.l1d.4kb.entries": l1_4kb,
        "tlb.l1d.2mb.entries": l1_2mb,
        "tlb.l1d.1gb.entries": l1_1gb,
        "tlb.stlb.entries": l2_4kb,
        "tlb.stlb.holds_2mb": 1 if l2_2mb == "shared" else 0,
        "tlb.stlb_2mb.entries": 0,
        "tlb.stlb.holds_1gb": 0,
        "tlb.stlb_1gb.entries": l2_1gb,
        "walker.count": walkers,
    }
    expect(name, "MICRO'20 Table 4", expected)


@pytest.mark.parametrize("name", MICRO20_TABLE_3)
def test_micro20_table_3(name):
    gigahertz, l3_mb = MICRO20_TABLE_3[name]
    expected = {"core.frequency_hz": round(gigahertz * 1e9), "cache.l3.bytes": l3_mb * MB}
    expected |= {"cache.l1d.bytes": 32 * KB, "cache.l2.bytes": 256 * KB}
    expect(name, "MICRO'20 Table 3", expected)


def test_park_tables_2_4_and_3_3():
    processor = {"core.frequency_hz": 3_400_000_000, "core.rob_entries": 128, "core.dispatch_width": 4}
    caches = {
        "cache.l1d.bytes": 32 * KB, "cache.l1d.ways": 4, "cache.l1d.load_cycles": 4,
        "cache.l2.bytes": 256 * KB, "cache.l2.ways": 8, "cache.l2.load_cycles": 6,
        "cache.l3.bytes": 2 * MB, "cache.l3.ways": 16, "cache.l3.load_cycles": 27,
    }  # fmt: skip
    tlbs = {
        "tlb.l1d.4kb.entries": 64, "tlb.l1d.4kb.ways": 4, "tlb.stlb.entries": 1024, "tlb.stlb.ways": 8,
        "tlb.stlb.hit_cycles": 7,
    }  # fmt: skip
    expect("park-haswell", "Table 2.4", processor | caches | tlbs)
    large_pages = {"tlb.l1d.2mb.entries": 32, "tlb.l1d.2mb.ways": 4, "tlb.stlb.holds_2mb": 1}
    expect("park-haswell", "Table 3.3", large_pages)
    values = platforms.load_platform("park-haswell").values
    assert (
        values["core.load_queue_entries"].value + values["core.store_buffer_entries"].value == 80
    )  # its LSQ
    # 800 MHz, two transfers a clock, 8 bytes each: 12.8 GB/s.
    assert values["memory.cycles_per_line"].value == round(64 / 12.8e9 * 3.4e9)


def test_virtuoso_table_4():
    expected = {
        "core.frequency_hz": 2_900_000_000, "core.dispatch_width": 4,
        "tlb.l1i.entries": 128, "tlb.l1i.ways": 8,
        "tlb.l1d.4kb.entries": 64, "tlb.l1d.4kb.ways": 4, "tlb.l1d.2mb.entries": 32, "tlb.l1d.2mb.ways": 4,
        "tlb.stlb.entries": 2048, "tlb.stlb.ways": 16, "tlb.stlb.hit_cycles": 12,
        "pwc.pde.entries": 32, "pwc.pde.ways": 4, "pwc.pdpte.entries": 32, "pwc.pdpte.ways": 4,
        "pwc.pml4e.entries": 32, "pwc.pml4e.ways": 4, "page_table.levels": 4,
        "cache.l1d.bytes": 32 * KB, "cache.l1d.ways": 8, "cache.l1d.load_cycles": 4,
        "cache.l2.bytes": 2 * MB, "cache.l2.ways": 16, "cache.l2.load_cycles": 16,
        "cache.l3.bytes": 2 * MB, "cache.l3.ways": 16, "cache.l3.load_cycles": 35,
        "prefetch.l1d.kind": "stride", "prefetch.l2.kind": "stream",
    }  # fmt: skip
    expect("virtuoso-baseline", "Virtuoso (ASPLOS'25) Table 4", expected)
    assert platforms.load_platform("virtuoso-baseline").values["dram.row_hit_saves_cycles"].value == round(
        12.5 * 2.9
    )


def test_mitosis_section_8():
    expected = {
        "core.frequency_hz": 2_200_000_000,
        "cache.l3.bytes": 35 * MB,
        "tlb.l1d.4kb.entries": 64,
        "tlb.stlb.entries": 1024,
        "memory.load_cycles": 280,
        "memory.cycles_per_line": round(64 / 28e9 * 2.2e9),
    }
    expect("haswell-4s-sim", "Mitosis (ASPLOS'20) section 8", expected)


def test_zen_says_that_its_walk_cycles_cannot_be_measured():
    assert "no counter of walk cycles" in platforms.load_platform("zen-sim").description
