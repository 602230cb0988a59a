"""Reserve exactly the requested number of huge pages, with permission, and release them."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.processes import signals_raise
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.limits import huge_pages_room
from tessera.machine.reserve.machine_state import (
    Owner,
    ancestors,
    is_recorded,
    locked,
    read_record,
    remove_record,
    say,
    write_record,
)
from tessera.machine.reserve.pools import (
    command_for,
    huge_pages_free,
    huge_pages_total,
    lasting_total,
    set_total,
)


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

    Pages that are free already are used first and need no permission. With permission, those that another
    living process has added are left to it. Exceptions, Ctrl-C, SIGTERM and SIGHUP restore the pools; after
    SIGKILL the next reservation or ``./run`` of any checkout does.

    Args:
        node: NUMA node that must have them; None: any.
        allowed: permission to add pages; None: as :func:`reserving_allowed` says.

    Raises:
        HugePagesUnavailable: a cgroup's limit forbids so many pages, reserving is not allowed, or the kernel
            found fewer pages than requested.
        TesseraError: what is added can't be recorded (``machine-state``).
    """
    with signals_raise():
        name, _ = _reserved(count_2mb, count_1gb, node, allowed)
        try:
            yield
        finally:
            _give_back(name)


def keep_huge_pages(
    count_2mb: int, count_1gb: int = 0, *, node: int | None = None, allowed: bool | None = None
) -> dict[int, int]:
    """As :func:`reserve_huge_pages`, but the pages stay until :func:`release_kept`.

    Returns:
        page size in bytes -> pages added (pages that were free before are not recorded).
    """
    with signals_raise():
        _, added = _reserved(count_2mb, count_1gb, node, allowed, kept=True)
    return {PoolName.parsed(text).page_bytes: count for text, count in added.items()}


def restore_leftovers() -> dict[int, int]:
    """Take back what killed processes left reserved; returns page size in bytes -> pages.

    What can't be taken back stays recorded, and the user is told.
    """
    try:
        return _taken_back(lambda one: not one.kept and not one.owner.lives(), say_errors=True)
    except TesseraError as error:
        say(error.one_line)
        return {}


def release_kept() -> dict[int, int]:
    """Take back what was reserved to stay; returns page size in bytes -> pages.

    Raises:
        TesseraError: this user may not, or the record can't be used (``machine-state``).
    """
    return _taken_back(lambda one: one.kept)


def _reserved(
    count_2mb: int, count_1gb: int, node: int | None, allowed: bool | None, *, kept: bool = False
) -> tuple[str, dict[str, int]]:
    """Reserve all pages; on an error, restore the pools. Returns the reservation's name and its pages."""
    restore_leftovers()
    permitted = reserving_allowed() if allowed is None else allowed
    wanted = {PoolName(size, node): n for size, n in ((PAGE_2MB, count_2mb), (PAGE_1GB, count_1gb)) if n > 0}
    name = uuid.uuid4().hex
    for pool, count in wanted.items():
        require_room(pool.page_bytes, count)
        if not permitted:
            _require_free(pool, count)
    if not permitted or (not is_recorded(LEDGER) and all(pool.free() >= n for pool, n in wanted.items())):
        return name, {}
    try:
        with open_ledger() as ledger:
            for pool, count in wanted.items():
                _grow(ledger, name, pool, count)
            added = ledger.added_by(name)
            if kept and added:
                ledger.reservations[name].kept = True
                ledger.write()
            return name, added
    except BaseException:
        _give_back(name)
        raise


def _require_free(pool: PoolName, count: int) -> None:
    free = pool.free()
    if free < count:
        target = huge_pages_total(*pool.arguments) + count - free
        raise HugePagesUnavailable(
            pool.asked(count),
            f"{free} are free, and you did not allow reserving more",
            f"./run --reserve ..., or {pool.command(target)}",
        )


def _grow(ledger: Ledger, name: str, pool: PoolName, count: int) -> None:
    """Reserve pages until ``count`` are free for this process."""
    others = ledger.of_others(pool)
    free = max(0, pool.free() - others)
    if free >= count:
        return
    before = huge_pages_total(*pool.arguments)
    target = before + count - free
    ledger.change_pool(pool, name, target)
    got = _size(str(pool))
    if got < target:
        besides = f"; {others} more are those of other runs of Tessera" if others else ""
        raise HugePagesUnavailable(
            pool.asked(count),
            f"the kernel found {free + max(0, got - before)} (memory is full or fragmented){besides}",
            "stop other programs, use a smaller size, or reserve directly after a reboot",
            exit_code=EXIT_FAILED,
        )


