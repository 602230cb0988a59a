"""The guest kernel's virtual memory, and where its data are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.lab.kernel.page_tables import GuestMemory

# The guest kernel's virtual memory, read from outside through its own page tables.
#
# Translation: four levels of x86-64 paging (Intel SDM, volume 3, section 4.5), with pages of 4KB, 2MB and
# 1GB. The machine must be stopped, or spin, while it is read. Translations are kept: the kernel's own
# mappings do not change while an experiment runs.

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


# Addresses and layouts of the kernel's data: the description that ``artifacts/kernel/oracle/describe.py``
# made of its vmlinux.

#: The next step after a difference of versions.
REMEDY = "compare the kernel's version with artifacts/kernel/SOURCE, and the list of names in describe.py"


class Vmlinux:
    """Symbols, structs and enumerators of a kernel.

    Args:
        path: JSON with ``symbols``, ``structs`` and ``enumerators``.
    """

    def __init__(self, path: Path):
        self.path = path
        described = json.loads(path.read_text())
        self._symbols: dict[str, int] = described["symbols"]
        self._structs: dict[str, dict] = described["structs"]
        self._enumerators: dict[str, int] = described["enumerators"]

    def address(self, symbol: str) -> int:
        """Virtual address of a symbol."""
        return self._of(self._symbols, symbol, "symbol")

    def value(self, enumerator: str) -> int:
        """Value of an enumerator."""
        return self._of(self._enumerators, enumerator, "enumerator")

    def size(self, struct: str) -> int:
        """Size of a struct in bytes."""
        return self._of(self._structs, struct, "struct")["size"]

    def offset(self, struct: str, member: str) -> int:
        """Bytes from the start of a struct to a member; members of anonymous parts count as its own."""
        members = self._of(self._structs, struct, "struct")["members"]
        return self._of(members, member, f"struct {struct}, member")

    def _of(self, names: dict, name: str, kind: str):
        if name not in names:
            raise TesseraError(f"{kind} {name} of the kernel", f"{self.path} does not have it", REMEDY)
        return names[name]
