"""The fewest 2MB pages that hold a share of the misses, and the layout that they make."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_2MB
from tessera.layouts.model import Layout, Window
from tessera.layouts.rules import MAX_WINDOWS
from tessera.mosalloc.defaults import DEFAULT_POOL_BYTES
from tessera.mosalloc.suggest.profile import Page, Profile

#: Pages whose misses differ by less count as equal where windows are to be few.
SIMILAR = 0.1


def ranked(profile: Profile) -> list[Page]:
    """Pages with misses, most misses first; ties by pool and offset, to be repeatable."""
    reachable = [page for page in profile.misses if page[1] + PAGE_2MB <= profile.pool_bytes[page[0]]]
    return sorted(reachable, key=lambda page: (-profile.misses[page], page))


def compact(profile: Profile) -> list[Page]:
    """The same, but pages with similar misses are taken in the order of addresses: fewer windows."""

    def level(page: Page) -> int:
        return math.floor(math.log(profile.misses[page]) / math.log1p(SIMILAR))

    return sorted(ranked(profile), key=lambda page: (-level(page), page))


def fewest(profile: Profile, pages: Sequence[Page], share: float) -> int | None:
    """How many of ``pages``, in this order, hold ``share`` of the pools' misses; None if all hold less."""
    wanted, held = share * profile.in_pools, 0.0
    for count, page in enumerate(pages, start=1):
        held += profile.misses[page]
        # A sum of floats may fall short of the whole by a rounding error.
        if held >= wanted * (1 - 1e-12):
            return count
    return None


def windows(pages: Sequence[Page]) -> tuple[Window, ...]:
    """Pages as windows, neighbours merged, sorted."""
    merged: list[Window] = []
    for pool, offset in sorted(pages):
        if merged and merged[-1].pool == pool and merged[-1].end == offset:
            merged[-1] = Window(pool, merged[-1].start, offset + PAGE_2MB, PAGE_2MB)
        else:
            merged.append(Window(pool, offset, offset + PAGE_2MB, PAGE_2MB))
    return tuple(merged)


def layout(name: str, profile: Profile, pages: Sequence[Page]) -> Layout:
    """The layout with these pages huge and the pools of the profile."""
    found = windows(pages)
    if len(found) > MAX_WINDOWS:
        raise TesseraError(
            f"{len(pages)} huge pages",
            f"they make {len(found)} windows, but a layout has at most {MAX_WINDOWS}",
            "give --max-pages, or a smaller --remove",
        )
    return Layout(name, dict(profile.pool_bytes), found)


def for_native_runs(found: Layout) -> Layout:
    """The same windows in pools at least as large as the library's own: only QEMU needs small ones."""
    sizes = {pool: max(size, DEFAULT_POOL_BYTES.get(pool, 0)) for pool, size in found.pool_bytes.items()}
    return Layout(found.name, sizes, found.windows)