def _give_back(name: str) -> None:
    """Take back what this process added; nothing if it added nothing."""
    _taken_back(lambda one: one.name == name)


def _taken_back(chosen: Callable[[Reservation], bool], *, say_errors: bool = False) -> dict[int, int]:
    """Take back what the chosen reservations added; returns page size in bytes -> pages."""
    restored: dict[int, int] = {}
    if not is_recorded(LEDGER):
        return restored
    with open_ledger() as ledger:
        for one in [one for one in ledger.reservations.values() if chosen(one)]:
            for text in list(one.added):
                pool, count = PoolName.parsed(text), one.added.get(text, 0)
                try:
                    ledger.change_pool(pool, one.name, _size(text) - count)
                except TesseraError as error:
                    if not say_errors or ledger.change is not None:
                        raise
                    say(f"{count} pages of {one.owner} are left reserved: {error.one_line}")
                else:
                    restored[pool.page_bytes] = restored.get(pool.page_bytes, 0) + count
    return restored


# What Tessera has added to the pools of this machine: one record, changed under its lock.
#
# Adding and taking back are relative, so reservations of several processes and checkouts may overlap. The
# record has what each added, and the size that each pool had after the last change. If a pool has another
# size, somebody else has set it: it stays as it is, and nothing is taken back from it any more.
#
# A change is written into the record before it is made. So a process that is killed between the two is
# understood: what it added is the difference between the pool's size now and before.

LEDGER = "huge-pages"
_LOST = (
    "Pages that it recorded stay reserved until the next boot, or until an administrator sets the number: "
    "sudo sysctl vm.nr_hugepages=NUMBER"
)


@dataclass(frozen=True)
class PoolName:
    """A pool: the machine's pages of a size in bytes, or those of a NUMA node. Its text is in the record."""

    page_bytes: int
    node: int | None = None

    @classmethod
    def parsed(cls, text: str) -> PoolName:
        size, _, node = text.partition("@node")
        return cls(int(size), int(node) if node else None)

    def __str__(self) -> str:
        return str(self.page_bytes) if self.node is None else f"{self.page_bytes}@node{self.node}"

    @property
    def arguments(self) -> tuple[int, ...]:
        """Of the functions of :mod:`pools`."""
        return (self.page_bytes,) if self.node is None else (self.page_bytes, self.node)

    def free(self) -> int:
        return huge_pages_free(*self.arguments)

    def command(self, total: int) -> str:
        return command_for(self.page_bytes, total, self.node)

    def asked(self, count: int) -> str:
        where = "" if self.node is None else f" on node {self.node}"
        return f"{count} free {format_bytes(self.page_bytes)} pages{where}"


@dataclass
class Reservation:
    """What one process added, by pool; ``kept``: the pages stay when it ends."""

    name: str
    owner: Owner
    added: dict[str, int]
    kept: bool = False


@dataclass(frozen=True)
class PoolChange:
    """A change of a pool's size that is being made."""

    pool: str
    name: str
    before: int
    after: int


