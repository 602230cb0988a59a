"""The kernel's pools of huge pages: how many there are, how many are free, and how to change that.

A pool is a folder ``hugepages-<kB>kB`` of ``/sys/kernel/mm/hugepages``; the same number for 2MB pages is
``sysctl vm.nr_hugepages``. Each NUMA node has folders of its own with the node's share: ``node`` chooses
one, None is the machine, whose pages the kernel spreads over its nodes. The kernel gives as many pages as it
finds contiguous memory for, and reports no error when that is fewer: whoever writes must read back. psutil
knows neither these pools nor THP nor the page sizes of ``smaps``, so the files are read here.
"""

from __future__ import annotations

import os
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB, format_bytes
from tessera.machine.limits import huge_pages_room

SYSFS = Path("/sys/kernel/mm/hugepages")
NODES = Path("/sys/devices/system/node")
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
    names = [folder.name for folder in sysfs().glob("hugepages-*kB")]
    return sorted(int(name.removeprefix("hugepages-").removesuffix("kB")) * 1024 for name in names)


def nodes() -> list[int]:
    """NUMA nodes that have huge pages of their own, ascending; none where the kernel has no NUMA."""
    # In tests the nodes lie beside the machine's pools.
    folder = sysfs() if "TESSERA_HUGEPAGES_SYSFS" in os.environ else NODES
    return sorted(int(path.parent.name.removeprefix("node")) for path in folder.glob("node[0-9]*/hugepages"))


def node_sysfs(node: int) -> Path:
    """The folder with the pools of one node; an error that lists the nodes if there is no such node."""
    if node not in nodes():
        listed = ", ".join(map(str, nodes())) or "none: this kernel has no NUMA nodes"
        raise TesseraError(f"NUMA node {node}", "no such node", f"use one of: {listed}, or --node all")
    folder = sysfs() if "TESSERA_HUGEPAGES_SYSFS" in os.environ else NODES
    return folder / f"node{node}" / "hugepages"


def pool_folder(page_bytes: int, node: int | None = None) -> Path:
    """Folder of the pool; an error if this machine has no pages of that size."""
    folder = (sysfs() if node is None else node_sysfs(node)) / f"hugepages-{page_bytes // 1024}kB"
    if not folder.is_dir():
        sizes = ", ".join(format_bytes(size) for size in supported_sizes()) or "none"
        raise TesseraError(
            f"{format_bytes(page_bytes)} pages",
            f"this kernel and processor have huge pages of: {sizes}",
            "use another page size, or a machine that has it (./run doctor)",
        )
    return folder


def huge_pages_total(page_bytes: int, node: int | None = None) -> int:
    """Pages in the pool, used and free."""
    return int((pool_folder(page_bytes, node) / "nr_hugepages").read_text())


def lasting_total(page_bytes: int, node: int | None = None) -> int:
    """Pages in the pool without surplus ones, which leave it when their program frees them.

    This is the number that :func:`set_total` sets. A pool that is made smaller than what is in use has
    surplus pages.
    """
    surplus = pool_folder(page_bytes, node) / "surplus_hugepages"
    return huge_pages_total(page_bytes, node) - (int(surplus.read_text()) if surplus.exists() else 0)


def huge_pages_free(page_bytes: int, node: int | None = None) -> int:
    """Pages that a program can have now: those of :func:`free_in_pool` that a cgroup's limits leave."""
    free, room = free_in_pool(page_bytes, node), huge_pages_room(page_bytes)
    return free if room is None else min(free, room.pages)


def free_in_pool(page_bytes: int, node: int | None = None) -> int:
    """Free pages of the machine that nobody was promised.

    Promises are made by the machine, not by a node: a node's free pages count only as far as the machine's.
    """
    folder = pool_folder(page_bytes)
    promised = promised_pages(int((folder / "resv_hugepages").read_text()))
    free = int((folder / "free_hugepages").read_text()) - promised
    if node is None:
        return free
    return min(free, int((pool_folder(page_bytes, node) / "free_hugepages").read_text()))


def promised_pages(number: int) -> int:
    """Pages that programs were promised, of the number in ``resv_hugepages``.

    The number is below zero for a moment, and shown as one of 64 bits, while the kernel holds a page of an
    ended process.
    """
    return 0 if number >= 1 << 63 else number


def set_total(page_bytes: int, total: int, node: int | None = None) -> int:
    """Ask the kernel for ``total`` pages; returns how many there really are then, without surplus pages.

    Growing compacts memory first, and tries again while that still helps. Nothing is written if the pool has
    this size.

    Raises:
        TesseraError: this user may not.
    """
    control = pool_folder(page_bytes, node) / "nr_hugepages"
    try:
        for _ in range(ATTEMPTS):
            now = lasting_total(page_bytes, node)
            if now == total:
                break
            if total > now and COMPACT_MEMORY.exists() and sysfs() == SYSFS:
                COMPACT_MEMORY.write_text("1")
            control.write_text(f"{total}\n")
    except OSError as error:
        raise TesseraError(
            f"{total} {format_bytes(page_bytes)} pages",
            f"{control} can't be written: {error.strerror}",
            f"as root: {command_for(page_bytes, total, node)}",
        ) from None
    return lasting_total(page_bytes, node)


def command_for(page_bytes: int, total: int, node: int | None = None) -> str:
    """What an administrator types for a pool of ``total`` pages."""
    name = f"hugepages-{page_bytes // 1024}kB"
    if node is not None:
        return f"echo {total} | sudo tee {NODES}/node{node}/hugepages/{name}/nr_hugepages"
    if page_bytes == PAGE_2MB:
        return f"sudo sysctl vm.nr_hugepages={total}"
    boot = " (1GB pages are safest at boot: hugepagesz=1G hugepages=N)" if page_bytes == PAGE_1GB else ""
    return f"echo {total} | sudo tee {SYSFS}/{name}/nr_hugepages{boot}"
