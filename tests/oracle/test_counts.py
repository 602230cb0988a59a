"""Readers of the kernel's own counts, on text as the kernel prints it."""

from tessera.lab.oracle import allocator

PRINTED = """\
{when} buddyinfo Node 0, zone      DMA 1 0 2 0 0 0 0 0 0 0 3
{when} zoneinfo Node 0, zone      DMA
{when} zoneinfo per-node stats
{when} zoneinfo min 190
{when} zoneinfo protection: (0, 405, 898, 898)
{when} zoneinfo pagesets
{when} zoneinfo high:  {high}
{when} zoneinfo high_min: 5
{when} zoneinfo Node 0, zone      Movable
{when} zoneinfo min 32
{when} pagetypeinfo Free pages count per migrate type at order 0 1 2 3 4 5
{when} pagetypeinfo Node 0, zone      DMA, type    Unmovable 4 0 0 0 0 0 0 0 1 0 7
{when} pagetypeinfo Number of blocks type     Unmovable Movable Reclaimable HighAtomic
{when} pagetypeinfo Node 0, zone      DMA 1 7 0 0
{when} extfrag_index Node 0, zone      DMA -1.0 -1.0 -1.0 -1.0 -1.000 -1.000 -1.0 -1.000 -1.000 0.876 0.910
"""

STATE = """\
tessera-phys 1
ram 1 158
ram 256 3840
pageblocks Unmovable 0 1
zone DMA min 190 low 237 high 284 boost 0 reserve 0 405 898 free 3840 reserved_highatomic 0 flags -
free DMA 0 Unmovable 7 9 11
free DMA 0 Unmovable 13
cpu DMA 0 high 4 high_min 5 high_max 6 batch 1 free_count 0 alloc_factor 0 flags - drift 0 threshold 2
"""


def test_values_that_changed_meanwhile_are_not_compared():
    before, after = PRINTED.format(when="before", high=4), PRINTED.format(when="after", high=9)
    same = allocator.kernel_values(before + PRINTED.format(when="after", high=4))
    moved = allocator.kernel_values(before + after)
    assert same.keys() - moved.keys() == {("zoneinfo", "DMA", "pageset high")}


def test_values_of_each_file():
    found = allocator.kernel_values(
        "".join(PRINTED.format(when=when, high=4) for when in ("before", "after"))
    )
    assert found["buddyinfo", "DMA", "2"] == "2" and found["buddyinfo", "DMA", "10"] == "3"
    assert found["zoneinfo", "DMA", "min"] == "190" and found["zoneinfo", "DMA", "protection"] == "0 405 898"
    assert (
        found["zoneinfo", "DMA", "pageset high"] == "4"
        and found["zoneinfo", "DMA", "pageset high_min"] == "5"
    )
    assert found["pagetypeinfo", "DMA", "Unmovable 8"] == "1"
    assert found["pagetypeinfo", "DMA", "Movable pageblocks"] == "7"
    assert found["extfrag_index", "DMA", "9"] == "0.876"
    assert not [key for key in found if key[1] == "Movable"]


def test_values_of_the_lines_of_a_state():
    found = allocator._lines(STATE)
    assert found["pagetypeinfo", "DMA", "Unmovable 0"] == "4"
    assert found["pagetypeinfo", "DMA", "Movable 0"] == "0"
    assert found["zoneinfo", "DMA", "nr_free_pages"] == "3840"
    assert found["zoneinfo", "DMA", "pageset high_max"] == "6"
    # 16 MB: block 0 has both ranges of RAM and counts once.
    assert found["pagetypeinfo", "DMA", "Unmovable pageblocks"] == "1"
    assert found["pagetypeinfo", "DMA", "Movable pageblocks"] == "7"


def test_each_file_has_its_first_difference(monkeypatch):
    text = "".join(PRINTED.format(when=when, high=4) for when in ("before", "after"))
    mine = allocator.kernel_values(text)
    changes = {
        ("buddyinfo", "DMA", "2"): "77",
        ("buddyinfo", "DMA", "3"): "78",
        ("zoneinfo", "DMA", "min"): "79",
    }
    monkeypatch.setattr(allocator, "state_values", lambda program, state: mine | changes)
    found = allocator.check_counts(None, "", text)
    assert {file for file, one in found.items() if one.first} == {"buddyinfo", "zoneinfo"}
    assert "77" in found["buddyinfo"].first and "79" in found["zoneinfo"].first
    assert found["buddyinfo"].compared - found["buddyinfo"].equal == 2


def test_an_index_is_printed_as_c_divides():
    shown = [allocator.thousandths(value) for value in (-1000, 0, 7, 876, 1000)]
    assert shown == ["-1.000", "0.000", "0.007", "0.876", "1.000"]