@dataclass
class Ledger:
    """The record. ``totals``: size of each pool after the last change, without surplus pages."""

    reservations: dict[str, Reservation] = field(default_factory=dict)
    totals: dict[str, int] = field(default_factory=dict)
    change: PoolChange | None = None

    @classmethod
    def parsed(cls, facts: dict[str, Any]) -> Ledger:
        """Raises KeyError, TypeError, ValueError or AttributeError."""
        found = cls(totals=_counts(facts["totals"]))
        for name, one in facts["reservations"].items():
            owner = Owner.parsed(one["owner"])
            found.reservations[name] = Reservation(name, owner, _counts(one["added"]), bool(one["kept"]))
        if (change := facts["change"]) is not None:
            numbers = int(change["before"]), int(change["after"])
            PoolName.parsed(change["pool"])
            found.change = PoolChange(change["pool"], found.reservations[change["name"]].name, *numbers)
        return found

    def write(self) -> None:
        """Put it on disk; without a reservation there is no record."""
        if self.reservations:
            write_record(LEDGER, asdict(self))
        else:
            remove_record(LEDGER)

    def added_by(self, name: str) -> dict[str, int]:
        """Pages by pool."""
        return dict(self.reservations[name].added) if name in self.reservations else {}

    def of_others(self, pool: PoolName) -> int:
        """Pages that other living processes, not those that started this one, may have added to a pool."""
        near, count = ancestors(), 0
        for one in self.reservations.values():
            if one.kept or one.owner.pid in near or not one.owner.lives():
                continue
            for text, added in one.added.items():
                other = PoolName.parsed(text)
                apart = None not in (pool.node, other.node) and pool.node != other.node
                count += added if other.page_bytes == pool.page_bytes and not apart else 0
        return count

    def change_pool(self, pool: PoolName, name: str, total: int) -> None:
        """Set a pool's size for a reservation, which has then added what the size has grown by.

        Raises:
            TesseraError: this user may not, or the record can't be written. The record is right all the same.
        """
        before, total = _size(str(pool)), max(0, total)
        if name not in self.reservations:
            self.reservations[name] = Reservation(name, Owner.of(os.getpid()), {})
        self.change = PoolChange(str(pool), name, before, total)
        self.write()
        try:
            set_total(pool.page_bytes, total, *pool.arguments[1:])
        finally:
            self.settle()

    def settle(self) -> None:
        """Compare the record with the pools: note what a change did, and what somebody else did.

        Raises:
            TesseraError: a pool can't be read, so nothing is noted (``reserve/unreadable``), or the record
                can't be written.
        """
        change, settled = self.change, 0
        now = {text: _size(text) for text in (*self.totals, *([change.pool] if change else []))}
        differs = change is not None
        if change is not None:
            pool, size, one = PoolName.parsed(change.pool), now[change.pool], self.reservations[change.name]
            if min(change.before, change.after) <= size <= max(change.before, change.after):
                one.added[change.pool] = one.added.get(change.pool, 0) + size - change.before
                settled = pool.page_bytes  # those of its nodes and of the machine have changed with it
            else:
                self._leave(pool, size, change.after)
            self.change = None
        for text, expected in list(self.totals.items()):
            pool = PoolName.parsed(text)
            if text in self.totals and pool.page_bytes != settled and now[text] != expected:
                self._leave(pool, now[text], expected)
                differs = True
        if differs:
            for one in list(self.reservations.values()):
                one.added = {text: count for text, count in one.added.items() if count}
                if not one.added:
                    del self.reservations[one.name]
            self.totals = {text: now[text] for one in self.reservations.values() for text in one.added}
            self.write()

    def _leave(self, pool: PoolName, now: int, expected: int) -> None:
        """Somebody else has set the pool: forget what was added to pools of these pages, and say so."""
        count = 0
        for one in self.reservations.values():
            for text in [text for text in one.added if PoolName.parsed(text).page_bytes == pool.page_bytes]:
                count += one.added.pop(text)
        for text in [text for text in self.totals if PoolName.parsed(text).page_bytes == pool.page_bytes]:
            del self.totals[text]
        where = "this machine" if pool.node is None else f"node {pool.node}"
        say(
            f"{format_bytes(pool.page_bytes)} pages of {where}: {now} in place of {expected}. Somebody else "
            f"has set them, so they stay, and {count} that Tessera added are not taken back. "
            f"To set them: {pool.command(max(0, now - count))}"
        )


@contextmanager
def open_ledger() -> Iterator[Ledger]:
    """The record, under its lock, and as the pools are now. A damaged one is moved aside.

    Raises:
        TesseraError: the record can't be used (``machine-state``).
    """
    with locked(LEDGER):
        ledger = read_record(LEDGER, Ledger.parsed, _LOST) or Ledger()
        ledger.settle()
        yield ledger


def _size(text: str) -> int:
    """Pages of a pool; an error if it can't be read now, which says nothing about who has set it."""
    try:
        return lasting_total(*PoolName.parsed(text).arguments)
    except (OSError, ValueError) as error:
        raise TesseraError(
            f"the number of huge pages (pool {text})", str(error),
            "./run again: what is reserved stays recorded",
            exit_code=EXIT_FAILED, code="reserve/unreadable",
        ) from None  # fmt: skip


def _counts(facts: dict[str, Any]) -> dict[str, int]:
    """Pages by pool, checked."""
    return {str(PoolName.parsed(text)): int(count) for text, count in facts.items()}
