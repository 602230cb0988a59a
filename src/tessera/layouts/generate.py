"""The 54 + 1 layouts of a workload on a platform, with a manifest (MICRO'20 VI-B, VII-D)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tessera.core.units import PAGE_1GB, PAGE_2MB
from tessera.layouts import heuristics
from tessera.layouts.model import Layout
from tessera.layouts.names import ALL_1GB
from tessera.layouts.space import Space

COLUMNS = ("layout", "heuristic", "parameter", "pages_2mb", "pages_1gb", "duplicate_of")
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


def generate(
    space: Space, profile: pd.DataFrame, *, seed: int = 1, random_count: int = RANDOM_COUNT
) -> list[Layout]:
    """Growing 9, random ``random_count`` (9; 55 make the 100-layout mode), sliding 36, and 1gb."""
    spans = [
        *heuristics.growing(space),
        *heuristics.random(space, random_count, seed),
        *heuristics.sliding(space, miss_vector(space, profile)),
    ]
    return [space.layout(name, *space.span(*places)) for name, *places in spans] + [space.layout_1gb()]


def manifest(layouts: list[Layout]) -> pd.DataFrame:
    """One row a layout; ``duplicate_of`` names the first layout with the same windows."""
    first: dict[tuple, str] = {}
    rows = []
    for layout in layouts:
        heuristic, _, rest = layout.name.partition("-")
        original = first.setdefault(layout.windows, layout.name)
        duplicate = "" if original == layout.name else original
        pages = layout.pages(PAGE_2MB), layout.pages(PAGE_1GB)
        rows.append((layout.name, heuristic, rest, *pages, duplicate))
    return pd.DataFrame(rows, columns=list(COLUMNS))


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
