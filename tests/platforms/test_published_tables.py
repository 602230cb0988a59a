"""The platforms say what the papers' tables say: typed here once more, from the papers, in their units."""

from __future__ import annotations

import re

import pytest

from tessera.core import platforms
from tessera.core.reference import load_published

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


# Each row of Park's Table 2.4: the keys that have its value, or None where no key does.
PARK_TABLE_2_4 = {
    "frequency": {"core.frequency_hz": lambda gigahertz: gigahertz * 1e9},
    "rob": {"core.rob_entries": int},
    "lsq": None,  # of loads and stores: two keys whose sum it is
    "issue_width": None,  # one width, that of commits
    "commit_width": {"core.dispatch_width": int},
    "issue_queue": None,  # no such structure
    "alu": {"core.ports.alu": int},
    "fpu": None,  # no ports of their own
    "btb": {"branch.target_entries": int},
    "ras": {"branch.return_stack_entries": int},
    "branch_predictor": None,  # a name
    "l1i_latency": None,  # no instruction bytes in the caches
    "l1d_latency": {"cache.l1d.load_cycles": int},
    "l1": {"cache.l1d.bytes": lambda kb: kb * KB},
    "l2": {"cache.l2.bytes": lambda kb: kb * KB},
    "l2_latency": {"cache.l2.load_cycles": int},
    "l3": {"cache.l3.bytes": lambda mb: mb * MB},
    "l3_latency": {"cache.l3.load_cycles": int},
    "l1_tlb": {"tlb.l1d.4kb.entries": int, "tlb.l1i.entries": int},
    "l1_tlb_latency": None,  # a hit adds nothing
    "l2_tlb": {"tlb.stlb.entries": int},
    "l2_tlb_latency": {"tlb.stlb.hit_cycles": int},
    "block": None,  # 64 bytes everywhere
    "memory": None,  # frames have no end
    "memory_clock": None,  # below
    "memory_controllers": {"dram.channels": int},
}
PARK_WAYS = {
    "l1": ["cache.l1d.ways"], "l2": ["cache.l2.ways"], "l3": ["cache.l3.ways"],
    "l1_tlb": ["tlb.l1d.4kb.ways", "tlb.l1i.ways"], "l2_tlb": ["tlb.stlb.ways"],
}  # fmt: skip


def test_park_table_2_4():
    table = load_published("park_table24_system").set_index("quantity")
    assert list(table.index) == list(PARK_TABLE_2_4)
    expected = {}
    for quantity, keys in PARK_TABLE_2_4.items():
        expected |= {key: of(table["value"][quantity]) for key, of in (keys or {}).items()}
        ways = re.match(r"(\d+)-way", str(table["note"][quantity]))
        assert (ways is not None) == (quantity in PARK_WAYS), quantity
        expected |= {key: int(ways[1]) for key in PARK_WAYS.get(quantity, ())}
    expect("park-haswell", "Park (KAIST 2019) Table 2.4", expected)
    values = platforms.load_platform("park-haswell").values
    loads, stores = values["core.load_queue_entries"], values["core.store_buffer_entries"]
    assert loads.value + stores.value == table["value"]["lsq"]
    clock = table["value"]["memory_clock"] * 1e6  # two transfers of 8 bytes each
    line_cycles = 64 / (clock * 2 * 8) * table["value"]["frequency"] * 1e9
    assert values["memory.cycles_per_line"].value == round(line_cycles)


def test_park_table_2_4_names_a_predictor_and_tlbs_that_do_not_block():
    table = load_published("park_table24_system").set_index("quantity")
    assert table["note"]["branch_predictor"] == "two-level branch predictor"
    values = platforms.load_platform("park-haswell").values
    assert values["branch.predictor"].value == "gshare"
    assert "two-level" in values["branch.predictor"].source
    assert values["branch.refill_cycles"].value > 0, "a misprediction must cost something"
    for level in ("l1_tlb", "l2_tlb"):
        assert "non-blocking" in table["note"][level]
    assert "non-blocking" in values["walker.count"].source


def test_park_table_3_3():
    large_pages = {"tlb.l1d.2mb.entries": 32, "tlb.l1d.2mb.ways": 4, "tlb.stlb.holds_2mb": 1}
    expect("park-haswell", "Table 3.3", large_pages)


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
