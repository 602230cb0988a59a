"""Steps of accesses to files: what the guest prints, and how steps are compared."""

import pytest

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_4KB
from tessera.lab.oracle.readahead import (
    FILE_EVENTS,
    FILE_PAGES,
    FileStep,
    compare_file_steps,
    file_events,
    guest_file_steps,
)

LINES = ["file 1 8192", "read 1 0 4096", "mmap 0x200000000000 0x2000 r file=2", "touch 0x200000001000 r"]


def test_steps_of_the_guest():
    assert guest_file_steps("7+3 20+1 \n\n5+1 mapped=16\nmapped=0\n") == [
        FileStep(frozenset({7, 8, 9, 20})),
        FileStep(frozenset()),
        FileStep(frozenset({5}), 16),
        FileStep(frozenset(), 0),
    ]


def test_a_page_or_an_entry_more_is_a_difference():
    guest = [FileStep(frozenset({0, 1})), FileStep(frozenset({1}), 16)]
    assert {
        kind: (one.compared, one.equal) for kind, one in compare_file_steps(LINES, guest, guest).items()
    } == {
        "read": (1, 1),
        "touch": (1, 1),
    }
    other = compare_file_steps(LINES, guest, [FileStep(frozenset({0})), FileStep(frozenset({1}), 15)])
    assert (other["read"].equal, other["touch"].equal) == (0, 0)
    assert "16, 15" in other["touch"].first


def test_a_missing_step_is_refused():
    with pytest.raises(TesseraError) as caught:
        compare_file_steps(LINES, [FileStep(frozenset())], [])
    assert {"1", "0"} <= set(caught.value.found.replace(",", "").split())


def test_accesses_stay_inside_the_files():
    made = file_events()
    assert sum(line.startswith(("read", "touch")) for line in made) == sum(FILE_EVENTS.values())
    assert max(int(line.split()[2]) for line in made if line.startswith("read")) < FILE_PAGES * PAGE_4KB
