"""Does the kernel open each event of a pass, and count all of them at the same time?"""

from __future__ import annotations

import csv
import ctypes
import errno
import fcntl
import io
import os
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Protocol

from tessera.machine.counters.attributes import Attribute
from tessera.machine.counters.event import LATE_NS, LATE_SHARE

# A result of ``tessera measure counters check``: a row of its table and of ``checks.csv``.

OK = "ok"
REFUSED = "refused"  #: the kernel does not open the event
DIFFERS = "differs"  #: it counts, but not what it must
UNPROVEN = "unproven"  #: nothing was counted that could show it
STATUSES = (OK, REFUSED, DIFFERS, UNPROVEN)


@dataclass(frozen=True)
class CounterCheck:
    """``check`` is opens, scheduled, software, proof or fact; ``subject`` the event, the pass or the fact.

    Attributes:
        class_name: the class of processors; empty for software events.
        needed: whether cells need it: events of R, H, M and C, not those of optional passes.
    """

    class_name: str
    check: str
    subject: str
    wanted: str
    found: str
    status: str
    remedy: str = ""
    needed: bool = True


def failed_checks(rows: Iterable[CounterCheck]) -> list[CounterCheck]:
    """Rows with which this machine can't measure: needed, and refused or different."""
    return [row for row in rows if row.needed and row.status in (REFUSED, DIFFERS)]


def rows_csv(rows: Iterable[CounterCheck]) -> str:
    """Content of ``checks.csv``: class_name, check, subject, wanted, found, status, remedy, needed."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(field.name for field in fields(CounterCheck))
    writer.writerows(map(astuple, rows))
    return stream.getvalue()


# The calls of perf_event_open that the checks need, through ctypes; tests replace them.
#
# Source: Linux, include/uapi/linux/perf_event.h; perf_event_open(2).

_SYSTEM_CALL = 298  #: perf_event_open on x86-64
_BYTES = 128  #: of perf_event_attr (PERF_ATTR_SIZE_VER7)
_FLAG_CLOEXEC = 1 << 3
_READ_TIMES = 1 << 0 | 1 << 1  #: PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING
_DISABLED, _PINNED, _EXCLUDE_USER, _EXCLUDE_KERNEL, _EXCLUDE_HV = (1 << n for n in (0, 2, 4, 5, 6))
_ENABLE_ON_EXEC = 1 << 12
_ENABLE, _DISABLE = 0x2400, 0x2401
TYPE_SOFTWARE = 1


@dataclass(frozen=True)
class TimedCount:
    """A count with its times in ns: enabled, and on a counter."""

    value: int
    enabled_ns: int
    running_ns: int

    @property
    def whole(self) -> bool:
        """Whether it was counted all the time: members of a group may start 10 us or 0.1% late."""
        late = self.enabled_ns - self.running_ns
        return self.running_ns > 0 and not (late > LATE_NS and late > LATE_SHARE * self.enabled_ns)


class Kernel(Protocol):
    """Opens, starts, stops and reads events; OSError with the kernel's errno if it does not open one."""

    def open(self, event: Attribute, leader: int = -1, pid: int = 0, at_exec: bool = False) -> int: ...
    def enable(self, descriptor: int) -> None: ...
    def disable(self, descriptor: int) -> None: ...
    def read(self, descriptor: int) -> TimedCount | None: ...
    def close(self, descriptor: int) -> None: ...


