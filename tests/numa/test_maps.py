"""Maps of pages and page tables: model, file, expectation, comparison; and the view of a guest's memory."""

from pathlib import Path

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.paging import Touches
from tessera.lab.kernel.page_tables import GuestMemory, walk
from tessera.lab.numa.guest_map import map_of_seen, seen_in_guest
from tessera.lab.numa.map_rules import Reach, expected_map, touches_as_far_as, touches_behind
from tessera.lab.numa.placement_map import (
    DATA,
    MAP_HEADER,
    TABLE,
    PlacementMap,
    compare_maps,
    count_differences,
    named_differences,
    pages_by_leaf_node,
    read_map,
    write_map,
)
from tessera.measure.mosalloc.pools import PoolPlace

BRK, MMAP = 0, 1


def touches(*pages):
    """First touches (pool, page), in order."""
    pool, page = np.array(pages, dtype=np.int64).T
    return Touches(pool, page, np.arange(len(pool), dtype=np.int64))


def rows(found, kind, level):
    return [row[2:] for row in found.tuples() if row[:2] == (kind, level)]


def test_neighbours_on_one_node_share_a_row():
    found = PlacementMap.of(
        [
            (DATA, 1, MMAP, 5, 6, 0),
            (DATA, 1, MMAP, 4, 5, 0),
            (DATA, 1, MMAP, 6, 7, 1),
            (DATA, 1, BRK, 4, 5, 0),
        ]
    )
    assert found.tuples() == [(DATA, 1, BRK, 4, 5, 0), (DATA, 1, MMAP, 4, 6, 0), (DATA, 1, MMAP, 6, 7, 1)]
    assert found.nodes == 2


def test_tables_above_1gb_keep_a_row_each():
    cut = [(TABLE, 3, MMAP, 0, 100, 0), (TABLE, 3, MMAP, 100, 300, 0)]
    assert PlacementMap.of(cut).tuples() == cut


def test_two_nodes_for_one_page_are_refused():
    with pytest.raises(TesseraError, match="offset 20480") as refused:
        PlacementMap.of([(DATA, 1, MMAP, 4, 6, 0), (DATA, 1, MMAP, 5, 6, 1)])
    assert refused.value.code == "numa-map-overlap"


def test_units_are_pages_and_tables():
    found = PlacementMap.of([(DATA, 2, BRK, 512, 1536, 1), (TABLE, 1, MMAP, 0, 1024, 0)])
    numbers, nodes = found.units(DATA, 2)
    assert (numbers.tolist(), nodes.tolist()) == ([1, 2], [1, 1])
    numbers, nodes = found.units(TABLE, 1)
    assert (numbers - (1 << 40)).tolist() == [0, 1] and nodes.tolist() == [0, 0]


def test_the_file_comes_back(tmp_path):
    found = PlacementMap.of(
        [
            (DATA, 1, BRK, 0, 3, 0),
            (DATA, 2, MMAP, 512, 1024, 1),
            (TABLE, 1, BRK, 0, 512, 1),
            (TABLE, 4, BRK, 0, 9, 0),
        ]
    )
    write_map(found, tmp_path / "map.csv")
    text = (tmp_path / "map.csv").read_text()
    assert text.splitlines()[:3] == [MAP_HEADER, "data,1,brk,0,12288,0", "data,2,mmap,2097152,4194304,1"]
    assert read_map(tmp_path / "map.csv").tuples() == found.tuples()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1 is ''"),
        ("kind,node\n", "line 1 is 'kind,node'"),
        (f"{MAP_HEADER}\n", "it has no row"),
        (f"{MAP_HEADER}\ndata,1,stack,0,4096,0\n", "line 2 is"),
        (f"{MAP_HEADER}\ndata,1,brk,0,4095,0\n", "multiples of 4096"),
        (f"{MAP_HEADER}\ndata,1,brk,4096,4096,0\n", "the end above the start"),
        (f"{MAP_HEADER}\ndata,2,brk,4096,2101248,0\n", "pages of 2097152 bytes"),
        (f"{MAP_HEADER}\ndata,4,brk,0,4096,0\n", "no pages"),
        (f"{MAP_HEADER}\ndata,1,brk,0,4096,64\n", "node 64"),
        (f"{MAP_HEADER}\ndata,1,brk,0,8192,0\ndata,1,brk,4096,8192,1\n", "two rows"),
    ],
)
def test_a_bad_file_is_refused(tmp_path, text, said):
    (tmp_path / "map.csv").write_text(text)
    with pytest.raises(TesseraError, match=said):
        read_map(tmp_path / "map.csv")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(TesseraError) as refused:
        read_map(tmp_path / "none.csv")
    assert refused.value.code == "numa-map-file"


