"""Software events need no PMU: the kernel counts page faults and time on a processor. Both are proved."""

from __future__ import annotations

import contextlib
import mmap
import time
from collections.abc import Iterable

from tessera.counters.attributes import Attribute
from tessera.counters.check.kernel import Count, Kernel
from tessera.counters.check.opening import opens
from tessera.counters.check.row import DIFFERS, OK, Row
from tessera.counters.check.schedule import spin

PAGES = 256  #: touched for the first time: each one faults
_OTHER_FAULTS = 200  #: of Python itself
_EVENTS = {"page-faults": 2, "task-clock": 1}  #: perf_event_attr.config of type 1


def software(kernel: Kernel, mode: str) -> list[Row]:
    """Rows of page-faults and task-clock: opened, then proved."""
    events = [Attribute(name, name, 1, config, 0, 0, mode) for name, config in _EVENTS.items()]
    rows = opens(kernel, "", events)
    opened = [event for event, row in zip(events, rows, strict=True) if row.status == OK]
    return rows + list(_proofs(kernel, opened))


def _proofs(kernel: Kernel, events: Iterable[Attribute]) -> Iterable[Row]:
    for event in events:
        if event.name == "page-faults":
            count, _ = _counted(kernel, event, _touch)
            yield _row(event.name, count, PAGES, PAGES + _OTHER_FAULTS, f"faults of {PAGES} new pages")
        else:
            count, elapsed_ns = _counted(kernel, event, spin)
            yield _row(event.name, count, 1, elapsed_ns, "ns, within the elapsed time")


def _counted(kernel: Kernel, event: Attribute, work) -> tuple[Count | None, int]:
    """The count, and the time in ns from before enable to after disable."""
    descriptor = kernel.open(event)
    try:
        begin = time.monotonic_ns()
        kernel.enable(descriptor)
        work()
        kernel.disable(descriptor)
        return kernel.read(descriptor), time.monotonic_ns() - begin
    finally:
        kernel.close(descriptor)


def _touch() -> None:
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        with contextlib.suppress(OSError):  # EINVAL: this kernel has no transparent huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1


def _row(name: str, count: Count | None, least: int, most: int, what: str) -> Row:
    wanted = f"{least} to {most} {what}"
    if count is not None and least <= count.value <= most:
        return Row("", "software", name, wanted, str(count.value), OK)
    found = "no count" if count is None else str(count.value)
    return Row("", "software", name, wanted, found, DIFFERS, "report it: this kernel counts in another way")
