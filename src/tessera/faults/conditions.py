"""What a measurement of fault latencies needs of this machine, read from files below a root folder.

Each condition that is not met is an error with a code of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.core.units import format_bytes
from tessera.machine.environment.tree import Tree, Unreadable
from tessera.machine.limits import available_memory, available_memory_bytes

THP = "sys/kernel/mm/transparent_hugepage/enabled"
#: Memory that must be left beside the pass, for the file and the latencies of all passes.
SPARE_BYTES = 64 << 20


@dataclass(frozen=True)
class Environment:
    """The row that a result carries: what the latencies depend on.

    Attributes:
        kernel: release.
        processor: model name.
        virtual: whether a hypervisor is below.
        thp: chosen word of ``transparent_hugepage/enabled``; empty if the kernel has none.
        governor: of the processor that is used; empty if frequencies are not the kernel's.
        free_bytes: memory that is available before, as the machine and the limits of cgroups say.
    """

    kernel: str
    processor: str
    virtual: bool
    thp: str
    governor: str
    free_bytes: int


def environment(tree: Tree, processor: int) -> Environment:
    """Read the row.

    Raises:
        TesseraError: ``/proc`` does not have what it must have.
    """
    try:
        facts = tree.cpu_facts()
        governor = f"sys/devices/system/cpu/cpu{processor}/cpufreq/scaling_governor"
        return Environment(
            kernel=tree.text("proc/sys/kernel/osrelease"),
            processor=facts.get("model name", ""),
            virtual="hypervisor" in tree.cpu_flags(),
            thp=tree.chosen(THP) if tree.has(THP) else "",
            governor=tree.text(governor) if tree.has(governor) else "",
            free_bytes=available_memory_bytes(tree.root),
        )
    except Unreadable as error:
        raise TesseraError(
            "facts of this machine", str(error), "mount /proc and /sys", code="facts"
        ) from None


def require(tree: Tree, found: Environment, *, bytes_: int, huge: bool, any_governor: bool) -> None:
    """Check everything before the first pass.

    Args:
        bytes_: memory of a pass.
        huge: whether a kind needs 2MB pages.
        any_governor: accept every governor of frequencies; the environment's row names it.

    Raises:
        TesseraError: with code ``no-invariant-tsc``, ``no-thp``, ``too-little-memory`` or ``governor``.
    """
    missing = {"constant_tsc", "nonstop_tsc"} - set(tree.cpu_flags())
    if missing:
        raise TesseraError(
            "the time-stamp counter as a clock",
            f"/proc/cpuinfo lacks {', '.join(sorted(missing))}: its rate may change",
            "use a machine with an invariant TSC, or a hypervisor that passes the flag on",
            code="no-invariant-tsc",
        )
    if huge and found.thp in ("", "never"):
        raise TesseraError(
            "kind write-2mb",
            f"/{THP} is '{found.thp}'" if found.thp else f"/{THP} does not exist",
            f"echo madvise | sudo tee /{THP}; or leave the kind out with --kind",
            code="no-thp",
        )
    # The pass, the file of read-file, and room for the latencies.
    needed = 2 * bytes_ + SPARE_BYTES
    if found.free_bytes < needed:
        memory = available_memory(tree.root)
        raise TesseraError(
            f"passes of {format_bytes(bytes_)}",
            f"{found.free_bytes >> 20} MB are available, {needed >> 20} MB are needed{memory.because}",
            f"give a smaller --size, or {memory.remedy(needed)}",
            code="too-little-memory",
        )
    if found.governor not in ("", "performance") and not any_governor:
        raise TesseraError(
            "a constant frequency",
            f"the governor is '{found.governor}'",
            "./run tessera environment --fix -- ./run tessera faults measure; or give --any-governor",
            code="governor",
        )


def processor_of(asked: int | None) -> int:
    """The processor to use: the one asked for, or the last that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    if asked is None:
        return allowed[-1]
    if asked not in allowed:
        raise TesseraError(
            f"--processor {asked}",
            f"this process may use {', '.join(map(str, allowed))}",
            "name one of them",
            code="processor",
        )
    return asked
