"""Random layouts of a window: some that no model saw, and many in which twins are looked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.layouts import heuristics
from tessera.layouts.model import write_layout
from tessera.layouts.space import Space
from tessera.mapping.rows import POOLS
from tessera.mapping.touches import Touches, read_touches
from tessera.record import traces

NEW_COUNT = 9
#: Added to the seed, so that they are not the random layouts that the models are fitted to.
SEED_OFFSET = 1000


def random_layouts(trace: Path, folder: Path, mosaics: int, seed: int) -> tuple[list[Path], list[Path]]:
    """Write :data:`NEW_COUNT` and ``mosaics`` layouts, with windows on pages that the trace touches."""
    space = touched_space(trace, folder)
    spans = list(heuristics.random(space, NEW_COUNT + mosaics, seed + SEED_OFFSET))
    paths = []
    for number, (_, *places) in enumerate(spans):
        name = f"new-{number}" if number < NEW_COUNT else f"mosaic-{number - NEW_COUNT}"
        paths.append(folder / f"{name}.csv")
        write_layout(space.layout(name, *space.span(*places)), paths[-1])
    return paths[:NEW_COUNT], paths[NEW_COUNT:]


def touched_space(trace: Path, folder: Path) -> Space:
    """The address space of a trace, whose places are the 2MB pages that it touches."""
    space, file = Space.from_trace_info(traces.info(trace)), folder / "touched.txt"
    traces.touches(trace, file)
    touches = read_touches(file)
    return space.on_touched(sorted(_places(space, touches)))


def _places(space: Space, touches: Touches) -> set[int]:
    """2MB pages of S that are touched."""
    found: set[int] = set()
    for number, pool in enumerate(POOLS):
        offsets = np.unique(touches.page[touches.pool == number] * PAGE_4KB // PAGE_2MB) * PAGE_2MB
        used = offsets[offsets < space.used_bytes.get(pool, 0)]
        found |= {space.position(pool, int(offset)) // PAGE_2MB for offset in used}
    return found
