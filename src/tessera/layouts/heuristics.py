"""The three layout heuristics of MICRO'20 VI-B: growing, random and sliding window.

Each is a function of the space S and yields (name, start, end): one 2MB window in positions of S.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tessera.core.units import PAGE_2MB
from tessera.layouts.space import Space

STEPS = 8  #: N of the paper: N + 1 layouts a heuristic
HOT_PERCENT = (20, 40, 60, 80)  #: X of the paper's sliding window

Span = tuple[str, int, int]


def growing(space: Space) -> Iterator[Span]:
    """Windows that start at 0 and cover i/8 of S: growing-0 is all 4KB, growing-8 all 2MB."""
    pages = space.size // PAGE_2MB
    for i in range(STEPS + 1):
        yield f"growing-{i}", 0, round(i * pages / STEPS) * PAGE_2MB


def random(space: Space, count: int, seed: int) -> Iterator[Span]:
    """Windows with random length and start; no two alike as long as S has enough pages."""
    rng = np.random.default_rng(seed)
    pages = space.size // PAGE_2MB
    possible = pages * (pages + 1) // 2
    seen: set[tuple[int, int]] = set()
    for i in range(count):
        while True:
            length = int(rng.integers(1, pages + 1))
            start = int(rng.integers(0, pages - length + 1))
            if (start, length) not in seen or len(seen) >= possible:
                break
        seen.add((start, length))
        yield f"random-{i}", start * PAGE_2MB, (start + length) * PAGE_2MB


def sliding(space: Space, misses: np.ndarray) -> Iterator[Span]:
    """Windows that start on the hot region and leave it in steps of 1/8 of its size.

    Args:
        misses: STLB misses under 4KB pages, one number per 2MB of S (shape ``(S / 2MB,)``).
    """
    pages = space.size // PAGE_2MB
    for percent in HOT_PERCENT:
        start, end = hot_region(misses, percent / 100)
        direction = _direction(start, end, pages)
        for i in range(STEPS + 1):
            shift = direction * round(i * (end - start) / STEPS)
            low, high = max(start + shift, 0), min(end + shift, pages)
            yield f"sliding-{percent}-{i}", low * PAGE_2MB, max(high, low) * PAGE_2MB


def hot_region(misses: np.ndarray, share: float) -> tuple[int, int]:
    """Smallest [start, end) in 2MB pages that holds at least ``share`` of all misses.

    Of several smallest regions the one with most misses is taken, then the lowest. Without any
    miss the region is the first page.
    """
    total = float(misses.sum())
    if total == 0:
        return 0, 1
    sums = np.concatenate(([0.0], np.cumsum(misses, dtype=np.float64)))
    best: tuple[int, float, int] | None = None
    end = 0
    for start in range(len(misses)):
        while end < len(misses) and sums[end] - sums[start] < share * total:
            end += 1
        held = sums[end] - sums[start]
        if held < share * total:
            break
        candidate = (end - start, -held, start)
        if best is None or candidate < best:
            best = candidate
    assert best is not None
    return best[2], best[2] + best[0]


def _direction(start: int, end: int, pages: int) -> int:
    """+1 towards high addresses: away from the nearer border; a tie goes upward."""
    return 1 if start <= pages - end else -1
