"""Reserve exactly the requested number of huge pages, with permission, and release them."""

from __future__ import annotations

import fcntl
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import repo_root
from tessera.core.processes import signals_raise
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.limits import huge_pages_room
from tessera.machine.reserve.pools import command_for, huge_pages_free, huge_pages_total, set_total


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
    """As :func:`reserve_huge_pages`, but the pages stay until :func:`release_kept`.

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


def _reserved(count_2mb: int, count_1gb: int, node: int | None, allowed: bool | None) -> ReservationFile:
    """Reserve all pages and return the record; on an error, restore the pools."""
    restore_leftovers()
    permitted = reserving_allowed() if allowed is None else allowed
    wanted = {size: n for size, n in ((PAGE_2MB, count_2mb), (PAGE_1GB, count_1gb)) if n > 0}
    record = ReservationFile()
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


def _grow(record: ReservationFile, key: PoolKey, count: int, permitted: bool) -> None:
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


# What each reservation added to the pools, on disk, so that ``kill -9`` can't leak it.
#
# One file per reservation in ``.tessera/reserve/``, held locked by its owner: the kernel drops the lock when
# the owner dies, however it dies, and whoever starts next takes back what an unlocked file says was added.
# A reservation that is to outlive its process says so (``kept``) and stays until :func:`release_kept`.
# Adding and taking back are relative, so reservations may nest and overlap.

#: Differs at each boot. Not ``psutil.boot_time()``: that changes when the clock is set.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

#: A pool: the machine's pages of a size in bytes, or (size, NUMA node).
PoolKey = int | tuple[int, int]


def records_folder() -> Path:
    """``.tessera/reserve`` of the checkout, created."""
    folder = repo_root() / ".tessera" / "reserve"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def adjusting() -> Iterator[None]:
    """One change of the pools at a time."""
    with (records_folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class ReservationFile:
    """A reservation's file; ``added`` maps a pool to the pages added."""

    def __init__(self):
        self.path = records_folder() / f"{uuid.uuid4().hex}.json"
        # The file gets its name when it is locked: no one takes it for a killed process's.
        unfinished = self.path.with_suffix(".new")
        self._stream: IO[str] = unfinished.open("w")
        fcntl.flock(self._stream, fcntl.LOCK_EX)
        unfinished.rename(self.path)
        self.added: dict[PoolKey, int] = {}
        self.kept = False

    def write(self) -> None:
        """Put ``added`` on disk, before the pools are touched."""
        added = {_pool_key_text(key): count for key, count in self.added.items()}
        facts = {"boot_id": BOOT_ID.read_text().strip(), "pid": os.getpid(), "added": added}
        self._stream.seek(0)
        self._stream.truncate()
        json.dump(facts | {"kept": True} if self.kept else facts, self._stream)
        self._stream.flush()

    def keep(self) -> None:
        """From now on the pages stay when this process ends, until :func:`release_kept`."""
        self.kept = True
        self.write()
        self._stream.close()

    def close(self) -> None:
        """Nothing is reserved any more."""
        self.path.unlink(missing_ok=True)
        self._stream.close()


def take_back(added: dict[PoolKey, int]) -> None:
    """Shrink the pools by what a reservation added; pages still in use go when they are freed."""
    for key, count in added.items():
        page_bytes, *node = key if isinstance(key, tuple) else (key,)
        set_total(page_bytes, max(0, huge_pages_total(page_bytes, *node) - count), *node)


def restore_leftovers() -> dict[int, int]:
    """Take back what killed processes left reserved; returns page size in bytes -> pages."""
    return _take_back_records(kept=False)


def release_kept() -> dict[int, int]:
    """Take back what was reserved to stay; returns page size in bytes -> pages."""
    return _take_back_records(kept=True)


def _take_back_records(kept: bool) -> dict[int, int]:
    """Take back all records of one kind whose owner does not live."""
    restored: dict[int, int] = {}
    for path in records_folder().glob("*.json"):
        with ownerless(path) as stream:
            if stream is None:
                continue
            facts = _record_facts(stream.read())
            if facts is not None and facts.get("kept", False) != kept:
                continue
            with adjusting():
                for text, count in facts["added"].items() if facts else ():
                    key = _pool_key(text)
                    take_back({key: count})
                    page_bytes = key[0] if isinstance(key, tuple) else key
                    restored[page_bytes] = restored.get(page_bytes, 0) + count
                path.unlink(missing_ok=True)
    return restored


@contextmanager
def ownerless(path: Path) -> Iterator[IO[str] | None]:
    """The record, locked; None if its owner lives, or if its owner or another process has removed it."""
    try:
        stream = path.open()
    except FileNotFoundError:
        yield None
        return
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        # Opened before it was removed, locked after that: what it says has been taken back.
        yield stream if os.fstat(stream.fileno()).st_nlink else None


def _record_facts(content: str) -> dict | None:
    """A record of this boot, else None: an empty one's owner had added nothing, a reboot freed the rest."""
    facts = json.loads(content) if content else None
    return facts if facts and facts["boot_id"] == BOOT_ID.read_text().strip() else None


def _pool_key_text(key: PoolKey) -> str:
    return f"{key[0]}@node{key[1]}" if isinstance(key, tuple) else str(key)


def _pool_key(text: str) -> PoolKey:
    page_bytes, _, node = text.partition("@node")
    return (int(page_bytes), int(node)) if node else int(page_bytes)
