"""Doctor's rows on huge pages: supported sizes, free pages, and transparent huge pages."""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.doctor.check import Check, passed, skipped
from tessera.machine.limits import huge_pages_room
from tessera.machine.reserve.pools import command_for, free_in_pool, huge_pages_total, supported_sizes

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def checks() -> list[Check]:
    """Rows about page sizes."""
    return [_pool(PAGE_2MB, 512), _pool(PAGE_1GB, 1), _transparent()]


def _pool(page_bytes: int, example: int) -> Check:
    """One pool; ``example`` is the number of pages that the remedy's command asks for."""
    name = f"{format_bytes(page_bytes)} pages"
    if page_bytes not in supported_sizes():
        return skipped(
            name, "not supported by kernel and processor", "real runs skip the layouts that need these pages"
        )
    free, total, room = free_in_pool(page_bytes), huge_pages_total(page_bytes), huge_pages_room(page_bytes)
    found = f"{free} free of {total} reserved"
    if room is not None:
        found += f"; at most {room.pages} for this process: {room.limit}"
        if not room.pages:
            return skipped(name, found, room.remedy(example, page_bytes))
    if free:
        return passed(name, found)
    remedy = f"./run --reserve ... reserves them during a run; or {command_for(page_bytes, example)}"
    return skipped(name, found, remedy)


def _transparent() -> Check:
    if not THP.exists():
        return passed("transparent pages", "this kernel has no transparent huge pages")
    mode = re.search(r"\[(\w+)\]", THP.read_text())
    chosen = mode.group(1) if mode else "unknown"
    if chosen != "always":
        return passed("transparent pages", chosen)
    return skipped(
        "transparent pages",
        "always: the kernel may turn 4KB pages of a layout into 2MB pages",
        "to prevent this: echo madvise | sudo tee " + str(THP),
    )
