"""Doctor's rows on the machine: processor, memory, limits, huge pages, hardware counters, energy counters.

Standard library only, no psutil and no rich: ``./run doctor`` runs before anything is installed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import shutil
import struct
from pathlib import Path

from tessera.core.checks import Check
from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.units import GB, PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine import limits
from tessera.machine.counters import sysfs
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import CounterClass, of_cpu
from tessera.machine.counters.passes import base_events, counter_passes
from tessera.machine.doctor import part_found, part_missing, skipped
from tessera.machine.reserve.pools import command_for, free_in_pool, huge_pages_total, supported_sizes

# Processor, memory, limits, disk, C library, hypervisor, Slurm.

#: The default configuration's needs (README): memory and disk at the peak, and disk when it is done.
RAM_BYTES = 16 * GB
DISK_BYTES, DISK_LEFT_BYTES = 18 * GB, 5 * GB

#: What the workloads are compiled for (x86-64-v3), as the kernel spells it.
REQUIRED_FLAGS = ("avx2", "bmi2", "fma")


def machine_checks() -> list[Check]:
    """Rows about the machine itself."""
    cpu = cpu_facts()
    return [
        _python(),
        _processor(cpu),
        _avx512(cpu),
        _cores(),
        _ram(),
        _cgroups(),
        _disk(),
        _glibc(),
        _host(cpu),
        _slurm(),
    ]


def cpu_facts() -> dict[str, str]:
    """First processor of /proc/cpuinfo; empty on machines without it."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    lines = path.read_text().split("\n\n", 1)[0].splitlines()
    return {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}


def _python() -> Check:
    return part_found("Python", platform.python_version())  # ./run refuses an older one before this


def _processor(cpu: dict[str, str]) -> Check:
    if platform.machine() != "x86_64":
        return part_missing("processor", platform.machine(), "tracer and allocator need x86-64")
    missing = [flag for flag in REQUIRED_FLAGS if flag not in cpu.get("flags", "").split()]
    if missing:
        return part_missing(
            "processor",
            f"no {', '.join(missing)}",
            "the workloads are built for x86-64-v3 (Haswell or later)",
        )
    return part_found("processor", f"{cpu.get('model name', 'x86-64')}, AVX2")


def _avx512(cpu: dict[str, str]) -> Check:
    if "avx512f" in cpu.get("flags", "").split():
        return part_found("AVX-512", "yes")
    return skipped("AVX-512", "no", "nothing is lost but speed: simulations of many layouts use AVX2")


def _cores() -> Check:
    allowed, quota = limits.allowed_processors(), limits.Cgroups().quota()
    found = f"{allowed} usable of {limits.machine_processors()}"
    if quota is None or quota.processors >= allowed:
        return part_found("cores", found)
    return skipped(
        "cores",
        f"{found}, with the time of {quota.processors:g}: {quota}",
        f"./run starts as many jobs at once as with --cores {limits.usable_processors()}; for more, raise "
        "the quota (docker --cpus, systemd CPUQuota, limits.cpu of Kubernetes)",
    )


def _ram() -> Check:
    total, available = limits.total_memory(), limits.available_memory()
    found = f"{available.bytes / GB:.1f} GB available of {total.bytes / GB:.1f} GB"
    if bound := available.limit or total.limit:
        machine = limits.machine_memory("MemAvailable"), limits.machine_memory("MemTotal")
        found += f": {bound}; the machine has {machine[0] / GB:.1f} GB available of {machine[1] / GB:.1f} GB"
    if available.bytes >= RAM_BYTES:
        return part_found("RAM", found)
    needs = f"the default configuration needs {RAM_BYTES // GB} GB; ./run smoke needs 2 GB"
    return skipped("RAM", found, f"{needs}; {available.remedy(RAM_BYTES)}" if available.limit else needs)


