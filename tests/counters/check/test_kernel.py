"""The kernel of this machine counts software events: in this process, and in a program from its exec on."""

from __future__ import annotations

import sys

import pytest

from tessera.machine.counter_check.known_programs import chase_counter, software_rows
from tessera.machine.counter_check.opening import Linux, group_count, spin
from tessera.machine.counters.attributes import Attribute

CLOCK = Attribute("task-clock", "task-clock", 1, 1, 0, 0, "u")
FAULTS = Attribute("page-faults", "page-faults", 1, 2, 0, 0, "u")
PROGRAM = """import mmap, sys
memory = mmap.mmap(-1, 4096 * mmap.PAGESIZE)
for at in range(int(sys.argv[1])):
    memory[at * mmap.PAGESIZE] = 1
"""


@pytest.fixture(scope="module")
def kernel():
    linux = Linux()
    try:
        linux.close(linux.open(FAULTS))
    except OSError as error:
        pytest.skip(f"this machine opens no software event: {error}")
    return linux


def test_software_events_are_proved(kernel):
    rows = software_rows(kernel, "u")
    assert [(row.check, row.subject, row.status) for row in rows] == [
        ("opens", "page-faults", "ok"),
        ("opens", "task-clock", "ok"),
        ("software", "page-faults", "ok"),
        ("software", "task-clock", "ok"),
    ]


def test_a_group_counts_all_the_time(kernel):
    counts = group_count(kernel, [CLOCK, FAULTS], spin)
    assert all(count.whole for count in counts.values())
    assert counts["task-clock"].value > 10_000_000  # spin computes for 20 ms


def test_two_runs_differ_by_their_pages(kernel):
    """From exec on, so that Python's start is in both: 3000 more pages are 3000 more faults."""
    few, many = (
        chase_counter(kernel)([FAULTS, CLOCK], [sys.executable, "-c", PROGRAM, pages])
        for pages in ("500", "3500")
    )
    more = many["page-faults"].value - few["page-faults"].value
    assert 2900 <= more <= 3100
    assert few["page-faults"].value > 500 and many["task-clock"].whole


def test_a_program_that_fails_gives_its_message(kernel):
    with pytest.raises(ValueError, match="bad argument"):
        chase_counter(kernel)([FAULTS], ["sh", "-c", "echo 'bad argument' >&2; exit 3"])


def test_an_event_that_does_not_exist_is_refused(kernel):
    with pytest.raises(OSError):
        kernel.open(Attribute("x", "x", 0x7FFF_FFFF, 0, 0, 0, "u"))
