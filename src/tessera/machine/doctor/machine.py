"""Processor, memory, limits, disk, C library, hypervisor, Slurm.

Standard library only, no psutil and no rich: ``./run doctor`` runs before anything is installed.
"""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from tessera.core.paths import repo_root
from tessera.core.units import GB, PAGE_1GB, PAGE_2MB
from tessera.machine import limits
from tessera.machine.doctor.check import Check, failed, passed, skipped

#: The default configuration's needs (README): memory and disk at the peak, and disk when it is done.
RAM_BYTES = 16 * GB
DISK_BYTES, DISK_LEFT_BYTES = 18 * GB, 5 * GB

#: What the workloads are compiled for (x86-64-v3), as the kernel spells it.
REQUIRED_FLAGS = ("avx2", "bmi2", "fma")


def checks() -> list[Check]:
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
    found = platform.python_version()
    # ./run doctor runs under whatever python3 the machine has.
    if sys.version_info >= (3, 11):  # noqa: UP036
        return passed("Python", found)
    return failed("Python", found, "Tessera needs 3.11 or later: Debian 12, Ubuntu 24.04")


def _processor(cpu: dict[str, str]) -> Check:
    if platform.machine() != "x86_64":
        return failed("processor", platform.machine(), "tracer and allocator need x86-64")
    missing = [flag for flag in REQUIRED_FLAGS if flag not in cpu.get("flags", "").split()]
    if missing:
        return failed(
            "processor",
            f"no {', '.join(missing)}",
            "the workloads are built for x86-64-v3 (Haswell or later)",
        )
    return passed("processor", f"{cpu.get('model name', 'x86-64')}, AVX2")


def _avx512(cpu: dict[str, str]) -> Check:
    if "avx512f" in cpu.get("flags", "").split():
        return passed("AVX-512", "yes")
    return skipped("AVX-512", "no", "nothing is lost but speed: simulations of many layouts use AVX2")


def _cores() -> Check:
    found = f"{limits.processors()} usable of {limits.machine_processors()}"
    quota = limits.Cgroups().quota()
    if quota is None or quota.processors >= limits.processors():
        return passed("cores", found)
    where = f"{quota.cgroup}: {quota.file.name}"
    return skipped(
        "cores",
        f"{found}, with the time of {quota.processors:.1f} (quota of this cgroup, {where})",
        f"jobs slow each other down; ./run reproduce --cores {max(1, int(quota.processors))}, or more quota",
    )


def _ram() -> Check:
    total, available = limits.total_memory(), limits.available_memory()
    found = f"{available.bytes / GB:.1f} GB available of {total.bytes / GB:.1f} GB"
    if bound := available.limit or total.limit:
        machine = limits.machine_memory("MemAvailable"), limits.machine_memory("MemTotal")
        found += f": {bound}; the machine has {machine[0] / GB:.1f} GB available of {machine[1] / GB:.1f} GB"
    if available.bytes >= RAM_BYTES:
        return passed("RAM", found)
    needs = f"the default configuration needs {RAM_BYTES // GB} GB; ./run smoke needs 2 GB"
    return skipped("RAM", found, f"{needs}; {available.remedy(RAM_BYTES)}" if available.limit else needs)


def _cgroups() -> Check:
    """Whether all limits are known."""
    groups = limits.Cgroups()
    known = [groups.memory(), groups.huge_pages(PAGE_2MB), groups.huge_pages(PAGE_1GB), groups.quota()]
    if groups.unreadable:
        remedy = "mount /sys/fs/cgroup, readable; limits that are unknown can end recordings and real runs"
        return skipped("cgroups", f"limits unknown: {'; '.join(groups.unreadable)}", remedy)
    return passed("cgroups", "limits are listed in the rows that they bound" if any(known) else "no limits")


def _disk() -> Check:
    free = shutil.disk_usage(repo_root()).free
    found = f"{free / GB:.1f} GB free in the checkout"
    if free >= DISK_BYTES:
        return passed("disk", found)
    if free >= DISK_LEFT_BYTES:
        needs = f"the default configuration needs {DISK_BYTES // GB} GB at its peak; rows without room fail"
        return skipped("disk", found, needs)
    return failed(
        "disk", found, f"free {DISK_LEFT_BYTES // GB} GB: results, traces and builds lie in the checkout"
    )


def _glibc() -> Check:
    name, version = platform.libc_ver()
    if name == "glibc":
        return passed("C library", f"glibc {version}")
    return skipped(
        "C library", name or "not glibc", "real runs on this machine need glibc (mosalloc preloads it)"
    )


def _host(cpu: dict[str, str]) -> Check:
    if "hypervisor" not in cpu.get("flags", "").split():
        return passed("hypervisor", "none (bare metal): page walks are one-dimensional")
    return skipped(
        "hypervisor",
        "yes: page walks are nested, and the hypervisor may split the guest's 2MB pages",
        "real runs say so; effects of bare metal need bare metal",
    )


def _slurm() -> Check:
    if shutil.which("sbatch"):
        return passed("Slurm", "sbatch found; ./run --slurm submits the jobs (docs/cluster.md)")
    return skipped("Slurm", "no sbatch", "only a cluster needs it; everything runs on this machine")