class Linux:
    """The kernel of this machine."""

    def __init__(self):
        self._libc = ctypes.CDLL(None, use_errno=True)

    def open(self, event: Attribute, leader: int = -1, pid: int = 0, at_exec: bool = False) -> int:
        """A descriptor of the event, counting process ``pid`` (0: this one) on all processors.

        Args:
            leader: descriptor of the leader of its group; -1: it leads, is disabled and, as hardware, pinned.
            at_exec: the leader is enabled when the process starts a program.

        Raises:
            OSError: with the errno.
        """
        flags = 0 if "u" in event.modifiers else _EXCLUDE_USER
        flags |= 0 if "k" in event.modifiers else _EXCLUDE_KERNEL | _EXCLUDE_HV
        if leader == -1:
            flags |= _DISABLED | (_ENABLE_ON_EXEC if at_exec else 0)
            flags |= _PINNED if event.type != TYPE_SOFTWARE else 0
        head = struct.pack("=IIQQQQQ", event.type, _BYTES, event.config, 0, 0, _READ_TIMES, flags)
        rest = struct.pack("=IIQQ", 0, 0, event.config1, event.config2)
        buffer = ctypes.create_string_buffer(head + rest, _BYTES)
        descriptor = self._libc.syscall(_SYSTEM_CALL, buffer, pid, -1, leader, _FLAG_CLOEXEC)
        if descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return descriptor

    def enable(self, descriptor: int) -> None:
        fcntl.ioctl(descriptor, _ENABLE, 0)

    def disable(self, descriptor: int) -> None:
        fcntl.ioctl(descriptor, _DISABLE, 0)

    def read(self, descriptor: int) -> TimedCount | None:
        """The count so far; None if the kernel could not place a pinned group on the counters."""
        data = os.read(descriptor, 24)
        return TimedCount(*struct.unpack("=QQQ", data)) if len(data) == 24 else None

    def close(self, descriptor: int) -> None:
        os.close(descriptor)


# Why the kernel does not open an event, in words, with the next step. Source: perf_event_open(2), ERRORS.

_PERMISSION = (
    "this user may not open it (kernel.perf_event_paranoid)",
    "sudo sysctl kernel.perf_event_paranoid=1; in a container: --cap-add PERFMON",
)
_ABSENT = (
    "the kernel has no PMU for it",
    "run on bare metal, or let the hypervisor give the guest a PMU",
)
_REFUSALS = {
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.ENOENT: _ABSENT,
    errno.ENODEV: _ABSENT,
    errno.ENXIO: _ABSENT,
    errno.EINVAL: (
        "the PMU rejects its code, or the group does not fit on the counters",
        "check the class of the processor (tessera measure counters show), SMT, and the NMI watchdog",
    ),
    errno.EOPNOTSUPP: ("the PMU cannot count it so", "leave the pass out, or use a newer kernel"),
    errno.EBUSY: ("another program has the PMU to itself", "end other profilers, then try again"),
    errno.EMFILE: ("too many open files", "raise the limit: ulimit -n 1024"),
    errno.ENOSYS: (
        "this kernel, or the container's filter, has no perf_event_open",
        "run outside of the container, or with: --security-opt seccomp=unconfined",
    ),
}


def refusal(error: OSError) -> tuple[str, str]:
    """(found, remedy); the name of the errno is in ``found``."""
    number = error.errno or 0
    name = errno.errorcode.get(number, str(number))
    words, remedy = _REFUSALS.get(number, (os.strerror(number), "see perf_event_open(2)"))
    return f"{words} ({name})", remedy


# Does the kernel open each event of a pass, alone?


def opening_rows(
    kernel: Kernel, class_name: str, events: Iterable[Attribute], needed: bool = True
) -> list[CounterCheck]:
    """A row for each event."""
    return [_opening_row(kernel, class_name, event, needed) for event in events]


def _opening_row(kernel: Kernel, class_name: str, event: Attribute, needed: bool) -> CounterCheck:
    wanted = f"{event.name}: type {event.type}, config {event.config:#x}"
    try:
        kernel.close(kernel.open(event))
    except OSError as error:
        found, remedy = refusal(error)
        return CounterCheck(class_name, "opens", event.role, wanted, found, REFUSED, remedy, needed)
    return CounterCheck(class_name, "opens", event.role, wanted, "opened", OK, needed=needed)


# Are all events of a pass on counters at the same time, all the time? A short loop is counted.

LOOP_SECONDS = 0.02
_WANTED = "one group, counted all the time"


def spin() -> None:
    """Compute for :data:`LOOP_SECONDS` of processor time."""
    end = time.process_time() + LOOP_SECONDS
    while time.process_time() < end:
        sum(range(100))


def group_count(
    kernel: Kernel, events: Sequence[Attribute], work: Callable[[], None]
) -> dict[str, TimedCount | None]:
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


def scheduled_row(
    kernel: Kernel,
    class_name: str,
    name: str,
    events: Sequence[Attribute],
    needed: bool = True,
    work: Callable[[], None] = spin,
) -> CounterCheck:
    """The row of one pass: its hardware events as a group."""

    def row(found: str, status: str, remedy: str = "") -> CounterCheck:
        return CounterCheck(class_name, "scheduled", f"pass {name}", _WANTED, found, status, remedy, needed)

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
