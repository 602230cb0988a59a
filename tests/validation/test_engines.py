"""The oracle by hand, random cases that are valid, and a comparison that sees a wrong digit."""

import numpy as np
import pytest

from tessera.core import platforms
from tessera.core.layouts.layout import Layout, Window, read_layout, write_layout
from tessera.core.units import GB, PAGE_2MB
from tessera.lab.validation import engine_cases, engines
from tessera.lab.validation.synthetic import ANON_BASE, HEAP_BASE, RECORD, REGISTERS, Rows, Stream, loads

ALL_4KB = Layout("growing-0", {"mmap": GB})


def small(**keys):
    """A platform with an L1 DTLB of 2 x 1 entries and an STLB of 4 x 2."""
    values = {
        "tlb.l1d.4kb.entries": 2, "tlb.l1d.4kb.ways": 1, "tlb.stlb.entries": 4, "tlb.stlb.ways": 2,
        "tlb.l1d.2mb.entries": 1, "tlb.l1d.2mb.ways": 1,
    }  # fmt: skip
    return engine_cases.bent(
        platforms.load_platform("haswell-sim"), "small", engine_cases.PLAIN | values | keys
    )


def of_pages(*numbers):
    return loads(ANON_BASE + np.array(numbers) * 4096)


@pytest.mark.parametrize(
    "pages, hits, misses",
    [
        ([0, 0, 0], 0, 1),  # L1 hits are neither
        ([0, 2, 0], 1, 2),  # one L1 set: 2 drops 0, which the STLB still has
        ([0, 2, 4, 0], 0, 4),  # STLB set 0 has two ways: 4 drops 0
        ([0, 2, 0, 4, 0, 2], 2, 4),  # the touch of 0 makes 2 the oldest: 4 drops 2
        ([0, 1, 0, 1], 0, 2),  # two L1 sets
    ],
)
def test_oracle_by_hand(pages, hits, misses):
    assert engines.counts_by_lru(of_pages(*pages), ALL_4KB, small()) == engines.Counts(hits, misses)


def test_oracle_knows_page_sizes():
    window = Layout("w", {"mmap": GB}, (Window("mmap", 0, PAGE_2MB, PAGE_2MB),))
    assert engines.counts_by_lru(of_pages(0, 2, 4, 511), window, small()) == engines.Counts(0, 1)
    apart = of_pages(0, 512, 0)  # two 2MB pages, one L1 entry: a second level only if it holds 2MB
    both = Layout("w", {"mmap": GB}, (Window("mmap", 0, 2 * PAGE_2MB, PAGE_2MB),))
    assert engines.counts_by_lru(apart, both, small()) == engines.Counts(1, 2)
    assert engines.counts_by_lru(apart, both, small(**{"tlb.stlb.holds_2mb": 0})) == engines.Counts(0, 3)


def test_oracle_declines_what_it_does_not_know():
    assert engines.lru_supports(small())
    assert not engines.lru_supports(small(**{"tlb.stlb.replacement": "srrip"}))
    assert not engines.lru_supports(small(**{"tlb.l1d.2mb.in_4kb": 1}))
    assert not engines.lru_supports(small(**{"tlb.l1i.entries": 4, "tlb.l1i.ways": 2}))


@pytest.mark.parametrize("seed", range(5))
def test_random_layouts_are_valid(tmp_path, seed):
    made = engine_cases.random_layout(np.random.default_rng(seed), "random-0")
    path = tmp_path / "random-0.csv"
    write_layout(made, path)
    assert read_layout(path) == made


def test_random_programs_use_every_kind_of_access():
    stream = engine_cases.random_program(np.random.default_rng(1), 5000)
    loaded, stored = stream.load != 0, stream.store != 0
    for kind in (loaded & ~stored, stored & ~loaded, loaded & stored, ~loaded & ~stored):
        assert kind.sum() > 100
    addresses = stream.addresses()
    for low, high in ((HEAP_BASE, HEAP_BASE + 2 * GB), (ANON_BASE, ANON_BASE + 2 * GB)):
        assert ((addresses >= low) & (addresses < high)).sum() > 100
    assert (addresses >= engine_cases.OUTSIDE).sum() > 100


def test_records_are_champsim_s():
    stream = Stream(*(np.array([v]) for v in (0x400000, 0x1000, 0x2008, 3, 5)))
    assert RECORD.itemsize == 64
    record = stream.records()[0]
    assert record["source_memory"].tolist() == [0x1000, 0, 0, 0]
    assert record["destination_memory"].tolist() == [0x2008, 0]
    assert record["source_registers"].tolist() == [67, 0, 0, 0]
    assert record["destination_registers"].tolist() == [70, 0]  # bit 4 is the stack pointer's, so 5 is bit 6
    assert stream.addresses().tolist() == [0x1000, 0x2008]


def test_chains_take_turns_with_registers_of_their_own():
    stream = loads(np.arange(1, 7) * 64, chains=3)
    assert stream.source.tolist() == stream.destination.tolist() == [0, 1, 2, 0, 1, 2]
    with pytest.raises(ValueError, match=str(REGISTERS)):
        loads(np.arange(1, 99) * 64, chains=REGISTERS + 1).records()


ROW = {"layout": "a", "status": "ok", "message": "", "stlb_misses": "7", "runtime_cycles": "100"}


@pytest.mark.parametrize(
    "change, different",
    [({}, 0), ({"stlb_misses": "8"}, 1), ({"runtime_cycles": "101"}, 1), ({"runtime_cycles": ""}, 0)],
)
def test_one_wrong_digit_is_seen(change, different):
    truth, found = Rows({"a": ROW}), Rows({"a": ROW | change})
    cells, differing, message = engines.differing(truth, found)
    assert (cells, len(differing), message) == (1, different, "")


def test_a_missing_layout_differs():
    assert len(engines.differing(Rows({"a": ROW}), Rows({"b": ROW}))[1]) == 1


def test_what_was_not_compared_says_why():
    assert engines.differing(Rows({"a": ROW}), Rows({}, "it died"))[::2] == (0, "not compared: it died")


def test_every_variant_bends_keys_that_exist():
    found = engine_cases.platform_cases([platforms.load_platform("haswell-sim")])
    assert set(found) == {"haswell-sim", *engine_cases.VARIANTS}
    assert len({platform.flat() for platform in found.values()}) == len(found)
    with pytest.raises(Exception, match=r"tlb\.typo"):
        engine_cases.bent(found["haswell-sim"], "x", {"tlb.typo": 1})
