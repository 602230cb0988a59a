"""Can this machine count hardware events? Opens counters to find out; changes nothing."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from tessera.counters import sysfs
from tessera.counters.classes import CounterClass, of_cpu
from tessera.counters.cpuid import Cpu
from tessera.counters.passes import base, passes
from tessera.machine.doctor.check import Check, passed, skipped
from tessera.machine.doctor.machine import cpu_facts

_PERF_EVENT_OPEN = 298  # x86-64 system call number
_ATTRIBUTE_BYTES = 128
_TYPE_HARDWARE = 0
_CPU_CYCLES = 0
_DISABLED_EXCLUDE_KERNEL_AND_HYPERVISOR = 1 << 0 | 1 << 5 | 1 << 6

_LOST = (
    "findings that need counters are NOT-MEASURABLE-HERE; measure on another machine: ./run measure, "
    "or import its logs of perf: tessera measure import"
)


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
    """The PMU (hardware counters) and the events of H, M and C: a row for each type of cores."""
    error = open_counter(_TYPE_HARDWARE, _CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return [
            skipped(
                "PMU",
                "this user may not open hardware counters (kernel.perf_event_paranoid)",
                f"to allow them: sudo sysctl kernel.perf_event_paranoid=1; {_LOST}",
            )
        ]
    if error:
        return [skipped("PMU", f"no hardware counter for cycles can be opened ({os.strerror(error)})", _LOST)]
    cpu = Cpu.from_cpuinfo(cpu_facts())
    found = of_cpu(cpu)
    if not found:
        return [
            skipped(
                "PMU",
                f"it counts cycles, but the events of H, M, C are unknown ({cpu or 'no CPUID'})",
                f"add rows for it to src/tessera/counters/pmu-events.csv (docs/measure.md); {_LOST}",
            )
        ]
    return [_class_row(known, "PMU" if len(found) == 1 else f"PMU {known.pmus[0]}") for known in found]


def opened(known: CounterClass) -> dict[str, tuple[int, int]] | None:
    """Quantity -> (type, config) of the events that the doctor opens; None without a PMU for them."""
    pmu = sysfs.pmu_type(known.pmus, sysfs.ROOT)
    if pmu is None:
        return None
    return {event.quantity: event.attribute(pmu[1]) for event in (*base(known), *known.required())}


def _class_row(known: CounterClass, name: str) -> Check:
    events = opened(known)
    if events is None:
        return skipped(name, f"{known.name}: the kernel has no PMU {' or '.join(known.pmus)}", _LOST)
    refused = [quantity for quantity, attribute in events.items() if open_counter(*attribute)]
    if refused:
        return skipped(name, f"{known.name}: these events can't be opened: {', '.join(refused)}", _LOST)
    machine = sysfs.machine(sysfs.ROOT)
    needed = [one.name for one in passes(known, machine) if not one.optional]
    absent = [symbol for symbol in ("H", "M", "C") if not known.sides(symbol)]
    found = f"{known.name}: {', '.join(events)}; {len(needed)} passes (SMT {'on' if machine.smt else 'off'})"
    if absent:
        return skipped(name, f"{found}; it does not count {', '.join(absent)}", _LOST)
    return passed(name, found)
