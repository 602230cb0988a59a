"""Free memory of this machine by size of block, and how much of it cannot hold a 2MB page.

``/proc/buddyinfo`` has a line for each zone: its free blocks of 2^0, 2^1, ... frames. The *unusable index* is
the share of free frames in blocks below order 9: 1 - sum of k_i 2^i over i >= 9, divided by all free frames.
"""

from __future__ import annotations

import re
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.mapping.buddy import ORDER_OF_2MB

PROC = Path("/proc")


def free_blocks(proc: Path = PROC, node: int | None = None) -> list[int]:
    """Free blocks of each order, over all zones; of one node, if it is given.

    Raises:
        TesseraError: there is no such file, or it has another form (``mapping/buddyinfo``).
    """
    path = proc / "buddyinfo"
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    zones = [re.fullmatch(r"Node +(\d+), +zone +\w+((?: +\d+)+) *", line) for line in lines]
    if not zones or not all(zones):
        raise _unreadable(path, "a line is not 'Node N, zone NAME NUMBER...'")
    counts = [
        [int(word) for word in zone[2].split()] for zone in zones if node is None or int(zone[1]) == node
    ]
    if not counts:
        raise _unreadable(path, f"it has no node {node}")
    if len({len(row) for row in counts}) > 1:
        raise _unreadable(path, "its zones have different numbers of orders")
    return [sum(column) for column in zip(*counts, strict=True)]


def unusable_index(blocks: list[int]) -> float:
    """0 to 1; 0 if nothing is free."""
    frames = [count << order for order, count in enumerate(blocks)]
    return 1 - sum(frames[ORDER_OF_2MB:]) / sum(frames) if sum(frames) else 0.0


def _unreadable(path: Path, found: str) -> TesseraError:
    return TesseraError(
        f"read {path}",
        found,
        "run on Linux with /proc mounted",
        exit_code=EXIT_FAILED,
        code="mapping/buddyinfo",
    )
