"""The 54 + 1 layouts of a workload on a platform (MICRO'20 VI-B, VII-D).

The address space S, the three heuristics that choose windows in it, and the layouts with their manifest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, Layout, Window
from tessera.core.units import PAGE_1GB, PAGE_2MB, round_up

# The address space S of a traced program: its pools' used spans laid end to end (MICRO'20 VI-B).
#
# Windows are chosen by *places*, pages of 2MB that are numbered from 0. In the paper's S every page of the
# used spans is a place. With `on_touched`, only pages that the recorded part touches are places: a window
# starts and ends on one, so a step never moves it over memory that no access reaches, which would repeat a
# sample.

ORDER = ("brk", "mmap")  #: heap first, then the anonymous pool


@dataclass(frozen=True)
class Space:
    """Used and reserved bytes of each pool; a position in S is a byte offset in [0, size)."""

    used_bytes: dict[str, int]
    pool_bytes: dict[str, int]
    touched: tuple[int, ...] = ()  #: pages of S that are places, in order; empty: all of them

    @classmethod
    def from_trace_info(cls, info: dict) -> Space:
        """Spans of ``tessera.record.traces.info``'s pools, rounded up to 2MB.

        Raises:
            TesseraError: the program used no pool at all, so no layout can act on it.
        """
        used, sizes = {}, {}
        for pool in info["pools"]:
            used[pool["kind"]] = round_up(pool["used_bytes"], PAGE_2MB)
            sizes[pool["kind"]] = pool["size_bytes"]
        if not sum(used.values()):
            raise TesseraError(
                f"address space of {info.get('program', 'trace')!r}",
                "the program allocated nothing from the heap or the anonymous pool",
                "record a program that allocates memory, or import with --mmap-pool START:END",
            )
        return cls(used, sizes)

    @property
    def size(self) -> int:
        """Bytes of S (a multiple of 2MB)."""
        return sum(self.used_bytes.get(pool, 0) for pool in ORDER)

    @property
    def places(self) -> int:
        """Number of pages of 2MB that windows start and end on."""
        return len(self.touched) or self.size // PAGE_2MB

    def on_touched(self, pages: Iterable[int]) -> Space:
        """The same S with these pages as places; with no page at all it stays as it is."""
        return replace(self, touched=tuple(sorted(set(pages))))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Bytes [low, high) of S from the first to the last of the places in [start, end).

        All places together are all of S, so all-2MB is the same layout with every choice of places.
        """
        if start >= end:
            return 0, 0
        if not self.touched:
            return start * PAGE_2MB, end * PAGE_2MB
        if (start, end) == (0, self.places):
            return 0, self.size
        return self.touched[start] * PAGE_2MB, (self.touched[end - 1] + 1) * PAGE_2MB

    def position(self, pool: str, offset: int) -> int:
        """Position in S of an offset in a pool."""
        before = ORDER[: ORDER.index(pool)]
        return sum(self.used_bytes.get(name, 0) for name in before) + offset

    def windows(self, start: int, end: int) -> tuple[Window, ...]:
        """2MB windows that back positions [start, end) of S, clipped to S (both multiples of 2MB)."""
        found, base = [], 0
        for pool in ORDER:
            span = self.used_bytes.get(pool, 0)
            low, high = max(start - base, 0), min(end - base, span)
            if low < high:
                found.append(Window(pool, low, high, PAGE_2MB))
            base += span
        return tuple(found)

    def layout(self, name: str, start: int, end: int) -> Layout:
        """The layout with one 2MB window over positions [start, end) of S."""
        return Layout(name, dict(self.pool_bytes), self.windows(start, end))

    def layout_1gb(self) -> Layout:
        """The test point: every used pool in 1GB pages (VII-D); pools grow to whole pages."""
        pools = {
            pool: round_up(size, PAGE_1GB) if self.used_bytes.get(pool) else size
            for pool, size in self.pool_bytes.items()
        }
        windows = tuple(
            Window(pool, 0, round_up(span, PAGE_1GB), PAGE_1GB)
            for pool, span in self.used_bytes.items()
            if span
        )
        return Layout(ALL_1GB, pools, windows)


# The three layout heuristics of MICRO'20 VI-B: growing, random and sliding window.
#
# Each is a function of the space S and yields (name, start, end): one 2MB window over the places
# [start, end).

