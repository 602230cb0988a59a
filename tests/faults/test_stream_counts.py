"""Counts of faults made by hand."""

import numpy as np

from tessera.lab.faults.kinds import TABLE
from tessera.lab.faults.latencies import comb
from tessera.lab.faults.recorded_faults import (
    Access,
    Count,
    Fault,
    counts_of_fault,
    in_order,
    largest,
    lines_by_structure,
    ordinary,
    summary_of_counts,
)


def fault(*accesses, tail=1, interrupts=0):
    return Fault(1, tuple(accesses), tail, interrupts, 0, (0, 0))


HAND = fault(
    Access(3, False, False, 0, 0x1000, 8, "mm"),
    Access(1, True, False, 0, 0x1008, 8, "mm"),  # the same line
    Access(1, False, False, 0, 0x103C, 8, "mm"),  # its end, and the next line
    Access(2, True, True, 0, 0x3000, 4096, "page"),
    Access(0, False, False, 0, 0x1010, 4, "VMA"),  # the first line again, by another name
    tail=5,
    interrupts=2,
)  # fmt: skip


def test_counts_by_hand():
    """3 + 1 + 1 + 2 + 5 instructions; lines 0x40, 0x41 and 64 of the page."""
    assert counts_of_fault(HAND, 7) == Count(7, 12, 3, 2, 4096, 66, 2)


def test_lines_by_structure_by_hand():
    assert lines_by_structure(HAND) == {"mm": (2, 1, 2), "page": (0, 64, 64), "VMA": (1, 0, 1)}


def test_the_ordinary_and_the_largest():
    found = [fault(tail=9), fault(tail=4), fault(tail=4, interrupts=1), fault(tail=2)]
    assert ordinary(found) is found[1] and largest(found) is found[0]


def test_a_summary_has_medians():
    rows = [
        Count(i, instructions, loads, 0, 0, 1, 0)
        for i, (instructions, loads) in enumerate([(9, 1), (5, 2), (7, 6)])
    ]
    found = summary_of_counts(rows)
    assert (found.faults, found.instructions, found.loads) == (3, (5, 7, 9), 2)


def test_a_dropped_fault_keeps_the_places_of_the_others():
    """A table at each 512th fault; fault 100 was dropped."""
    rows = [Count(i, 200 if i % 512 == 0 else 100, 0, 0, 0, 0, 0) for i in range(1100) if i != 100]
    instructions = in_order(rows)
    assert len(instructions) == 1100 and instructions[100] == 100
    assert np.flatnonzero(instructions > 100).tolist() == [0, 512, 1024]
    found = comb([instructions], TABLE)
    assert (found.asked, found.hits, found.extra) == (3, 3, 100)
