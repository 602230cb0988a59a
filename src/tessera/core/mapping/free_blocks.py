"""Free blocks of memory by size: a stand-in for Linux's buddy allocator, and those of this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.mapping.synthetic import random_numbers

# A stand-in for Linux's buddy allocator: blocks of 2^0 to 2^10 frames; nothing is freed later.
#
# Rules: a request takes the smallest block that is large enough; of several, the one that was freed last. A
# block that is too large is split; the request gets the low half, and the high half becomes free. Not
# modelled: zones, migration types, per-processor lists, compaction, and other programs that allocate at the
# same time.
#
# Single frames are taken in bulk: a block of 2^k frames gives its frames in ascending order, because each
# split keeps the low half. Free blocks are numpy arrays, so millions of them fit into memory.

ORDERS = 11  #: orders 0..10, as in Linux
ORDER_OF_2MB = 9
_STREAM = 16  #: streams of blocks: this and the order; regions have 0 and 1
_UNITS = 64  #: the stream that shuffles units of memory
_UNIT = 1 << ORDERS


class Buddy:
    """Free blocks; ``free[k]`` holds the first frames of those of order k, the one freed last at the end."""

    def __init__(self, free: Mapping[int, np.ndarray]):
        self.free = [np.array(free.get(order, []), dtype=np.int64) for order in range(ORDERS)]

    @classmethod
    def start(cls, counts: Mapping[int, int], seed: int, *, adjacent: bool = False) -> Buddy:
        """Free blocks (order -> number) at seeded addresses, never adjacent.

        Memory is cut into units of 2^11 frames in a seeded order; blocks of one order share units. A block
        is the low half of its slot of twice its size. The high half is in use: no two free blocks touch.

        ``adjacent``: but those of the highest order, which lie side by side behind all others, and are taken
        in ascending order. (In Linux, too, they may touch: nothing joins them.)
        """
        free, used = {}, 0
        units = [-(-counts.get(order, 0) * 2 // (1 << (ORDERS - order))) for order in range(ORDERS)]
        if adjacent:
            units[-1] = 0
            first = sum(units) * _UNIT
            free[ORDERS - 1] = first + (np.arange(counts.get(ORDERS - 1, 0))[::-1] << (ORDERS - 1))
        place = _shuffled(seed, _UNITS, sum(units))
        for order, number in enumerate(units[: ORDERS - adjacent]):
            own, used = place[used : used + number], used + number
            slots = np.arange(0, _UNIT, 2 << order)
            blocks = (own[:, None] * _UNIT + slots[None, :]).ravel()
            free[order] = blocks[_shuffled(seed, _STREAM + order, len(blocks))[: counts.get(order, 0)]]
        return cls(free)

    @property
    def frames(self) -> int:
        """Free frames."""
        return sum(len(blocks) << order for order, blocks in enumerate(self.free))

    @property
    def unusable_index(self) -> float:
        """The share of free frames in blocks too small for a 2MB page; 0 if nothing is free."""
        return unusable_index([len(blocks) for blocks in self.free])

    def block(self, order: int) -> int | None:
        """First frame of a block of 2^order frames; None if no block is large enough."""
        found = next((k for k in range(order, ORDERS) if len(self.free[k])), None)
        if found is None:
            return None
        frame = int(self.free[found][-1])
        self.free[found] = self.free[found][:-1]
        for half in reversed(range(order, found)):
            self.free[half] = np.append(self.free[half], frame + (1 << half))
        return frame

    def singles(self, count: int) -> np.ndarray:
        """Frames of ``count`` requests for one frame each, in the order of the requests; shape ``(count,)``.

        Raises:
            TesseraError: fewer frames are free; nothing is taken then.
        """
        if count > self.frames:
            raise out_of_memory(count, self.frames)
        parts = []
        while count:
            order = next(k for k in range(ORDERS) if len(self.free[k]))
            whole = min(count >> order, len(self.free[order]))
            if whole:
                blocks = self.free[order][len(self.free[order]) - whole :][::-1]
                self.free[order] = self.free[order][: len(self.free[order]) - whole]
                parts.append((blocks[:, None] + np.arange(1 << order)[None, :]).ravel())
                count -= whole << order
            else:  # a part of one block; the rest of it stays free, as aligned blocks
                frame = int(self.free[order][-1])
                self.free[order] = self.free[order][:-1]
                parts.append(frame + np.arange(count))
                self._give_rest(frame + count, frame + (1 << order))
                count = 0
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    def _give_rest(self, low: int, high: int) -> None:
        """Free [low, high), the end of an aligned block, as the splits of single requests leave it."""
        while low < high:
            order = (low & -low).bit_length() - 1
            self.free[order] = np.append(self.free[order], low)
            low += 1 << order


def out_of_memory(asked: int, free: int) -> TesseraError:
    """The error for too few free frames."""
    return TesseraError(
        "stand-in buddy allocator",
        f"{asked} frames of 4KB are needed and {free} are free",
        "give more free blocks, for example --free 10=4096 (4096 blocks of 4MB)",
        code="mapping/out-of-memory",
    )


def _shuffled(seed: int, number: int, count: int) -> np.ndarray:
    """0..count-1 in a seeded order."""
    return np.argsort(random_numbers(seed, number, count), kind="stable")


# Free memory of this machine by size of block, and how much of it cannot hold a 2MB page.
#
# ``/proc/buddyinfo`` has a line for each zone: its free blocks of 2^0, 2^1, ... frames. The *unusable index*
# is the share of free frames in blocks below order 9: 1 - sum of k_i 2^i over i >= 9, divided by all free
# frames.

PROC = Path("/proc")


def machine_free_blocks(proc: Path = PROC, node: int | None = None) -> list[int]:
    """Free blocks of each order, over all zones; of one node, if it is given.

    Raises:
        TesseraError: there is no such file, or it has another form (``mapping/buddyinfo``).
    """
    path = proc / "buddyinfo"
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise _unreadable_buddyinfo(path, error.strerror or str(error)) from None
    form = re.compile(r"Node +(\d+), +zone +\w+((?: +\d+)+) *")
    zones = [zone for line in lines if (zone := form.fullmatch(line))]
    if not zones or len(zones) < len(lines):
        raise _unreadable_buddyinfo(path, "a line is not 'Node N, zone NAME NUMBER...'")
    counts = [
        [int(word) for word in zone[2].split()] for zone in zones if node is None or int(zone[1]) == node
    ]
    if not counts:
        raise _unreadable_buddyinfo(path, f"it has no node {node}")
    if len({len(row) for row in counts}) > 1:
        raise _unreadable_buddyinfo(path, "its zones have different numbers of orders")
    return [sum(column) for column in zip(*counts, strict=True)]


def unusable_index(blocks: list[int]) -> float:
    """The share of free frames in blocks too small for a 2MB page; ``blocks``: number by order."""
    frames = [count << order for order, count in enumerate(blocks)]
    return 1 - sum(frames[ORDER_OF_2MB:]) / sum(frames) if sum(frames) else 0.0


def _unreadable_buddyinfo(path: Path, found: str) -> TesseraError:
    return TesseraError(
        f"read {path}",
        found,
        "run on Linux with /proc mounted",
        exit_code=EXIT_FAILED,
        code="mapping/buddyinfo",
    )
