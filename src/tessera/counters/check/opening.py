"""Does the kernel open each event of a pass, alone?"""

from __future__ import annotations

from collections.abc import Iterable

from tessera.counters.attributes import Attribute
from tessera.counters.check.kernel import Kernel
from tessera.counters.check.refusal import refusal
from tessera.counters.check.row import OK, REFUSED, Row


def opens(kernel: Kernel, class_name: str, events: Iterable[Attribute], needed: bool = True) -> list[Row]:
    """A row for each event."""
    return [_opens(kernel, class_name, event, needed) for event in events]


def _opens(kernel: Kernel, class_name: str, event: Attribute, needed: bool) -> Row:
    wanted = f"{event.name}: type {event.type}, config {event.config:#x}"
    try:
        kernel.close(kernel.open(event))
    except OSError as error:
        found, remedy = refusal(error)
        return Row(class_name, "opens", event.role, wanted, found, REFUSED, remedy, needed)
    return Row(class_name, "opens", event.role, wanted, "opened", OK, needed=needed)
