"""From a recorded trace and a platform to a folder of layouts: profile, generate, write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.layouts import generate
from tessera.layouts.model import write_layout
from tessera.layouts.space import Space
from tessera.platforms import Platform
from tessera.results.read import read_file
from tessera.results.schema import cells as schema
from tessera.results.tree import PROFILE
from tessera.results.write import write
from tessera.simulate.runner import miss_profile


@dataclass(frozen=True)
class Made:
    """The written files: the manifest, the space S, and why layouts are few (empty if they aren't)."""

    manifest: pd.DataFrame
    space: Space
    reason: str


def make_layouts(
    trace: Path,
    info: dict,
    platform: Platform,
    out: Path,
    *,
    seed: int,
    random_count: int,
    windows: str = generate.TOUCHED,
) -> Made:
    """Write the 54 + 1 layouts of a trace to ``out``, with ``manifest.csv`` and the misses that they follow.

    Args:
        info: ``tessera.record.traces.info`` of the trace.
        platform: its misses under 4KB pages place the sliding windows.
        windows: ``touched`` or ``allocated``, where windows may start and end (`layouts.space`).

    Raises:
        TesseraError: no such choice of ``windows``.
    """
    if windows not in (generate.TOUCHED, generate.ALLOCATED):
        raise TesseraError(
            f"windows '{windows}'", "no such choice", f"use {generate.TOUCHED} or {generate.ALLOCATED}"
        )
    space = Space.from_trace_info(info)
    kept = out / PROFILE
    kept.parent.mkdir(parents=True, exist_ok=True)
    profile = read_file(schema.PROFILE, miss_profile(trace, platform, kept))
    if windows == generate.TOUCHED:
        space = generate.on_touched(space, profile)
    layouts = generate.generate(space, profile, seed=seed, random_count=random_count)
    table = generate.manifest(layouts)
    for layout in layouts:
        write_layout(layout, out / f"{layout.name}.csv")
    write(schema.MANIFEST, table, out / schema.MANIFEST.file)
    return Made(table, space, generate.too_few_reason(table, space))
