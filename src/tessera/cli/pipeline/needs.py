"""What a recording needs: memory, disk and prepared files; refuses to start one that cannot end well."""

from __future__ import annotations

import shutil
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.units import MB, PAGE_4KB, format_bytes
from tessera.machine.limits import (
    Cgroups,
    allowed_processors,
    available_memory,
    readable,
    total_memory,
    usable_processors,
)
from tessera.record.workloads import Size

# Memory and disk. Both numbers are bounds, known before the program starts: memory by what the size touches,
# or else by the pools that are set aside for it; disk by the most that an access costs in a trace (random
# 8-byte reads, which nothing can predict). Memory is the machine's, or less in a job or container with a
# limit (:mod:`tessera.machine.limits`).

#: QEMU, the tracer's buffers and compression, Python.
TOOLS_BYTES = 600 * MB

#: The worst case of the encoding: an unpredictable address, its block, its share of the frame's header.
BYTES_PER_ACCESS = 4.5

#: Accesses that are assumed where no limit is set: tiny sizes, whose programs end by themselves.
UNLIMITED_ACCESSES = 100_000_000

#: QEMU keeps a table over reserved pages, touched or not: 200 MB for 33 GB.
EMULATOR_BYTES_PER_PAGE = 25


def job_cores(asked: int) -> tuple[int, str]:
    """Jobs of one core at once, and why they are fewer than asked; empty if they are not.

    Args:
        asked: Snakemake's number. ``--cores all`` counts the affinity, but no quota of a job or container:
            a container of 4 processors on a machine of 64 would start 64 jobs in its memory. Another number
            was chosen by somebody, so it stays.
    """
    usable, quota = usable_processors(), Cgroups().quota()
    if asked != allowed_processors() or usable >= asked or quota is None:
        return asked, ""
    return usable, f"{usable} of {asked} cores: {quota}; --cores N takes another number"


def memory_bytes(size: Size) -> int:
    """Memory of a recording: what the program touches (else both pools, full), and what traces it."""
    reserved = size.heap_pool + size.anon_pool
    touched = reserved if size.touched is None else size.touched
    return touched + reserved // PAGE_4KB * EMULATOR_BYTES_PER_PAGE + TOOLS_BYTES


def preparing_bytes(size: Size) -> int:
    """Memory of building the size's prepared file; 0 if it has none."""
    return size.prepared.memory + TOOLS_BYTES if size.prepared else 0


def left_out(rows: dict[str, tuple[Size, int | None]], folder: Path) -> list[str]:
    """Rows that can't be recorded here, each with the reason; said before the first job.

    Args:
        rows: size and limit of accesses by workload.
        folder: a folder on the disk of the results.
    """
    memory, disk = total_memory(), shutil.disk_usage(folder).free
    has = f"more than {memory.limit}" if memory.limit else f"this machine has {readable(memory.bytes)}"
    found = []
    for name, (size, max_accesses) in rows.items():
        needed = max(memory_bytes(size), preparing_bytes(size))
        data = disk_bytes(max_accesses) + (size.prepared.bytes if size.prepared else 0)
        if needed > memory.bytes:
            found.append(f"{name}: needs {readable(needed)} of memory, {has}")
        elif data > disk:
            found.append(f"{name}: needs {format_bytes(data)} of disk, {format_bytes(disk)} are free")
    return found


def disk_bytes(max_accesses: int | None) -> int:
    """Disk of a recording."""
    return int((max_accesses or UNLIMITED_ACCESSES) * BYTES_PER_ACCESS)


def check_memory(what: str, size: Size, max_accesses: int | None, folder: Path) -> None:
    """Refuse what does not fit the memory that is free for this process, or the free disk under ``folder``.

    Raises:
        TesseraError: both numbers, needed and free, and the limit that binds.
    """
    free_memory, free_disk = available_memory(), shutil.disk_usage(folder).free
    if (needed := memory_bytes(size)) > free_memory.bytes:
        raise TesseraError(
            f"memory for {what}",
            f"it needs {readable(needed)}, {readable(free_memory.bytes)} are free{free_memory.because}",
            f"{free_memory.remedy(needed)}, or name a smaller size in the configuration",
            exit_code=EXIT_FAILED,
        )
    if (needed := disk_bytes(max_accesses)) > free_disk:
        raise TesseraError(
            f"disk for {what}",
            f"it may need {format_bytes(needed)}, {format_bytes(free_disk)} are free at {folder}",
            "free some, or set a smaller max_accesses in the configuration",
            exit_code=EXIT_FAILED,
        )


# Prepared files (:mod:`tessera.cli.pipeline.prepare`): not so many at once that they fill the disk.


def wait_for(files: dict[str, int], most_bytes: int) -> dict[str, list[str]]:
    """Which files must be gone before each one is built, so that at most ``most_bytes`` lie on the disk.

    Args:
        files: bytes of each file by name, in the order in which they are built.

    A file above ``most_bytes`` waits for all before it.
    """
    names, waits = list(files), {}
    for i, name in enumerate(names):
        first, held = i, files[name]
        while first > 0 and held + files[names[first - 1]] <= most_bytes:
            first -= 1
            held += files[names[first]]
        waits[name] = names[:first]
    return waits
