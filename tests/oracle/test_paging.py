"""Maps of a process: runs of changes, and what counts as another frame."""

import numpy as np

from tessera.lab.oracle.paging import (
    NONE,
    SWAPPED,
    ZERO,
    Paging,
    _printed_map,
    changed_runs,
    nothing,
    page_differences,
)
from tessera.lab.oracle.process_faults import PAGE, REGION


def with_pages(**runs):
    """A map with runs: p10=[3, 4] sets pages 10 and 11."""
    frames = nothing()
    for name, values in runs.items():
        first = int(name[1:])
        frames[first : first + len(values)] = values
    return frames


def test_runs_of_ascending_frames_and_of_equal_kinds():
    now = with_pages(p10=[7, 8, 9, 9, ZERO, ZERO, SWAPPED], p20=[5])
    firsts, values, counts = changed_runs(nothing(), now)
    assert np.cumsum(firsts).tolist() == [10, 13, 14, 16, 20]
    assert np.cumsum(values).tolist() == [7, 9, ZERO, SWAPPED, 5] and counts == [3, 1, 2, 1, 1]
    assert changed_runs(now, now) == ([], [], [])


def test_all_looks_come_back():
    looks = {"a": with_pages(p0=[4, 5, 6]), "b": with_pages(p1=[5, ZERO]), "c": nothing()}
    paging = Paging(["# look a"], "state", 9, looks)
    back = Paging.unpacked(paging.packed())
    assert (back.events, back.state, back.root, list(back.looks)) == (
        ["# look a"],
        "state",
        9,
        ["a", "b", "c"],
    )
    assert all((back.looks[name] == frames).all() for name, frames in looks.items())


def test_what_the_imitation_prints():
    at = REGION + 3 * PAGE
    part = f"pages {at:#x} frame=100 count=2\npages {at + 2 * PAGE:#x} zero count=1\n"
    part += f"pages {at + 3 * PAGE:#x} slot=9 count=2\n"
    assert _printed_map(part)[2:9].tolist() == [NONE, 100, 101, ZERO, SWAPPED, SWAPPED, NONE]


def test_moved_pages_and_new_pages_are_counted_apart():
    guest = {"a": with_pages(p0=[1, 2, 3]), "b": with_pages(p0=[1, 8, 9, 4])}
    assert page_differences(guest, guest, moved=True).compared == 2
    assert page_differences(guest, guest, moved=False).compared == 4
    other = {"a": guest["a"], "b": with_pages(p0=[7, 8, 9, 5])}
    moved, new = page_differences(guest, other, moved=True), page_differences(guest, other, moved=False)
    assert (moved.compared, moved.equal) == (3, 2) and f"{REGION:#x}: guest 1, imitation 7" in moved.first
    assert (new.compared, new.equal) == (4, 3)


def test_a_huge_page_counts_once():
    guest = {"a": with_pages(p512=list(range(1024, 1536)))}
    found = page_differences(guest, guest, moved=False, span=512)
    assert (found.compared, found.equal) == (1, 1)