def test_table_2_puts_data_and_tables_on_one_node_each():
    found = expected_map(touches((MMAP, 700), (BRK, 3), (MMAP, 1)), "RP-LD", 2)
    assert rows(found, DATA, 1) == [(BRK, 3, 4, 0), (MMAP, 1, 2, 0), (MMAP, 700, 701, 0)]
    assert rows(found, TABLE, 1) == [(BRK, 0, 512, 1), (MMAP, 0, 1024, 1)]
    assert rows(found, TABLE, 2) == [(BRK, 0, 1 << 18, 1), (MMAP, 0, 1 << 18, 1)]
    found = expected_map(touches((MMAP, 700)), "LP-RD", 2)
    assert (rows(found, DATA, 1), rows(found, TABLE, 1)) == ([(MMAP, 700, 701, 1)], [(MMAP, 512, 1024, 0)])


def test_the_first_toucher_of_a_table_decides_its_node():
    # 1024 pages, two sockets touch pages in turn; page 513 (socket 1) comes before page 512 (socket 0)
    order = [(MMAP, 1023 - page) if page < 512 else (MMAP, page - 512) for page in range(1024)]
    found = expected_map(touches(*order), "first-touch", 2, "pages")
    assert rows(found, TABLE, 1) == [(MMAP, 0, 512, 0), (MMAP, 512, 1024, 1)]
    assert rows(found, TABLE, 2) == [(MMAP, 0, 1 << 18, 1)]
    assert found.units(DATA, 1)[1].tolist() == [0, 1] * 512


def test_interleave_places_data_by_address_and_tables_in_turn():
    found = expected_map(touches((MMAP, 600), (MMAP, 3), (BRK, 4)), "interleave", 2)
    assert rows(found, DATA, 1) == [(BRK, 4, 5, 0), (MMAP, 3, 4, 1), (MMAP, 600, 601, 0)]
    assert rows(found, TABLE, 1) == [(BRK, 0, 512, 0), (MMAP, 0, 512, 1), (MMAP, 512, 1024, 0)]


def test_touches_behind_the_last_page_of_a_map_are_left_out():
    order = touches((MMAP, 5), (BRK, 5), (MMAP, 6), (MMAP, 7))
    found = PlacementMap.of([(DATA, 1, MMAP, 5, 7, 0)])
    assert touches_as_far_as(order, found).page.tolist() == [5, 5, 6]
    assert len(touches_as_far_as(order, PlacementMap.of([(DATA, 1, MMAP, 0, 1, 0)])).page) == 0


def test_pages_of_the_begin_come_first():
    begin = PlacementMap.of([(DATA, 1, BRK, 3, 5, 0), (TABLE, 1, BRK, 0, 512, 0)])
    order = touches_behind(begin, touches((MMAP, 5), (BRK, 4), (BRK, 9)))
    assert list(zip(order.pool.tolist(), order.page.tolist(), strict=True)) == [
        (BRK, 3), (BRK, 4), (MMAP, 5), (BRK, 9),
    ]  # fmt: skip


@pytest.mark.parametrize("rule", ["RPI-LD", "LP", "first"])
def test_an_unknown_rule_names_the_known_ones(rule):
    with pytest.raises(TesseraError, match="RP-LD.*first-touch"):
        expected_map(touches((MMAP, 1)), rule, 2)


def test_comparison_counts_nodes_and_missing_pages():
    one = PlacementMap.of([(DATA, 1, MMAP, 0, 10, 0), (TABLE, 1, MMAP, 0, 512, 0), (TABLE, 4, MMAP, 0, 9, 0)])
    other = PlacementMap.of(
        [(DATA, 1, MMAP, 2, 9, 0), (DATA, 1, MMAP, 9, 12, 1), (TABLE, 1, MMAP, 0, 512, 0)]
    )
    table = compare_maps(one, other)
    assert table.to_numpy().tolist() == [["data", 1, 10, 10, 7, 1, 2, 2], ["table", 1, 1, 1, 1, 0, 0, 0]]
    assert count_differences(table) == 5
    assert count_differences(compare_maps(one, one)) == 0


def test_leaf_entries_by_the_node_of_their_table():
    found = PlacementMap.of(
        [(DATA, 1, MMAP, 500, 520, 0), (TABLE, 1, MMAP, 0, 512, 2), (TABLE, 1, MMAP, 512, 1024, 1)]
    )
    assert pages_by_leaf_node(found, 3).tolist() == [0, 8, 12]
    with pytest.raises(TesseraError, match="give --sockets 3"):
        pages_by_leaf_node(found, 2)
    with pytest.raises(TesseraError) as refused:
        pages_by_leaf_node(PlacementMap.of([(DATA, 1, MMAP, 0, 1, 0), (TABLE, 1, MMAP, 512, 1024, 0)]), 1)
    assert refused.value.code == "numa-map-leaves"


NODE_BYTES = 4 << 20
WRITABLE, LARGE = 7, 1 << 7


