"""Accesses after fork: their letters and how they are compared."""

import pytest

from tessera.core.errors import TesseraError
from tessera.lab.oracle.process_faults import compare_copies, copy_events

LINES = ["touch 0x1000 w 8192", "touch 0x1000 w", "fork 1", "touch 0x1000 r", "touch 0x1000 w"]


def test_letters_of_single_pages_are_compared():
    found = compare_copies(LINES, "nso", "nso")
    assert (found.compared, found.equal, found.first) == (3, 3, "")


def test_the_first_other_letter_is_named():
    found = compare_copies(LINES, "nso", "nss")
    assert found.equal == 2 and found.first.startswith("access 2 (touch 0x1000 w)")


def test_a_missing_letter_is_refused():
    with pytest.raises(TesseraError):
        compare_copies(LINES, "nso", "ns")


def test_every_child_exits_before_the_next_fork():
    made = [line.split()[0] for line in copy_events() if line.startswith(("fork", "exit"))]
    assert made[::2] == ["fork"] * (len(made) // 2) and made[1::2] == ["exit"] * (len(made) // 2)
