"""Rules of maps with tables that moved (+M) and with 2MB pages (T)."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.core.mapping.paging import Touches
from tessera.lab.numa.map_rules import Reach, expected_map, map_rule, touches_as_far_as
from tessera.lab.numa.placement_map import (
    DATA,
    PAGE_BYTES,
    TABLE,
    PlacementMap,
    compare_maps,
    count_differences,
    named_differences,
)

BRK, MMAP = 0, 1
NO_PAGES = np.array([], dtype=np.int64)


def touches(*pages):
    pool, page = np.array(pages, dtype=np.int64).T
    return Touches(pool, page, np.arange(len(pool), dtype=np.int64))


def rows(found, kind, level):
    return [row[2:] for row in found.tuples() if row[:2] == (kind, level)]


def reach(small=NO_PAGES, **ends):
    return Reach(np.array(small, dtype=np.int64), {pool: pages * PAGE_BYTES for pool, pages in ends.items()})


@pytest.mark.parametrize(
    ("name", "begins", "tables", "data", "huge"),
    [
        ("RP-LD", "B", "B", "A", False),
        ("RP-LD+M", "B", "A", "A", False),
        ("RP-RD+M", "B", "A", "B", False),
        ("TRP-LD", "B", "B", "A", True),
        ("TRP-LD+M", "B", "A", "A", True),
    ],
)
def test_a_name_says_where_tables_begin_and_end(name, begins, tables, data, huge):
    rule = map_rule(name)
    assert (rule.begins.tables, rule.where.tables, rule.where.data, rule.huge) == (begins, tables, data, huge)


def test_a_policy_has_no_configuration():
    assert map_rule("first-touch").where is None and not map_rule("first-touch").huge


@pytest.mark.parametrize(
    "name", ["RPI-LD+M", "TTRP-LD", "RP-LD+M+M", "Tfirst-touch", "interleave+M", "T", ""]
)
def test_other_names_are_refused(name):
    with pytest.raises(TesseraError, match="RP-LD.*first-touch"):
        map_rule(name)


def test_moved_tables_lie_with_the_program():
    found = expected_map(touches((MMAP, 700), (BRK, 3)), "RP-RD+M", 2)
    assert rows(found, DATA, 1) == [(BRK, 3, 4, 1), (MMAP, 700, 701, 1)]
    assert rows(found, TABLE, 1) == [(BRK, 0, 512, 0), (MMAP, 512, 1024, 0)]
    assert rows(found, TABLE, 2) == [(BRK, 0, 1 << 18, 0), (MMAP, 0, 1 << 18, 0)]


@pytest.mark.parametrize(("end", "large"), [(1024, True), (1023, False)])
def test_a_range_inside_the_allocated_memory_gets_one_page(end, large):
    found = expected_map(touches((MMAP, 700)), "TRP-LD", 2, reach=reach(mmap=end))
    if large:
        assert rows(found, DATA, 2) == [(MMAP, 512, 1024, 0)]
        assert rows(found, DATA, 1) == rows(found, TABLE, 1) == []
    else:
        assert rows(found, DATA, 2) == []
        assert rows(found, DATA, 1) == [(MMAP, 700, 701, 0)]
        assert rows(found, TABLE, 1) == [(MMAP, 512, 1024, 1)]
    assert rows(found, TABLE, 2) == [(MMAP, 0, 1 << 18, 1)]


def test_a_range_that_has_a_page_already_keeps_small_pages():
    small = reach([BRK + 3], brk=1024, mmap=1024)  # page 3 of the heap
    found = expected_map(touches((BRK, 3), (BRK, 4), (BRK, 600), (MMAP, 4)), "TLP-LD", 2, reach=small)
    assert rows(found, DATA, 1) == [(BRK, 3, 5, 0)]
    assert rows(found, DATA, 2) == [(BRK, 512, 1024, 0), (MMAP, 0, 512, 0)]
    assert rows(found, TABLE, 1) == [(BRK, 0, 512, 0)]


def test_a_pool_without_allocated_memory_has_no_large_page():
    assert rows(expected_map(touches((BRK, 3)), "TLP-LD", 2, reach=reach(mmap=512)), DATA, 2) == []


def test_huge_pages_need_the_begin_and_the_trace():
    with pytest.raises(TesseraError, match="--begin, --trace") as refused:
        expected_map(touches((MMAP, 1)), "TLP-LD", 2)
    assert refused.value.code == "numa-map-reach"


def test_the_reach_comes_from_the_begin_and_the_header():
    begin = PlacementMap.of([(DATA, 1, MMAP, 5, 7, 0)])
    found = Reach.of(begin, {"pools": [{"kind": "mmap", "used_bytes": 9000, "size_bytes": 1}]})
    assert (found.small - (1 << 40)).tolist() == [5, 6] and found.ends == {"mmap": 9000}


def test_a_large_page_of_a_map_holds_its_touches():
    found = PlacementMap.of([(DATA, 2, MMAP, 512, 1024, 0)])
    order = touches((MMAP, 5), (MMAP, 700), (BRK, 700), (MMAP, 1024))
    assert touches_as_far_as(order, found).page.tolist() == [5, 700]


def test_a_wrong_node_is_found_and_named():
    rule = expected_map(touches(*((MMAP, page) for page in range(1024))), "TRP-LD", 2, reach=reach(mmap=1024))
    wrong = [(*row[:5], 1) if row[:4] == (DATA, 2, MMAP, 0) else row for row in _apart(rule)]
    guest = PlacementMap.of(wrong)
    assert count_differences(compare_maps(guest, rule)) == 1
    line = "data of level 2, pool mmap, offset 0: node 1 in the first and node 0 in the second"
    assert list(named_differences(guest, rule)) == [("data", 2, line)]


def test_a_page_of_another_size_is_found_and_named():
    rule = expected_map(touches((MMAP, 3)), "TRP-LD", 2, reach=reach(mmap=512))
    guest = PlacementMap.of(
        [(DATA, 1, MMAP, 3, 4, 0), (TABLE, 1, MMAP, 0, 512, 1), (TABLE, 2, MMAP, 0, 1 << 18, 1)]
    )
    assert [line for _, _, line in named_differences(guest, rule)] == [
        "data of level 1, pool mmap, offset 12288: node 0 in the first and absent in the second",
        "data of level 2, pool mmap, offset 0: absent in the first and node 0 in the second",
        "table of level 1, pool mmap, offset 0: node 1 in the first and absent in the second",
    ]
    assert list(named_differences(rule, rule)) == []


def _apart(found):
    """The rows of a map, with one row for each 2MB page."""
    for kind, level, pool, start, end, node in found.tuples():
        size = 512 if (kind, level) == (DATA, 2) else end - start
        yield from ((kind, level, pool, at, at + size, node) for at in range(start, end, size))
