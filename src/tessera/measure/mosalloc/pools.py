"""The pools of a running program: where they are, and transparent huge pages in them.

libmosalloc shows them in a file (artifacts/mosalloc/include/mosalloc/pool_map.h). The machine's settings of
transparent huge pages are read, never changed.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tessera.core.errors import TesseraError
from tessera.measure.mosalloc import ptrace

# The file.

MAGIC = 0x3450414D4C4F4F50
ACTIVE = 1
_POOLS = ("brk", "mmap")
_HEAD, _POOL = 5, 6  #: words of 8 bytes: before the pools, and of each pool


@dataclass(frozen=True)
class PoolPlace:
    """One pool: virtual address of offset 0, reserved bytes, and end of the highest byte ever allocated."""

    pool: str
    base: int
    size_bytes: int
    used_bytes: int


def clear_pool_map(path: Path) -> None:
    """Forget the pools of a program whose process now executes another one; they are gone."""
    if path.exists():
        with path.open("r+b") as stream:
            stream.write(bytes(8))


def library_started(path: Path) -> bool:
    """libmosalloc has started in a program that had this file; false if it was not preloaded."""
    words = np.fromfile(path, dtype="<u8", count=_HEAD).tolist() if path.exists() else []
    return len(words) == _HEAD and (words[0], words[2]) == (MAGIC, ACTIVE)


def read_pool_map(path: Path, pid: int) -> list[PoolPlace]:
    """Both pools of a process; none if the library is not active in it."""
    words = np.fromfile(path, dtype="<u8", count=_HEAD + len(_POOLS) * _POOL).tolist()
    if len(words) < _HEAD + len(_POOLS) * _POOL or words[:3] != [MAGIC, pid, ACTIVE]:
        return []
    starts = range(_HEAD, len(words), _POOL)
    return [PoolPlace(_POOLS[words[at]], *words[at + 1 : at + 4]) for at in starts]


# Transparent huge pages of one program.
#
# libmosalloc marks its pools MADV_NOHUGEPAGE. For 2MB pages, a capture gives them MADV_HUGEPAGE at the
# start. Without 2MB pages, the program has PR_SET_THP_DISABLE too.

LARGE_PAGE_SYSFS = Path("/sys/kernel/mm/transparent_hugepage")
LARGE_PAGE_MODES = ("never", "always", "as-is")
_SETTING_FILES = ("enabled", "defrag", "khugepaged/defrag")
_SYS_MADVISE, _MADV_HUGEPAGE = 28, 14


def large_page_settings(sysfs: Path = LARGE_PAGE_SYSFS) -> dict[str, str]:
    """The machine's settings: the chosen word (in brackets) of each file, or its text."""
    found = {}
    for name in _SETTING_FILES:
        try:
            text = (sysfs / name).read_text().strip()
        except OSError:
            continue
        chosen = re.search(r"\[(.*?)\]", text)
        found[name] = chosen.group(1) if chosen else text
    return found


def large_pages_wanted(mode: str, machine: dict[str, str]) -> bool:
    """Whether the pools get 2MB pages.

    Raises:
        TesseraError: ``always``, and the machine's setting is ``never`` (``mapping/thp``).
    """
    enabled = machine.get("enabled", "never")
    if mode == "always" and enabled == "never":
        raise TesseraError(
            "--thp always",
            f"{LARGE_PAGE_SYSFS}/enabled is 'never', so no program gets transparent huge pages",
            f"as root: echo madvise > {LARGE_PAGE_SYSFS}/enabled",
            code="mapping/thp",
        )
    return mode == "always" or (mode == "as-is" and enabled == "always")


def advise_pools(pid: int, pool_map: Path) -> None:
    """Give the pools of a program that is stopped at its entry MADV_HUGEPAGE."""
    for pool in read_pool_map(pool_map, pid):
        result = ptrace.system_call(pid, _SYS_MADVISE, pool.base, pool.size_bytes, _MADV_HUGEPAGE)
        if result != 0:
            raise TesseraError(
                f"2MB pages in pool {pool.pool}",
                f"madvise: {os.strerror(-result)}",
                "use a kernel with CONFIG_TRANSPARENT_HUGEPAGE, or --thp never",
                code="mapping/thp",
            )


def large_page_facts(sysfs: Path = LARGE_PAGE_SYSFS) -> dict[str, object]:
    """Kernel, settings, and whether the frames are those of a virtual machine."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "kernel": platform.release(),
        "kernel_version": platform.version(),
        "virtual_machine": bool(flags and "hypervisor" in flags.group(1).split()),
        "transparent_hugepage": large_page_settings(sysfs),
    }
