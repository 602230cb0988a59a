"""Pages that reclaim took: what is compared."""

from tessera.lab.oracle.paging import SWAPPED, nothing
from tessera.lab.oracle.scenes import (
    KSWAPD_PAGES,
    compare_reclaim_order,
    compare_reclaimed,
    kswapd_events,
    reclaim_events,
    with_flushes,
)


def swapped(*pages):
    """A map in which these pages are in swap and all others are at frame 1."""
    frames = nothing()
    frames[:100] = 1
    frames[list(pages)] = SWAPPED
    return frames


def test_only_pages_that_one_of_both_took_since_the_look_before():
    guest = {"a": swapped(1, 2), "b": swapped(2, 3), "c": swapped(2, 3)}
    assert (compare_reclaimed(guest, guest).compared, compare_reclaimed(guest, guest).equal) == (3, 3)
    mine = {"a": swapped(1, 2), "b": swapped(2, 4), "c": swapped(2, 4)}
    found = compare_reclaimed(guest, mine)
    assert (found.compared, found.equal) == (4, 2) and "look b" in found.first and "guest only" in found.first


def test_the_order_does_not_depend_on_the_number():
    guest = {"full-1": swapped(), "full-2": swapped(1, 2, 3), "used-0": swapped(9)}
    assert compare_reclaim_order(guest, {"full-2": swapped(1, 2, 3, 4, 5)}).equal == 3
    found = compare_reclaim_order(guest, {"full-2": swapped(1, 7)})
    assert (found.compared, found.equal) == (2, 1) and found.first


def test_counters_are_folded_around_each_request():
    lines = ["touch 0 w", "reclaim 4096", "# look reclaimed-0-0", "touch 0 r", "# look used-0-0"]
    at = "flush-counters"
    assert with_flushes(lines) == [lines[0], at, lines[1], lines[2], at, *lines[3:]]


def test_every_episode_starts_with_new_memory():
    words = [line.split()[0] for line in reclaim_events()]
    assert words.count("mmap") == words.count("munmap") == 12 and words.count("reclaim") == 48
    assert (
        sum(line.startswith("touch") and len(line.split()) == 4 for line in kswapd_events())
        == KSWAPD_PAGES // 1000
    )
