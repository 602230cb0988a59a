"""Page tables of the guest, walked from outside through its memory, and a table of where they lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import PLACEMENT
from tessera.core.tables import table_text

# The walk from outside, through the files that are the guest's memory.
#
# An independent oracle: it shares no code with the guest's kernel and knows nothing of replicas. From a root
# it finds the four levels of x86-64 paging (Intel SDM, volume 3, section 4.5). The machine must be stopped
# while it reads.

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
class EntryMismatch:
    """Where two trees disagree."""

    level: int
    address: int
    expected: int
    found: int

    def __str__(self) -> str:
        return f"level {self.level} address {self.address:#x}: {self.expected:#x} against {self.found:#x}"


def tree_differences(one: Tree, other: Tree, at_most: int = 20) -> list[EntryMismatch]:
    """Where the trees don't translate alike: frames and flags of leaves, flags of pointers to tables.

    Which tables a pointer leads to is not compared: that is what replicas differ in.
    """
    found: list[EntryMismatch] = []
    for level in (4, 3, 2, 1):
        mine, theirs = one.levels[level], other.levels[level]
        if not np.array_equal(mine.virtual, theirs.virtual):
            for address in sorted(set(mine.virtual.tolist()) ^ set(theirs.virtual.tolist())):
                present = address in set(mine.virtual.tolist())
                found.append(EntryMismatch(level, address, int(present), int(not present)))
            break
        a, b = mine.entries & ~WRITTEN_BY_HARDWARE, theirs.entries & ~WRITTEN_BY_HARDWARE
        pointer = (a & PRESENT != 0) & (a & LARGE == 0) & (level > 1)
        a, b = np.where(pointer, a & ~FRAME, a), np.where(pointer, b & ~FRAME, b)
        for table, index in zip(*np.nonzero(a != b), strict=True):
            address = int(mine.virtual[table]) + int(index) * (1 << (12 + 9 * (level - 1)))
            found.append(EntryMismatch(level, address, int(a[table, index]), int(b[table, index])))
            if len(found) >= at_most:
                return found
    for index in np.flatnonzero((one.kernel_half ^ other.kernel_half) & ~WRITTEN_BY_HARDWARE):
        address = (USER_HALF + int(index)) << 39 | 0xFFFF << 48
        found.append(EntryMismatch(4, address, int(one.kernel_half[index]), int(other.kernel_half[index])))
    return found[:at_most]


# The placement of page tables and their pointers: the table behind Figures 3 and 4 of the Mitosis paper.
#
# Columns ``workload,config,observer,level,socket,target_socket,pages,pointers``: ``pages`` tables of
# ``level`` (4 = root, 1 = leaves) lie on ``socket``; they hold ``pointers`` present entries to
# ``target_socket``. ``pages`` repeats in the rows of a level and socket. ``observer`` is whose tree this is:
# ``home``, or the socket whose processors walk it.

PLACEMENT_COLUMNS = list(PLACEMENT.names)
#: Observer of the tables that the kernel itself walks.
HOME = "home"


def placement_of_tree(tree: Tree, memory: GuestMemory, nodes: int) -> list[tuple[int, int, int, int, int]]:
    """Rows (level, socket, target socket, pages, pointers) of a tree seen from outside."""
    rows = []
    for level, tables in tree.levels.items():
        sockets = memory.node(tables.physical)
        targets = np.where(tables.entries & PRESENT != 0, memory.node(tables.entries & FRAME), -1)
        for socket in range(nodes):
            here = sockets == socket
            for target in range(nodes):
                count = int((targets[here] == target).sum())
                rows.append((level, socket, target, int(here.sum()), count))
    return rows


def placement_of_dump(text: str) -> pd.DataFrame:
    """Table of the kernel's dump (``<debugfs>/pgtable_replication/dump``), without workload and config."""
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("root")]
    if not lines or lines[0][:4] != ["tree", "level", "socket", "pages"]:
        raise TesseraError(
            "a dump of page tables",
            f"its first line is '{' '.join(lines[0])}'" if lines else "it is empty",
            "copy <debugfs>/pgtable_replication/dump of a kernel with the patches",
        )
    sockets = [int(name.removeprefix("to")) for name in lines[0][4:]]
    rows = []
    for tree, level, socket, pages, *pointers in lines[1:]:
        for target, count in zip(sockets, pointers, strict=True):
            rows.append((tree, int(level), int(socket), target, int(pages), int(count)))
    return pd.DataFrame(rows, columns=PLACEMENT_COLUMNS[2:])


def remote_leaf_share(table: pd.DataFrame, sockets: Iterable[int]) -> pd.Series:
    """Share of the leaf tables' entries that a processor of each socket finds on another socket (Figure 4).

    A socket with a tree of its own walks that, every other one walks the home tables.
    """
    shares = {}
    for socket in sockets:
        seen = leaves_of(table, socket)
        total = seen.pointers.sum()
        shares[socket] = seen[seen.socket != socket].pointers.sum() / total if total else float("nan")
    return pd.Series(shares, name="remote_leaf_share")


def leaves_of(table: pd.DataFrame, socket: int) -> pd.DataFrame:
    """Rows of the leaf tables that a processor of the socket walks: its own, or else the home tables."""
    leaves = table[table.level == 1]
    own = leaves[leaves.observer.astype(str) == str(socket)]
    return own if len(own) else leaves[leaves.observer == HOME]


def figure3(table: pd.DataFrame, observer: str = HOME) -> str:
    """Text in the form of Figure 3: a cell shows pages, [pointers to each socket], (remote share)."""
    seen = table[table.observer.astype(str) == observer]
    sockets = sorted(set(seen.socket) | set(seen.target_socket))
    rows = []
    for level in (4, 3, 2, 1):
        cells = []
        for socket in sockets:
            cell = seen[(seen.level == level) & (seen.socket == socket)].set_index("target_socket")
            counts = [int(cell.pointers.get(target, 0)) for target in sockets]
            pages = int(cell.pages.iloc[0]) if len(cell) else 0
            total = sum(counts)
            share = f"{1 - counts[sockets.index(socket)] / total:.0%}" if total else "-"
            cells.append(f"{pages} [{' '.join(map(str, counts))}] ({share})")
        rows.append((f"L{level}", *cells))
    return table_text(("level", *(f"socket {socket}" for socket in sockets)), rows) + "\n"