STEPS = 8  #: N of the paper: N + 1 layouts a heuristic
HOT_PERCENT = (20, 40, 60, 80)  #: X of the paper's sliding window

WindowSpan = tuple[str, int, int]


def growing_windows(space: Space) -> Iterator[WindowSpan]:
    """Windows that start at 0 and cover i/8 of S: growing-0 is all 4KB, growing-8 all 2MB."""
    for i in range(STEPS + 1):
        yield f"growing-{i}", 0, round(i * space.places / STEPS)


def random_windows(space: Space, count: int, seed: int) -> Iterator[WindowSpan]:
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


def sliding_windows(space: Space, misses: np.ndarray) -> Iterator[WindowSpan]:
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


# The layouts of all heuristics, and their manifest.

MANIFEST_COLUMNS = ("layout", "heuristic", "parameter", "pages_2mb", "pages_1gb", "duplicate_of")
ENOUGH_DISTINCT = 45
RANDOM_COUNT = 9


#: Where windows start and end: on pages that the recording touches, or anywhere in the paper's S.
TOUCHED, ALLOCATED = "touched", "allocated"


def on_touched(space: Space, profile: pd.DataFrame) -> Space:
    """S with the pages of the profile as places: the first access to a page misses, so these are touched."""
    return space.on_touched(page for page, misses in _by_page(space, profile).items() if misses)


def miss_vector(space: Space, profile: pd.DataFrame) -> np.ndarray:
    """Misses of each place of S from the simulator's profile (``pool,offset_bytes,stlb_misses``)."""
    by_page = _by_page(space, profile)
    if space.touched:
        return np.array([by_page.get(page, 0) for page in space.touched], dtype=float)
    misses = np.zeros(space.size // PAGE_2MB)
    for page, count in by_page.items():
        misses[page] = count
    return misses


def _by_page(space: Space, profile: pd.DataFrame) -> dict[int, int]:
    """Misses by page of 2MB of S. Pools can span terabytes, so only pages of the profile are in it."""
    misses: dict[int, int] = {}
    for row in profile.itertuples(index=False):
        span = space.used_bytes.get(row.pool, 0)
        if row.offset_bytes < span:
            page = space.position(row.pool, row.offset_bytes) // PAGE_2MB
            misses[page] = misses.get(page, 0) + row.stlb_misses
    return misses


def generate_layouts(
    space: Space, profile: pd.DataFrame, *, seed: int = 1, random_count: int = RANDOM_COUNT
) -> list[Layout]:
    """Growing 9, random ``random_count`` (9; 55 make the 100-layout mode), sliding 36, and 1gb."""
    spans = [
        *growing_windows(space),
        *random_windows(space, random_count, seed),
        *sliding_windows(space, miss_vector(space, profile)),
    ]
    return [space.layout(name, *space.span(*places)) for name, *places in spans] + [space.layout_1gb()]


def layouts_manifest(layouts: list[Layout]) -> pd.DataFrame:
    """One row a layout; ``duplicate_of`` names the first layout with the same windows."""
    first: dict[tuple, str] = {}
    rows = []
    for layout in layouts:
        heuristic, _, rest = layout.name.partition("-")
        original = first.setdefault(layout.windows, layout.name)
        duplicate = "" if original == layout.name else original
        pages = layout.pages(PAGE_2MB), layout.pages(PAGE_1GB)
        rows.append((layout.name, heuristic, rest, *pages, duplicate))
    return pd.DataFrame(rows, columns=list(MANIFEST_COLUMNS))


def distinct(table: pd.DataFrame) -> int:
    """Number of distinct layouts in a manifest, 1gb not counted."""
    return int(((table.duplicate_of == "") & (table.layout != ALL_1GB)).sum())


def too_few_reason(table: pd.DataFrame, space: Space) -> str:
    """Why fewer than 45 layouts are distinct; empty when there are enough."""
    count = distinct(table)
    if count >= ENOUGH_DISTINCT:
        return ""
    return (
        f"{count} distinct layouts (fewer than {ENOUGH_DISTINCT}): the program "
        f"{'touches' if space.touched else 'uses'} only {space.places} pages of 2MB, too few for steps of "
        "1/8 of its hot regions"
    )
