"""Reserve exactly the requested number of huge pages, with permission, and release them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.interrupts import signals_raise
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.limits import huge_pages_room
from tessera.machine.reserve.pools import command_for, huge_pages_free, huge_pages_total, set_total
from tessera.machine.reserve.records import PoolKey, Record, adjusting, restore_leftovers, take_back


class HugePagesUnavailable(TesseraError):
    """Too few free huge pages, and no more can be reserved: a reason to skip real runs."""


def require_room(page_bytes: int, count: int) -> None:
    """Refuse pages that a cgroup's limit forbids to this process, however many the machine has.

    Raises:
        HugePagesUnavailable: the limit, the pages that it leaves, and how to raise it.
    """
    room = huge_pages_room(page_bytes)
    if room is not None and room.pages < count:
        raise HugePagesUnavailable(
            f"{count} free {format_bytes(page_bytes)} pages",
            f"{room.limit} leaves {room.pages} to this process",
            room.remedy(count, page_bytes),
            exit_code=EXIT_FAILED,
            code="reserve/limit",
        )


def reserving_allowed() -> bool:
    """Whether ``./run --reserve`` (``TESSERA_RESERVE=1``) gave permission to change the pools."""
    return os.environ.get("TESSERA_RESERVE") == "1"


@contextmanager
def reserve_huge_pages(
    count_2mb: int, count_1gb: int = 0, *, node: int | None = None, allowed: bool | None = None
) -> Iterator[None]:
    """Make at least so many huge pages free at the start of the block; restore the pools afterwards.

    Pages that are free already are used first and need no permission. Exceptions, Ctrl-C, SIGTERM and SIGHUP
    restore the pools; after SIGKILL the next reservation or ``./run`` does.

    Args:
        node: NUMA node that must have them; None: any.
        allowed: permission to add pages; None: as :func:`reserving_allowed` says.

    Raises:
        HugePagesUnavailable: a cgroup's limit forbids so many pages, reserving is not allowed, or the kernel
            found fewer pages than requested.
    """
    with signals_raise():
        record = _reserved(count_2mb, count_1gb, node, allowed)
        try:
            yield
        finally:
            with adjusting():
                take_back(record.added)
            record.close()


def keep_huge_pages(
    count_2mb: int, count_1gb: int = 0, *, node: int | None = None, allowed: bool | None = None
) -> dict[int, int]:
    """As :func:`reserve_huge_pages`, but the pages stay until :func:`tessera.machine.reserve.release_kept`.

    Returns:
        page size in bytes -> pages added (pages that were free before are not recorded).
    """
    with signals_raise():
        record = _reserved(count_2mb, count_1gb, node, allowed)
        if record.added:
            record.keep()
        else:
            record.close()
    return {key[0] if isinstance(key, tuple) else key: count for key, count in record.added.items()}


def _reserved(count_2mb: int, count_1gb: int, node: int | None, allowed: bool | None) -> Record:
    """Reserve all pages and return the record; on an error, restore the pools."""
    restore_leftovers()
    permitted = reserving_allowed() if allowed is None else allowed
    wanted = {size: n for size, n in ((PAGE_2MB, count_2mb), (PAGE_1GB, count_1gb)) if n > 0}
    record = Record()
    try:
        with adjusting():
            for size, count in wanted.items():
                _grow(record, size if node is None else (size, node), count, permitted)
    except BaseException:
        with adjusting():
            take_back(record.added)
        record.close()
        raise
    return record


def _grow(record: Record, key: PoolKey, count: int, permitted: bool) -> None:
    """Reserve pages until ``count`` are free; writes the record first."""
    page_bytes, *node = key if isinstance(key, tuple) else (key,)
    require_room(page_bytes, count)
    free = huge_pages_free(page_bytes, *node)
    if free >= count:
        return
    before = huge_pages_total(page_bytes, *node)
    target = before + count - free
    where = f" on node {node[0]}" if node else ""
    asked = f"{count} free {format_bytes(page_bytes)} pages{where}"
    if not permitted:
        raise HugePagesUnavailable(
            asked,
            f"{free} are free, and you did not allow reserving more",
            f"./run --reserve ..., or {command_for(page_bytes, target, *node)}",
        )
    record.added[key] = target - before
    record.write()
    got = set_total(page_bytes, target, *node)
    record.added[key] = max(0, got - before)
    record.write()
    if got < target:
        raise HugePagesUnavailable(
            asked,
            f"the kernel found {free + got - before} (memory is full or fragmented)",
            "stop other programs, use a smaller size, or reserve directly after a reboot",
            exit_code=EXIT_FAILED,
        )
