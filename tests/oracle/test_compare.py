"""Counting of equal decisions, and blocks of events as lines."""

import numpy as np

from tessera.lab.oracle.allocator import Comparison, block_lines, first_divergence
from tessera.lab.oracle.comparisons import disagreements
from tessera.lab.oracle.imitation import FREE, NONE, Agreement, frames_by_id, frames_of, without_used

#: alloc, alloc, free of the first, alloc
EVENTS = np.array([0, 1, FREE | 0, 2], dtype=np.uint32)


def test_frees_are_events_and_no_decisions():
    result = Comparison()
    guest, mine = np.array([8, NONE, NONE, 12]), np.array([8, NONE, 99, 16])
    result.add(EVENTS, slice(0, 4), guest, mine)
    assert (result.events, result.decisions, result.refused, result.equal) == (4, 3, 1, 2)
    assert (result.first.index, result.first.guest, result.first.imitation) == (3, 12, 16)


def test_the_first_difference_of_a_later_block_has_the_index_in_all_events():
    result = Comparison()
    result.add(EVENTS, slice(2, 4), np.array([NONE, 5]), np.array([NONE, 6]))
    result.add(EVENTS, slice(0, 1), np.array([1]), np.array([2]))
    assert result.first.index == 3 and result.equal == 0 and result.decisions == 2


def test_memory_of_an_earlier_block_is_freed_by_its_frame():
    guest = np.array([8, NONE, NONE, 12])
    assert block_lines(EVENTS, slice(1, 4), guest)[1] == "free-frame 8 0"
    assert block_lines(EVENTS, slice(0, 3), guest)[2] == "free 0"


def test_a_free_of_what_an_earlier_block_did_not_get_is_no_line():
    assert block_lines(EVENTS, slice(2, 3), np.array([NONE, NONE, NONE, NONE])) == []


def test_outcomes_of_the_imitation():
    found = frames_by_id("> alloc 3 0 Movable\n  alloc cpu=0\n3 512\n4 none memory\n")
    assert found == {3: 512, 4: NONE}
    assert frames_of(found, 6).tolist() == [NONE, NONE, NONE, 512, NONE, NONE]


def test_states_are_compared_without_blocks_in_use():
    assert without_used("cpus 1\nused 0 5 1\nend\n") == "cpus 1\nend\n"
    assert "'free DMA 0'" in first_divergence("cpus 1\nfree DMA 0\n", "cpus 1\nfree DMA 1\n")


def test_the_free_running_row_never_fails_and_the_others_need_999_of_1000():
    rows = [
        Agreement(10, 1, what="10 events, free-running"),
        Agreement(1000, 999, what="a"),
        Agreement(1000, 998, what="b"),
    ]
    assert [row.what for row in disagreements(rows)] == ["b"]