def test_the_view_of_a_guests_memory(tmp_path):
    """A pool at 1GB: page 0 on node 1, pages 2 and 3 only read, a 2MB page on node 1; something outside."""
    words = np.zeros(2 * NODE_BYTES // 8, dtype=np.uint64)
    root, upper, middle, leaf, outside = 0x1000, 0x2000, 0x3000 + NODE_BYTES, 0x4000, 0x5000
    zero, page = 0x9000, NODE_BYTES + 0x7000
    entries = {
        (root, 0): upper, (upper, 1): middle, (middle, 0): leaf, (middle, 3): NODE_BYTES + (2 << 20) | LARGE,
        (leaf, 0): page, (leaf, 2): zero, (leaf, 3): zero,
        (upper, 0): 0x6000, (0x6000, 0): outside, (outside, 1): 0xA000,
    }  # fmt: skip
    for (table, index), value in entries.items():
        words[table // 8 + index] = value | WRITABLE
    files = [tmp_path / "node0", tmp_path / "node1"]
    for path, part in zip(files, np.split(words, 2), strict=True):
        path.write_bytes(part.tobytes())
    memory = GuestMemory(files, NODE_BYTES)
    found, zeros = map_of_seen(
        seen_in_guest(walk(memory, root), memory), [PoolPlace("mmap", 1 << 30, 16 << 20, 8 << 20)]
    )
    assert zeros == 2
    assert rows(found, DATA, 1) == [(MMAP, 0, 1, 1)]
    assert rows(found, DATA, 2) == [(MMAP, 3 * 512, 4 * 512, 1)]
    assert rows(found, TABLE, 1) == [(MMAP, 0, 512, 0)]
    assert rows(found, TABLE, 2) == [(MMAP, 0, 4096, 1)]  # cut to the pool of 16MB
    assert rows(found, TABLE, 3) == [(MMAP, 0, 4096, 0)] and rows(found, TABLE, 4) == [(MMAP, 0, 4096, 0)]


#: `mitosis-gups` of size tiny: pages that libraries touched before, and first touches of the recorded program
BEFORE = [(BRK, page) for page in (*range(9), 16)]
TOUCHED = [(BRK, 8), (BRK, 1), *((MMAP, page) for page in range(8192)), (BRK, 7), (BRK, 9)]
DATA_FOLDER = Path(__file__).parent / "data"


#: what the program allocated, by the header of its trace
REACHED = {"brk": 200704, "mmap": 32 << 20}
#: a rule that puts something on another node -> the maps that show it
OTHERS = {
    "RP-LD": "LP-LD", "RP-RD": "LP-RD", "LP-RD": "LP-LD", "RP-LD+M": "RP-LD", "RP-RD+M": "RP-RD",
    "TLP-LD": "TRP-LD", "TRP-LD": "TLP-LD", "TRP-LD+M": "TRP-LD",
}  # fmt: skip


@pytest.mark.parametrize("rule", ["LP-LD", "first-touch", *OTHERS])
def test_recorded_maps_of_the_guest_are_those_of_the_rules(rule):
    """`tessera lab run numa-maps` in a guest of two nodes, at the begin and at the end of the region."""
    guest = read_map(DATA_FOLDER / f"guest-{rule.lower()}.csv")
    begin = read_map(DATA_FOLDER / f"guest-{rule.lower()}-begin.csv")
    reach = Reach(begin.units(DATA, 1)[0], REACHED)
    assert [(number >> 40, number & 0xFF) for number in begin.units(DATA, 1)[0].tolist()] == BEFORE
    order = touches_as_far_as(touches_behind(begin, touches(*TOUCHED)), guest)
    assert len(order.page) == len(BEFORE) + 8192  # brk pages 1, 7 and 8 are known, and page 9 comes later
    found = expected_map(order, rule, 2, reach=reach)
    assert count_differences(compare_maps(guest, found)) == 0
    other = expected_map(order, OTHERS.get(rule, "RP-RD"), 2, reach=reach)
    assert count_differences(compare_maps(guest, other)) == len(list(named_differences(guest, other))) > 0


@pytest.mark.parametrize(("rule", "large"), [("RP-LD+M", 0), ("TRP-LD", 16), ("TRP-LD+M", 16)])
def test_a_wrong_node_in_a_recorded_map_is_named(rule, large):
    """One leaf table is moved to the other node by hand."""
    guest = read_map(DATA_FOLDER / f"guest-{rule.lower()}.csv")
    assert len(guest.units(DATA, 2)[0]) == large
    kind, level, pool, start, end, node = next(row for row in guest.tuples() if row[:2] == (TABLE, 1))
    changed = [row for row in guest.tuples() if row[:4] != (kind, level, pool, start)]
    changed += [(kind, level, pool, start, start + 512, 1 - node)]
    changed += [(kind, level, pool, start + 512, end, node)] if end > start + 512 else []
    lines = [line for _, _, line in named_differences(PlacementMap.of(changed), guest)]
    assert lines == [
        f"table of level 1, pool brk, offset 0: node {1 - node} in the first and node {node} in the second"
    ]
