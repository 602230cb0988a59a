"""Transparent huge pages of one program: the machine's settings are read, never changed.

libmosalloc marks its pools MADV_NOHUGEPAGE. For 2MB pages, a capture gives them MADV_HUGEPAGE at the start.
Without 2MB pages, the program has PR_SET_THP_DISABLE too.
"""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.mosalloc import ptrace
from tessera.mosalloc.pool_map import read_pool_map

SYSFS = Path("/sys/kernel/mm/transparent_hugepage")
MODES = ("never", "always", "as-is")
_FILES = ("enabled", "defrag", "khugepaged/defrag")
_SYS_MADVISE, _MADV_HUGEPAGE = 28, 14


def settings(sysfs: Path = SYSFS) -> dict[str, str]:
    """The machine's settings: the chosen word (in brackets) of each file, or its text."""
    found = {}
    for name in _FILES:
        try:
            text = (sysfs / name).read_text().strip()
        except OSError:
            continue
        chosen = re.search(r"\[(.*?)\]", text)
        found[name] = chosen.group(1) if chosen else text
    return found


def wanted(mode: str, machine: dict[str, str]) -> bool:
    """Whether the pools get 2MB pages.

    Raises:
        TesseraError: ``always``, and the machine's setting is ``never`` (``mapping/thp``).
    """
    enabled = machine.get("enabled", "never")
    if mode == "always" and enabled == "never":
        raise TesseraError(
            "--thp always",
            f"{SYSFS}/enabled is 'never', so no program gets transparent huge pages",
            f"as root: echo madvise > {SYSFS}/enabled",
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


def machine_facts(sysfs: Path = SYSFS) -> dict[str, object]:
    """Kernel, settings, and whether the frames are those of a virtual machine."""
    flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "kernel": platform.release(),
        "kernel_version": platform.version(),
        "virtual_machine": bool(flags and "hypervisor" in flags.group(1).split()),
        "transparent_hugepage": settings(sysfs),
    }