def _cgroups() -> Check:
    """Whether all limits are known."""
    groups = limits.Cgroups()
    known = [groups.memory(), groups.huge_pages(PAGE_2MB), groups.huge_pages(PAGE_1GB), groups.quota()]
    if groups.unreadable:
        remedy = "mount /sys/fs/cgroup, readable; limits that are unknown can end recordings and real runs"
        return skipped("cgroups", f"limits unknown: {'; '.join(groups.unreadable)}", remedy)
    return part_found(
        "cgroups", "limits are listed in the rows that they bound" if any(known) else "no limits"
    )


def _disk() -> Check:
    if not os.access(repo_root(), os.W_OK):
        return part_missing(
            "disk", "nothing can be written in the checkout", "copy it to where you may write"
        )
    free = shutil.disk_usage(repo_root()).free
    found = f"{free / GB:.1f} GB free in the checkout"
    if free >= DISK_BYTES:
        return part_found("disk", found)
    if free >= DISK_LEFT_BYTES:
        needs = f"the default configuration needs {DISK_BYTES // GB} GB at its peak; rows without room fail"
        return skipped("disk", found, needs)
    return part_missing(
        "disk", found, f"free {DISK_LEFT_BYTES // GB} GB: results, traces and builds lie in the checkout"
    )


def _glibc() -> Check:
    name, version = platform.libc_ver()
    if name == "glibc":
        return part_found("C library", f"glibc {version}")
    return skipped(
        "C library", name or "not glibc", "real runs on this machine need glibc (mosalloc preloads it)"
    )


def _host(cpu: dict[str, str]) -> Check:
    if "hypervisor" not in cpu.get("flags", "").split():
        return part_found("hypervisor", "none (bare metal): page walks are one-dimensional")
    return skipped(
        "hypervisor",
        "yes: page walks are nested, and the hypervisor may split the guest's 2MB pages",
        "real runs say so; effects of bare metal need bare metal",
    )


def _slurm() -> Check:
    if shutil.which("sbatch"):
        return part_found("Slurm", "sbatch found; ./run --slurm submits the jobs (docs/howto/cluster.md)")
    return skipped("Slurm", "no sbatch", "only a cluster needs it; everything runs on this machine")


# Huge pages: supported sizes, free pages, and transparent huge pages.

THP = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def page_checks() -> list[Check]:
    """Rows about page sizes."""
    return [_page_pool(PAGE_2MB, 512), _page_pool(PAGE_1GB, 1), _transparent_pages()]


def _page_pool(page_bytes: int, example: int) -> Check:
    """One pool; ``example`` is the number of pages that the remedy's command asks for."""
    name = f"{format_bytes(page_bytes)} pages"
    if page_bytes not in supported_sizes():
        return skipped(
            name, "not supported by kernel and processor", "real runs skip the layouts that need these pages"
        )
    free, total, room = (
        free_in_pool(page_bytes),
        huge_pages_total(page_bytes),
        limits.huge_pages_room(page_bytes),
    )
    found = f"{free} free of {total} reserved"
    if room is not None:
        found += f"; at most {room.pages} for this process: {room.limit}"
        if not room.pages:
            return skipped(name, found, room.remedy(example, page_bytes))
    if free:
        return part_found(name, found)
    remedy = f"./run --reserve ... reserves them during a run; or {command_for(page_bytes, example)}"
    return skipped(name, found, remedy)


def _transparent_pages() -> Check:
    if not THP.exists():
        return part_found("transparent pages", "this kernel has no transparent huge pages")
    mode = re.search(r"\[(\w+)\]", THP.read_text())
    chosen = mode.group(1) if mode else "unknown"
    if chosen != "always":
        return part_found("transparent pages", chosen)
    return skipped(
        "transparent pages",
        "always: the kernel may turn 4KB pages of a layout into 2MB pages",
        "to prevent this: echo madvise | sudo tee " + str(THP),
    )


# Can this machine count hardware events? Opens counters to find out; changes nothing.

_PERF_EVENT_OPEN = 298  # x86-64 system call number
_ATTRIBUTE_BYTES = 128
_TYPE_HARDWARE = 0
_CPU_CYCLES = 0
_DISABLED_EXCLUDE_KERNEL_AND_HYPERVISOR = 1 << 0 | 1 << 5 | 1 << 6

