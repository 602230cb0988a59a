"""From a recorded trace and a platform to a folder of layouts: profile, generate, write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts import generation
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import write_layout
from tessera.core.platforms import Platform
from tessera.core.results import cell_tables
from tessera.core.results.table_io import read_file, write_table
from tessera.core.results.tree import PROFILE
from tessera.simulate.runner import miss_profile


@dataclass(frozen=True)
class WrittenLayouts:
    """The written files: the manifest, the space S, and why layouts are few (empty if they aren't)."""

    manifest: pd.DataFrame
    space: Space
    reason: str


def write_chosen_layouts(
    trace: Path,
    info: dict,
    platform: Platform,
    out: Path,
    *,
    seed: int,
    random_count: int,
    windows: str = generation.TOUCHED,
) -> WrittenLayouts:
    """Write the 54 + 1 layouts of a trace to ``out``, with ``manifest.csv`` and the misses that they follow.

    Args:
        info: ``tessera.record.traces.info`` of the trace.
        platform: its misses under 4KB pages place the sliding windows.
        windows: ``touched`` or ``allocated``, where windows may start and end (:class:`Space`).

    Raises:
        TesseraError: no such choice of ``windows``.
    """
    if windows not in (generation.TOUCHED, generation.ALLOCATED):
        raise TesseraError(
            f"windows '{windows}'", "no such choice", f"use {generation.TOUCHED} or {generation.ALLOCATED}"
        )
    space = Space.from_trace_info(info)
    kept = out / PROFILE
    kept.parent.mkdir(parents=True, exist_ok=True)
    profile = read_file(cell_tables.PROFILE, miss_profile(trace, platform, kept))
    if windows == generation.TOUCHED:
        space = generation.on_touched(space, profile)
    layouts = generation.generate_layouts(space, profile, seed=seed, random_count=random_count)
    table = generation.layouts_manifest(layouts)
    for layout in layouts:
        write_layout(layout, out / f"{layout.name}.csv")
    write_table(cell_tables.MANIFEST, table, out / cell_tables.MANIFEST.file)
    return WrittenLayouts(table, space, generation.too_few_reason(table, space))
