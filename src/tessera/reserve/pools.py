"""The kernel's pools of huge pages: how many there are, how many are free, and how to change that.

A pool is a folder ``hugepages-<kB>kB`` of ``/sys/kernel/mm/hugepages``; the same number for 2MB pages is
``sysctl vm.nr_hugepages``. The kernel gives as many pages as it finds contiguous memory for, and reports no
error when that is fewer: whoever writes must read back.
"""

from __future__ import annotations

import os
from pathlib import Path

from tessera.errors import TesseraError
from tessera.units import PAGE_1GB, PAGE_2MB, format_bytes

SYSFS = Path("/sys/kernel/mm/hugepages")
COMPACT_MEMORY = Path("/proc/sys/vm/compact_memory")

#: Attempts to reach a number of pages, memory compacted before each.
ATTEMPTS = 3


def sysfs() -> Path:
    """The kernel's folder; ``$TESSERA_HUGEPAGES_SYSFS`` replaces it in tests."""
    return Path(os.environ.get("TESSERA_HUGEPAGES_SYSFS", SYSFS))


def supported_sizes() -> list[int]:
    """Sizes in bytes of the huge pages that this kernel has, ascending."""
    if not sysfs().is_dir():
        return []
    names = [folder.name for folder in sysfs().iterdir()]
    return sorted(int(name.removeprefix("hugepages-").removesuffix("kB")) * 1024 for name in names)


def pool_folder(page_bytes: int) -> Path:
    """Folder of the pool; an error if this machine has no pages of that size."""
    folder = sysfs() / f"hugepages-{page_bytes // 1024}kB"
    if not folder.is_dir():
        sizes = ", ".join(format_bytes(size) for size in supported_sizes()) or "none"
        raise TesseraError(
            f"{format_bytes(page_bytes)} pages",
            f"this kernel and processor have huge pages of: {sizes}",
            "use another page size, or a machine that has it (./run doctor)",
        )
    return folder


def huge_pages_total(page_bytes: int) -> int:
    """Pages in the pool, used and free."""
    return int((pool_folder(page_bytes) / "nr_hugepages").read_text())


def huge_pages_free(page_bytes: int) -> int:
    """Pages that a program can have now: free ones that nobody was promised."""
    folder = pool_folder(page_bytes)
    return int((folder / "free_hugepages").read_text()) - int((folder / "resv_hugepages").read_text())


def set_total(page_bytes: int, total: int) -> int:
    """Ask the kernel for ``total`` pages; returns how many there really are then.

    Growing compacts memory first, and tries again while that still helps.

    Raises:
        TesseraError: this user may not.
    """
    control = pool_folder(page_bytes) / "nr_hugepages"
    try:
        for _ in range(ATTEMPTS):
            if total > int(control.read_text()) and COMPACT_MEMORY.exists():
                COMPACT_MEMORY.write_text("1")
            control.write_text(f"{total}\n")
            if int(control.read_text()) == total:
                break
    except OSError as error:
        raise TesseraError(
            f"{total} {format_bytes(page_bytes)} pages",
            f"{control} can't be written: {error.strerror}",
            f"as root: {command_for(page_bytes, total)}",
        ) from None
    return int(control.read_text())


def command_for(page_bytes: int, total: int) -> str:
    """What an administrator types for a pool of ``total`` pages."""
    if page_bytes == PAGE_2MB:
        return f"sudo sysctl vm.nr_hugepages={total}"
    name = f"hugepages-{page_bytes // 1024}kB"
    boot = " (1GB pages are safest at boot: hugepagesz=1G hugepages=N)" if page_bytes == PAGE_1GB else ""
    return f"echo {total} | sudo tee {SYSFS}/{name}/nr_hugepages{boot}"
