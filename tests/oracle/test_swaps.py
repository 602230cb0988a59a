"""Slots and readahead of swap: what the guest prints, and how it is compared."""

import pytest

from tessera.core.errors import TesseraError
from tessera.oracle.swaps import BASE, PAGE, PAGES, Run, Step, compare, events, guest_run

LINES = [f"touch {BASE:#x} w 8192", f"touch {BASE:#x} r", f"touch {BASE + PAGE:#x} w"]


def test_letters_pages_and_slots_of_the_guest():
    run = guest_run("0+2=16384 7+1=3 \ns 5+3 9+1\nc\np\n\n")
    assert run.slots == [{0: 16384, 1: 16385, 7: 3}, {}]
    assert run.steps == [Step("s", frozenset({5, 6, 7, 9})), Step("c", frozenset()), Step("p", frozenset())]


def test_another_slot_and_another_page_are_differences():
    guest = Run([Step("s", frozenset({0, 1})), Step("c", frozenset())], [{0: 5, 1: 6}, {0: 5, 1: 9}])
    assert [(one.values, one.equal) for one in compare(LINES, guest, guest)] == [(3, 3), (2, 2)]
    mine = Run([Step("s", frozenset({0})), Step("c", frozenset())], [{0: 5, 1: 7}, {0: 5, 1: 9}])
    slots, steps = compare(LINES, guest, mine)
    assert (slots.values, slots.equal, steps.equal) == (3, 2, 1)
    assert "6" in slots.first and "access 0" in steps.first


def test_a_missing_step_is_refused():
    with pytest.raises(TesseraError):
        compare(LINES, Run([], []), Run([], []))


def test_every_round_swaps_everything_out_and_ends_its_child():
    made = events()
    words = [line.split()[0] for line in made]
    assert (
        words.count("fork") == words.count("exit") == 9
        and sum(line.endswith("pageout") for line in made) == 12
    )
    assert all(
        BASE <= int(line.split()[1], 16) < BASE + PAGES * PAGE for line in made if line.startswith("touch")
    )