_LOST_WITHOUT_COUNTERS = (
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


def pmu_checks() -> list[Check]:
    """The PMU (hardware counters) and the events of H, M and C: a row for each type of cores."""
    error = open_counter(_TYPE_HARDWARE, _CPU_CYCLES)
    if error in (errno.EACCES, errno.EPERM):
        return [
            skipped(
                "PMU",
                "this user may not open hardware counters (kernel.perf_event_paranoid)",
                f"to allow them: sudo sysctl kernel.perf_event_paranoid=1; {_LOST_WITHOUT_COUNTERS}",
            )
        ]
    if error:
        return [
            skipped(
                "PMU",
                f"no hardware counter for cycles can be opened ({os.strerror(error)})",
                _LOST_WITHOUT_COUNTERS,
            )
        ]
    cpu = Cpu.from_cpuinfo(cpu_facts())
    found = of_cpu(cpu)
    if not found:
        return [
            skipped(
                "PMU",
                f"it counts cycles, but the events of H, M, C are unknown ({cpu or 'no CPUID'})",
                "add its rows to src/tessera/machine/counters/pmu-events.csv (docs/reference/counters.md); "
                f"{_LOST_WITHOUT_COUNTERS}",
            )
        ]
    return [_class_row(known, "PMU" if len(found) == 1 else f"PMU {known.pmus[0]}") for known in found]


def opened_events(known: CounterClass) -> dict[str, tuple[int, int]] | None:
    """Quantity -> (type, config) of the events that the doctor opens; None without a PMU for them."""
    pmu = sysfs.pmu_type(known.pmus, sysfs.ROOT)
    if pmu is None:
        return None
    return {event.quantity: event.attribute(pmu[1]) for event in (*base_events(known), *known.required())}


def _class_row(known: CounterClass, name: str) -> Check:
    events = opened_events(known)
    if events is None:
        return skipped(
            name, f"{known.name}: the kernel has no PMU {' or '.join(known.pmus)}", _LOST_WITHOUT_COUNTERS
        )
    refused = [quantity for quantity, attribute in events.items() if open_counter(*attribute)]
    if refused:
        return skipped(
            name, f"{known.name}: these events can't be opened: {', '.join(refused)}", _LOST_WITHOUT_COUNTERS
        )
    machine = sysfs.counting_machine(sysfs.ROOT)
    needed = [one.name for one in counter_passes(known, machine) if not one.optional]
    absent = [symbol for symbol in ("H", "M", "C") if not known.sides(symbol)]
    found = f"{known.name}: {', '.join(events)}; {len(needed)} passes (SMT {'on' if machine.smt else 'off'})"
    if absent:
        return skipped(name, f"{found}; it does not count {', '.join(absent)}", _LOST_WITHOUT_COUNTERS)
    return part_found(name, found)


# Does this machine measure the energy of its packages (RAPL)? Reads counters; changes nothing.

_PERF_PMU = "power"
_LOST_WITHOUT_ENERGY = (
    "claims about measured energy are NOT-MEASURABLE-HERE; elsewhere: ./run tessera lab threads measure"
)


def energy_checks(root: Path = sysfs.ROOT) -> list[Check]:
    """One row: packages with a readable energy counter, and whether perf has the PMU ``power``."""
    perf = "perf's PMU power is there" if sysfs.pmu_type([_PERF_PMU], root) else "perf has no PMU power"
    try:
        found = sysfs.energy_packages(root)
        for package in found:
            package.read_uj()
    except TesseraError as error:
        return [skipped("RAPL", f"{error.problem}; {perf}", f"{error.remedy}; {_LOST_WITHOUT_ENERGY}")]
    if not found:
        return [skipped("RAPL", f"no package in {root / sysfs.POWERCAP_CLASS}; {perf}", _LOST_WITHOUT_ENERGY)]
    wrap = min(one.seconds_to_wrap for one in found)
    names = ", ".join(one.name for one in found)
    return [part_found("RAPL", f"{names}; counters wrap after {wrap:.0f} s at the earliest; {perf}")]
