"""The ``perf stat`` line that records a pass, in the form that ``tessera measure import`` reads.

``-x\\;`` because events contain commas; LC_ALL=C because some locales write decimal commas. All hardware
events are one group, so that perf counts all of them or none. Each event has our name with the mode in it:
perf shows no modifier of an event with ``name=``.
"""

from __future__ import annotations

from tessera.core.errors import TesseraError
from tessera.counters.passes import Pass

MODES = {"u": "user mode", "uk": "user mode and kernel"}
#: Counted by the kernel's software, so they need no counter: they show faults and waiting in a run.
SOFTWARE = ("task-clock", "page-faults", "context-switches", "cpu-migrations")


def events_of(one: Pass, mode: str, pmu: str = "") -> str:
    """The group for ``perf stat -e``.

    Raises:
        TesseraError: the mode is not ``u`` or ``uk``.
    """
    if mode not in MODES:
        raise TesseraError(f"mode '{mode}'", "no such mode", f"use one of: {', '.join(MODES)}")
    return "{" + ",".join(event.term(mode, pmu) for event in one.events) + "}"


def perf_stat(one: Pass, mode: str, pmu: str = "") -> str:
    """A line for a shell; LAYOUT and PROGRAM are for the reader to replace."""
    return (
        f"LC_ALL=C perf stat -x\\; -o LAYOUT.{one.name}.perf -e '{events_of(one, mode, pmu)}'"
        f" -e {','.join(SOFTWARE)} -- PROGRAM"
    )
