"""A profile of TLB misses under 4KB pages, and the fewest 2MB pages that hold a share of them.

A profile has the misses of each 2MB of the pools. One of samples supports a choice of pages only as well as
their number does: the share that the pages hold has an interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import Layout, Window
from tessera.core.layouts.layout_format import MAX_WINDOWS
from tessera.core.units import PAGE_2MB
from tessera.measure.mosalloc.memory_needs import DEFAULT_POOL_BYTES

# A profile: TLB misses under 4KB pages for each 2MB of the pools, and how they were counted.

#: (pool as in layout files, offset of a 2MB page in it)
Page = tuple[str, int]


@dataclass(frozen=True)
class Profile:
    """Misses of a program under the all-4KB layout.

    Attributes:
        provenance: ``measured`` or ``simulated``.
        method: a sentence: how the misses were counted.
        misses: page -> misses, pages without misses left out.
        total: all misses, those outside the pools included.
        pool_bytes: sizes of the pools.
        notes: what the reader must know about the profile.
        trace: recorded accesses, for the simulator; None for a measured profile.
        halves: misses by the even and by the odd samples in the pools; None for a simulated profile.
        samples: how many samples in the pools there are, as if all had the same weight.
        accesses: recorded accesses, of which ``total`` miss; None for a measured profile.
    """

    provenance: str
    method: str
    misses: dict[Page, float]
    total: float
    pool_bytes: dict[str, int]
    notes: tuple[str, ...] = ()
    trace: Path | None = field(default=None, compare=False)
    halves: tuple[dict[Page, float], dict[Page, float]] | None = field(default=None, compare=False)
    samples: float = 0.0
    accesses: int | None = None

    @property
    def in_pools(self) -> float:
        """Misses that huge pages could remove."""
        return sum(self.misses.values())

    @property
    def outside(self) -> float:
        """Misses in stacks, files, program images: no layout reaches them."""
        return max(0.0, self.total - self.in_pools)


def page_of(pool: str, offset: int) -> Page:
    """The 2MB page that holds an offset of a pool."""
    return pool, offset // PAGE_2MB * PAGE_2MB


def add_up(samples: Iterable[tuple[int, float]], bases: dict[str, tuple[int, int]]) -> dict[Page, float]:
    """Weights of addresses as misses of pages; ``bases`` maps a pool to (base, bytes)."""
    found: dict[Page, float] = {}
    for address, weight in samples:
        for pool, (base, size) in bases.items():
            if base <= address < base + size:
                page = page_of(pool, address - base)
                found[page] = found.get(page, 0) + weight
    return found


# The fewest 2MB pages that hold a share of the misses, and the layout that they make.

#: Pages whose misses differ by less count as equal where windows are to be few.
SIMILAR = 0.1


def ranked_pages(profile: Profile) -> list[Page]:
    """Pages with misses, most misses first; ties by pool and offset, to be repeatable."""
    reachable = [page for page in profile.misses if page[1] + PAGE_2MB <= profile.pool_bytes[page[0]]]
    return sorted(reachable, key=lambda page: (-profile.misses[page], page))


def compact_order(profile: Profile) -> list[Page]:
    """The same, but pages with similar misses are taken in the order of addresses: fewer windows."""

    def level(page: Page) -> int:
        return math.floor(math.log(profile.misses[page]) / math.log1p(SIMILAR))

    return sorted(ranked_pages(profile), key=lambda page: (-level(page), page))


def fewest_pages(profile: Profile, pages: Sequence[Page], share: float) -> int | None:
    """How many of ``pages``, in this order, hold ``share`` of the pools' misses; None if all hold less."""
    wanted, held = share * profile.in_pools, 0.0
    for count, page in enumerate(pages, start=1):
        held += profile.misses[page]
        # A sum of floats may fall short of the whole by a rounding error.
        if held >= wanted * (1 - 1e-12):
            return count
    return None


def windows_of_pages(pages: Sequence[Page]) -> tuple[Window, ...]:
    """Pages as windows, neighbours merged, sorted."""
    merged: list[Window] = []
    for pool, offset in sorted(pages):
        if merged and merged[-1].pool == pool and merged[-1].end == offset:
            merged[-1] = Window(pool, merged[-1].start, offset + PAGE_2MB, PAGE_2MB)
        else:
            merged.append(Window(pool, offset, offset + PAGE_2MB, PAGE_2MB))
    return tuple(merged)


def layout_of_pages(name: str, profile: Profile, pages: Sequence[Page]) -> Layout:
    """The layout with these pages huge and the pools of the profile."""
    found = windows_of_pages(pages)
    if len(found) > MAX_WINDOWS:
        raise TesseraError(
            f"{len(pages)} huge pages",
            f"they make {len(found)} windows, but a layout has at most {MAX_WINDOWS}",
            "give --max-pages, or a smaller --remove",
        )
    return Layout(name, dict(profile.pool_bytes), found)


def layout_for_native_runs(found: Layout) -> Layout:
    """The same windows in pools at least as large as the library's own: only QEMU needs small ones."""
    sizes = {pool: max(size, DEFAULT_POOL_BYTES.get(pool, 0)) for pool, size in found.pool_bytes.items()}
    return Layout(found.name, sizes, found.windows)


# How well a sampled profile supports the choice of pages: a share with its interval.
#
# Pages chosen by the same samples that measure them look too good: chance made some of them hot. So the even
# samples choose pages, and the odd ones say how many misses lie in these; then the other way round. Half of
# the samples choose worse than all of them, so the share is rather too small. The interval is Wilson's (E.
# B. Wilson, J. Am. Stat. Assoc. 22, 1927), for independent samples of this run. Another run of the program
# may differ.

Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Share:
    """Share of the misses in the pools, its 95% interval, and the number of samples behind it."""

    value: float
    low: float
    high: float
    samples: float


def wilson(share: float, count: float, z: float = Z_95) -> tuple[float, float]:
    """Wilson's interval of a share of ``count`` samples (not necessarily whole)."""
    if count <= 0:
        return 0.0, 1.0
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def effective_samples(weights: Iterable[float]) -> float:
    """How many samples of equal weight say as much: (sum of w)^2 / sum of w^2 (L. Kish, 1965)."""
    values = list(weights)
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / squares if squares else 0.0


def covered_share(profile: Profile, count: int) -> Share | None:
    """Share of the pools' misses in the ``count`` hottest pages; None without samples in both halves."""
    if profile.halves is None:
        return None
    inside = total = 0.0
    for chooses, checks in (profile.halves, profile.halves[::-1]):
        if not chooses or not checks:
            return None
        pages: list[Page] = ranked_pages(replace(profile, misses=chooses))[:count]
        inside += sum(checks.get(page, 0.0) for page in pages)
        total += sum(checks.values())
    share = min(1.0, inside / total)
    return Share(share, *wilson(share, profile.samples), profile.samples)
