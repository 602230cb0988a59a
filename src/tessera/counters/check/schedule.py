"""Are all events of a pass on counters at the same time, all the time? A short loop is counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tessera.counters.attributes import Attribute
from tessera.counters.check.kernel import Count, Kernel
from tessera.counters.check.refusal import refusal
from tessera.counters.check.row import DIFFERS, OK, REFUSED, Row

LOOP_SECONDS = 0.02
_WANTED = "one group, counted all the time"


def spin() -> None:
    """Compute for :data:`LOOP_SECONDS` of processor time."""
    end = time.process_time() + LOOP_SECONDS
    while time.process_time() < end:
        sum(range(100))


def group_count(
    kernel: Kernel, events: Sequence[Attribute], work: Callable[[], None]
) -> dict[str, Count | None]:
    """Counts of ``work`` by role, the events in one group.

    Raises:
        OSError: the kernel does not open one of them; ``filename`` is its role.
    """
    opened: dict[str, int] = {}
    try:
        for event in events:
            leader = next(iter(opened.values()), -1)
            try:
                opened[event.role] = kernel.open(event, leader)
            except OSError as error:
                error.filename = event.role
                raise
        leader = next(iter(opened.values()))
        kernel.enable(leader)
        work()
        kernel.disable(leader)
        return {role: kernel.read(descriptor) for role, descriptor in opened.items()}
    finally:
        for descriptor in opened.values():
            kernel.close(descriptor)


def scheduled(
    kernel: Kernel,
    class_name: str,
    name: str,
    events: Sequence[Attribute],
    needed: bool = True,
    work: Callable[[], None] = spin,
) -> Row:
    """The row of one pass: its hardware events as a group."""

    def row(found: str, status: str, remedy: str = "") -> Row:
        return Row(class_name, "scheduled", f"pass {name}", _WANTED, found, status, remedy, needed)

    try:
        counts = group_count(kernel, events, work)
    except OSError as error:
        found, remedy = refusal(error)
        return row(f"{error.filename}: {found}", REFUSED, remedy)
    wrong = [role for role, count in counts.items() if count is None or not count.whole]
    if wrong:
        remedy = "free counters: sudo sysctl kernel.nmi_watchdog=0, SMT off, end other profilers"
        return row(f"not all the time: {', '.join(wrong)}", DIFFERS, remedy)
    return row(f"{len(counts)} events", OK)
