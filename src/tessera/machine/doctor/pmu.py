"""Can this machine count hardware events? Opens counters to find out; changes nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from tessera.machine.doctor.check import Check, passed, skipped
from tessera.machine.doctor.events import generation
from tessera.machine.doctor.machine import cpu_facts

_PERF_EVENT_OPEN = 298  # x86-64 system call number
_ATTRIBUTE_BYTES = 128
_TYPE_HARDWARE, _TYPE_RAW = 0, 4
_CPU_CYCLES = 0
_DISABLED_EXCLUDE_KERNEL_AND_HYPERVISOR = 1 << 0 | 1 << 5 | 1 << 6

_LOST = "has no effect in this version: no step reads counters; claims that need them are NOT-MEASURABLE-HERE"


def open_counter(kind: int, config: int) -> int:
    """0 if the kernel can count the event for this process, else its errno."""
    attribute = struct.pack(
        "=IIQQQQQ", kind, _ATTRIBUTE_BYTES, config, 0, 0, 0, _DISABLED_EXCLUDE_KERNEL_AND_HYPERVISOR
    )
    buffer = ctypes.create_string_buffer(attribute, _ATTRIBUTE_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(_PERF_EVENT_OPEN, buffer, 0, -1, -1, 0)
    if descriptor < 0:
        return ctypes.get_errno()
    os.close(descriptor)
    return 0


def checks() -> list[Check]:
    """One row: the PMU (hardware counters) and the events of H, M and C."""
    error = open_counter(_TYPE_HARDWARE, _CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return [
            skipped(
                "PMU",
                "this user may not open hardware counters (kernel.perf_event_paranoid)",
                f"{_LOST}; to allow them: sudo sysctl kernel.perf_event_paranoid=1",
            )
        ]
    if error:
        return [skipped("PMU", f"no hardware counter for cycles can be opened ({os.strerror(error)})", _LOST)]
    cpu = cpu_facts()
    known = generation(cpu.get("vendor_id", ""), int(cpu.get("cpu family", 0)), int(cpu.get("model", 0)))
    if known is None:
        return [skipped("PMU", "it counts cycles, but this processor's events of H, M, C are unknown", _LOST)]
    refused = [name for name, code in known.events.items() if open_counter(_TYPE_RAW, code)]
    if refused:
        return [skipped("PMU", f"{known.name}: these events can't be opened: {', '.join(refused)}", _LOST)]
    return [passed("PMU", f"{known.name}: {', '.join(known.events)}")]
