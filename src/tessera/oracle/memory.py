"""The guest kernel's virtual memory, read from outside through its own page tables.

Translation: four levels of x86-64 paging (Intel SDM, volume 3, section 4.5), with pages of 4KB, 2MB and
1GB. The machine must be stopped, or spin, while it is read. Translations are kept: the kernel's own
mappings do not change while an experiment runs.
"""

from __future__ import annotations

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel.walker import GuestMemory

PRESENT = 1
LARGE = 1 << 7
FRAME = 0x000F_FFFF_FFFF_F000
PAGE_BYTES = 4096


class KernelMemory:
    """Virtual memory below the page table ``root`` (physical address)."""

    def __init__(self, physical: GuestMemory, root: int):
        self._physical = physical
        self._root = root
        self._pages: dict[int, int] = {}

    def read(self, address: int, count: int) -> np.ndarray:
        """``count`` bytes from a virtual address, shape (count,)."""
        parts, left = [], count
        while left > 0:
            page, inside = divmod(address, PAGE_BYTES)
            taken = min(left, PAGE_BYTES - inside)
            physical = self._page(page) + inside
            # Pages that follow each other in physical memory, too, are read at once.
            while taken < left and self._page((address + taken) // PAGE_BYTES) == physical + taken:
                taken += min(left - taken, PAGE_BYTES)
            parts.append(self._physical.read(physical, taken))
            address += taken
            left -= taken
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    def number(self, address: int, size: int = 8, signed: bool = False) -> int:
        """A little-endian integer of ``size`` bytes."""
        return int.from_bytes(self.read(address, size).tobytes(), "little", signed=signed)

    def _page(self, page: int) -> int:
        if page not in self._pages:
            self._translate(page)
        return self._pages[page]

    def _translate(self, page: int) -> None:
        """Keep the translation of all pages of the mapping that has this one."""
        table = self._root
        for level in (3, 2, 1, 0):
            index = page >> 9 * level & 511
            entry = int.from_bytes(self._physical.read((table & FRAME) + 8 * index, 8).tobytes(), "little")
            if not entry & PRESENT:
                raise TesseraError(
                    f"the guest's memory at {page * PAGE_BYTES:#x}",
                    f"entry {index} of the page table of level {level + 1} maps nothing there ({entry:#x})",
                    "compare the vmlinux with the kernel that the guest booted",
                    exit_code=EXIT_FAILED,
                    code="not-mapped",
                )
            if level == 0 or entry & LARGE:
                pages = 1 << 9 * level
                first, frame = page & ~(pages - 1), entry & FRAME & ~(pages * PAGE_BYTES - 1)
                if level == 2:  # 1GB: only this page, as 262144 entries are not worth keeping
                    self._pages[page] = frame + (page - first) * PAGE_BYTES
                else:
                    for i in range(pages):
                        self._pages[first + i] = frame + i * PAGE_BYTES
                return
            table = entry
