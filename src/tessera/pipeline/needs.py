"""What a recording needs of this machine, and the refusal to start one that cannot end well.

Both numbers are bounds, known before the program starts: memory by the heap pool and the anonymous
pool that are set aside for it, disk by the most that an access costs in a trace (random 8-byte reads, which
nothing can predict).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import psutil

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB, format_bytes
from tessera.record.workloads import Size

#: QEMU, the tracer's buffers and compression, Python.
TOOLS_BYTES = 600 * MB

#: The worst case of the encoding: an unpredictable address, its block, its share of the frame's header.
BYTES_PER_ACCESS = 4.5

#: Accesses that are assumed where no limit is set: tiny sizes, whose programs end by themselves.
UNLIMITED_ACCESSES = 100_000_000


def memory_bytes(size: Size) -> int:
    """Memory of a recording: data in both pools, full, and what traces them."""
    return size.heap_pool + size.anon_pool + TOOLS_BYTES


def disk_bytes(max_accesses: int | None) -> int:
    """Disk of a recording."""
    return int((max_accesses or UNLIMITED_ACCESSES) * BYTES_PER_ACCESS)


def check_memory(what: str, size: Size, max_accesses: int | None, folder: Path) -> None:
    """Refuse what does not fit the free memory of this machine or the free disk under ``folder``.

    Raises:
        TesseraError: both numbers, needed and free.
    """
    free_memory, free_disk = available_memory_bytes(), shutil.disk_usage(folder).free
    if (needed := memory_bytes(size)) > free_memory:
        raise TesseraError(
            f"memory for {what}",
            f"it needs {format_bytes(needed)}, {format_bytes(free_memory)} are free",
            "end other programs, or name a smaller size in the configuration",
            exit_code=EXIT_FAILED,
        )
    if (needed := disk_bytes(max_accesses)) > free_disk:
        raise TesseraError(
            f"disk for {what}",
            f"it may need {format_bytes(needed)}, {format_bytes(free_disk)} are free at {folder}",
            "free some, or set a smaller max_accesses in the configuration",
            exit_code=EXIT_FAILED,
        )


def available_memory_bytes() -> int:
    """Memory that programs can have without swapping (the kernel's MemAvailable)."""
    return psutil.virtual_memory().available


def total_memory_bytes() -> int:
    """Memory of this machine."""
    return psutil.virtual_memory().total
