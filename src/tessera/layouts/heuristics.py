"""The three layout heuristics of MICRO'20 VI-B: growing, random and sliding window.

Each is a function of the space S and yields (name, start, end): one 2MB window over the places [start, end).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tessera.layouts.space import Space

STEPS = 8  #: N of the paper: N + 1 layouts a heuristic
HOT_PERCENT = (20, 40, 60, 80)  #: X of the paper's sliding window

Span = tuple[str, int, int]


def growing(space: Space) -> Iterator[Span]:
    """Windows that start at 0 and cover i/8 of S: growing-0 is all 4KB, growing-8 all 2MB."""
    for i in range(STEPS + 1):
        yield f"growing-{i}", 0, round(i * space.places / STEPS)


def random(space: Space, count: int, seed: int) -> Iterator[Span]:
    """Windows with random length and start; no two alike as long as S has enough pages."""
    rng = np.random.default_rng(seed)
    pages = space.places
    possible = pages * (pages + 1) // 2
    seen: set[tuple[int, int]] = set()
    for i in range(count):
        while True:
            length = int(rng.integers(1, pages + 1))
            start = int(rng.integers(0, pages - length + 1))
            if (start, length) not in seen or len(seen) >= possible:
                break
        seen.add((start, length))
        yield f"random-{i}", start, start + length


def sliding(space: Space, misses: np.ndarray) -> Iterator[Span]:
    """Windows that start on the hot region and leave it in steps of 1/8 of its size.

    On touched places a step is at least one place: a step of less repeats the window before it.

    Args:
        misses: STLB misses under 4KB pages of each place (shape ``(places,)``).
    """
    pages = space.places
    for percent in HOT_PERCENT:
        start, end = hot_region(misses, percent / 100)
        direction = _direction(start, end, pages)
        step = (end - start) / STEPS
        step = max(step, 1) if space.touched else step
        for i in range(STEPS + 1):
            shift = direction * round(i * step)
            low, high = max(start + shift, 0), min(end + shift, pages)
            yield f"sliding-{percent}-{i}", low, max(high, low)


def hot_region(misses: np.ndarray, share: float) -> tuple[int, int]:
    """Smallest [start, end) in places that holds at least ``share`` of all misses.

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
