"""Walk the guest's page tables from outside, through the files that are its memory.

An independent oracle: it shares no code with the guest's kernel and knows nothing of replicas. From a root it
finds the four levels of x86-64 paging (Intel SDM, volume 3, section 4.5). The machine must be stopped while
it reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

PRESENT = np.uint64(1)
LARGE = np.uint64(1 << 7)
FRAME = np.uint64(0x000F_FFFF_FFFF_F000)
#: Accessed, Dirty, and the bit where Linux keeps Dirty of a write-protected page (SavedDirty): written by
#: hardware into one copy, so copies may differ in them.
WRITTEN_BY_HARDWARE = np.uint64(1 << 5 | 1 << 6 | 1 << 58)
ENTRIES = 512
USER_HALF = 256
#: Physical addresses of a "pc" machine: memory that doesn't fit below this border continues at 4 GB.
LOW_MEMORY_BYTES = 0xC000_0000
HIGH_MEMORY_START = 1 << 32


class GuestMemory:
    """The guest's physical memory, node after node.

    Args:
        files: the memory of each node.
        node_bytes: size of each of them.
        low_bytes: memory below 4 GB; 0: as QEMU splits it.
    """

    def __init__(self, files: list[Path], node_bytes: int, low_bytes: int = 0):
        self._nodes = [np.memmap(path, dtype=np.uint64, mode="r") for path in files]
        self._node_bytes = node_bytes
        total = node_bytes * len(files)
        # QEMU splits memory of 3.5 GB and more.
        self._low = low_bytes or LOW_MEMORY_BYTES
        self._split = total >= (low_bytes or 0xE000_0000)

    def _offset(self, physical: np.ndarray) -> np.ndarray:
        if not self._split:
            return physical
        high = physical >= HIGH_MEMORY_START
        return np.where(high, physical - np.uint64(HIGH_MEMORY_START - self._low), physical)

    def node(self, physical: np.ndarray) -> np.ndarray:
        """Node of each physical address; -1 outside memory."""
        node = (self._offset(physical) // np.uint64(self._node_bytes)).astype(np.int64)
        return np.where(node < len(self._nodes), node, -1)

    def read(self, physical: int, count: int) -> np.ndarray:
        """Bytes from an address, shape (count,); all on one node, on one side of 4 GB."""
        offset = int(self._offset(np.array([physical], dtype=np.uint64))[0])
        node, first = divmod(offset, self._node_bytes)
        if node >= len(self._nodes):
            raise IndexError(f"no memory at physical address {physical:#x}")
        return self._nodes[node].view(np.uint8)[first : first + count]

    def tables(self, physical: np.ndarray) -> np.ndarray:
        """Entries of the tables at these addresses, shape (tables, 512)."""
        result = np.zeros((len(physical), ENTRIES), dtype=np.uint64)
        nodes, offset = self.node(physical), self._offset(physical)
        for node, memory in enumerate(self._nodes):
            here = np.flatnonzero(nodes == node)
            if len(here):
                first = (offset[here] - np.uint64(node * self._node_bytes)) // np.uint64(8)
                result[here] = memory[first[:, None].astype(np.int64) + np.arange(ENTRIES)]
        return result


@dataclass(frozen=True)
class Level:
    """All tables of one level, in the order of the addresses that they translate.

    Attributes:
        physical: address of each table, shape (tables,).
        virtual: first address that each table translates.
        entries: shape (tables, 512).
    """

    physical: np.ndarray
    virtual: np.ndarray
    entries: np.ndarray


@dataclass(frozen=True)
class Tree:
    """The user half of the tables below one root, levels 4 (the root) to 1; and the root's kernel half."""

    root: int
    levels: dict[int, Level]
    kernel_half: np.ndarray


def walk(memory: GuestMemory, root: int) -> Tree:
    """The tree below ``root`` (physical address)."""
    physical = np.array([root], dtype=np.uint64)
    virtual = np.array([0], dtype=np.uint64)
    levels: dict[int, Level] = {}
    kernel_half = np.empty(0, dtype=np.uint64)
    for level in (4, 3, 2, 1):
        entries = memory.tables(physical)
        if level == 4:
            kernel_half = entries[0, USER_HALF:].copy()
            entries[0, USER_HALF:] = 0
        levels[level] = Level(physical, virtual, entries)
        below = (entries & PRESENT != 0) & (entries & LARGE == 0)
        table, index = np.nonzero(below)
        span = np.uint64(1 << (12 + 9 * (level - 1)))
        virtual = virtual[table] + index.astype(np.uint64) * span
        physical = entries[table, index] & FRAME
    return Tree(root, levels, kernel_half)


@dataclass(frozen=True)
class Difference:
    """Where two trees disagree."""

    level: int
    address: int
    expected: int
    found: int

    def __str__(self) -> str:
        return f"level {self.level} address {self.address:#x}: {self.expected:#x} against {self.found:#x}"


def differences(one: Tree, other: Tree, at_most: int = 20) -> list[Difference]:
    """Where the trees don't translate alike: frames and flags of leaves, flags of pointers to tables.

    Which tables a pointer leads to is not compared: that is what replicas differ in.
    """
    found: list[Difference] = []
    for level in (4, 3, 2, 1):
        mine, theirs = one.levels[level], other.levels[level]
        if not np.array_equal(mine.virtual, theirs.virtual):
            for address in sorted(set(mine.virtual.tolist()) ^ set(theirs.virtual.tolist())):
                present = address in set(mine.virtual.tolist())
                found.append(Difference(level, address, int(present), int(not present)))
            break
        a, b = mine.entries & ~WRITTEN_BY_HARDWARE, theirs.entries & ~WRITTEN_BY_HARDWARE
        pointer = (a & PRESENT != 0) & (a & LARGE == 0) & (level > 1)
        a, b = np.where(pointer, a & ~FRAME, a), np.where(pointer, b & ~FRAME, b)
        for table, index in zip(*np.nonzero(a != b), strict=True):
            address = int(mine.virtual[table]) + int(index) * (1 << (12 + 9 * (level - 1)))
            found.append(Difference(level, address, int(a[table, index]), int(b[table, index])))
            if len(found) >= at_most:
                return found
    for index in np.flatnonzero((one.kernel_half ^ other.kernel_half) & ~WRITTEN_BY_HARDWARE):
        address = (USER_HALF + int(index)) << 39 | 0xFFFF << 48
        found.append(Difference(4, address, int(one.kernel_half[index]), int(other.kernel_half[index])))
    return found[:at_most]
