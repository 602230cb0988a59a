"""The calls of perf_event_open that the checks need, through ctypes; tests replace them.

Source: Linux, include/uapi/linux/perf_event.h; perf_event_open(2).
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import struct
from dataclasses import dataclass
from typing import Protocol

from tessera.counters.attributes import Attribute
from tessera.counters.event import LATE_NS, LATE_SHARE

_SYSTEM_CALL = 298  #: perf_event_open on x86-64
_BYTES = 128  #: of perf_event_attr (PERF_ATTR_SIZE_VER7)
_FLAG_CLOEXEC = 1 << 3
_READ_TIMES = 1 << 0 | 1 << 1  #: PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING
_DISABLED, _PINNED, _EXCLUDE_USER, _EXCLUDE_KERNEL, _EXCLUDE_HV = (1 << n for n in (0, 2, 4, 5, 6))
_ENABLE_ON_EXEC = 1 << 12
_ENABLE, _DISABLE = 0x2400, 0x2401
TYPE_SOFTWARE = 1


@dataclass(frozen=True)
class Count:
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
    def read(self, descriptor: int) -> Count | None: ...
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

    def read(self, descriptor: int) -> Count | None:
        """The count so far; None if the kernel could not place a pinned group on the counters."""
        data = os.read(descriptor, 24)
        return Count(*struct.unpack("=QQQ", data)) if len(data) == 24 else None

    def close(self, descriptor: int) -> None:
        os.close(descriptor)
