"""Slots and readahead of swap: what the guest prints, and how it is compared."""

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_4KB
from tessera.lab.oracle.readahead import (
    SWAP_BASE,
    SWAP_PAGES,
    SwapRun,
    SwapStep,
    compare_swaps,
    guest_swap_run,
    swap_events,
)

LINES = [f"touch {SWAP_BASE:#x} w 8192", f"touch {SWAP_BASE:#x} r", f"touch {SWAP_BASE + PAGE_4KB:#x} w"]


def test_letters_pages_and_slots_of_the_guest():
    run = guest_swap_run("0+2=16384 7+1=3 \ns 5+3 9+1\nc\np\n\n")
    assert run.slots == [{0: 16384, 1: 16385, 7: 3}, {}]
    assert run.steps == [
        SwapStep("s", frozenset({5, 6, 7, 9})),
        SwapStep("c", frozenset()),
        SwapStep("p", frozenset()),
    ]


def test_another_slot_and_another_page_are_differences():
    guest = SwapRun(
        [SwapStep("s", frozenset({0, 1})), SwapStep("c", frozenset())], [{0: 5, 1: 6}, {0: 5, 1: 9}]
    )
    assert [(one.compared, one.equal) for one in compare_swaps(LINES, guest, guest)] == [(3, 3), (2, 2)]
    mine = SwapRun([SwapStep("s", frozenset({0})), SwapStep("c", frozenset())], [{0: 5, 1: 7}, {0: 5, 1: 9}])
    slots, steps = compare_swaps(LINES, guest, mine)
    assert (slots.compared, slots.equal, steps.equal) == (3, 2, 1)
    assert "6" in slots.first and "access 0" in steps.first


def test_a_missing_step_is_refused():
    with pytest.raises(TesseraError):
        compare_swaps(LINES, SwapRun([], []), SwapRun([], []))


def test_every_round_swaps_everything_out_and_ends_its_child():
    made = swap_events()
    words = [line.split()[0] for line in made]
    assert (
        words.count("fork") == words.count("exit") == 9
        and sum(line.endswith("pageout") for line in made) == 12
    )
    assert all(
        SWAP_BASE <= int(line.split()[1], 16) < SWAP_BASE + SWAP_PAGES * PAGE_4KB
        for line in made
        if line.startswith("touch")
    )
