"""Steps of the pipeline: make the layouts of a recording, and select those for real runs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.layouts.generate import TOUCHED
from tessera.layouts.model import canonical_name
from tessera.platforms.change import changed
from tessera.results.read import empty, read_file
from tessera.results.recordings import recorded
from tessera.results.schema import cells as schema
from tessera.results.status import is_ok
from tessera.results.tree import LAYOUTS_NOTE, PROFILE
from tessera.results.write import write
from tessera.simulate.choose_layouts import make_layouts as write_layouts


def make_layouts(
    info_path: Path,
    platform: Path,
    seed: int,
    random_count: int,
    out: Path,
    windows: str = TOUCHED,
    changes: Mapping[str, int | str] | None = None,
) -> pd.DataFrame:
    """Write layouts, miss profile and manifest.csv (``out``); for a failed recording, write empty tables.

    ``changes`` are values of the platform that the configuration sets.
    """
    info, trace = recorded(info_path)
    for stale in out.parent.glob("*.csv"):
        stale.unlink()
    profile = out.parent / PROFILE
    write(schema.PROFILE, empty(schema.PROFILE), profile)  # stays empty if the recording failed
    if not is_ok(info):
        return write(schema.MANIFEST, empty(schema.MANIFEST), out)
    made = write_layouts(
        trace,
        info,
        changed(platforms.load(platform), changes or {}),
        out.parent,
        seed=seed,
        random_count=random_count,
        windows=windows,
    )
    write_text(out.with_name(LAYOUTS_NOTE), f"{made.reason}\n" if made.reason else "")
    return made.manifest


def select_layouts(manifest: Path, wanted: list[str], out: Path) -> pd.DataFrame:
    """Copy the named layouts of one folder to another, with their rows of the manifest."""
    table = read_file(schema.MANIFEST, manifest)
    names = [canonical_name(name) for name in wanted]
    if len(table) and (missing := [name for name in names if name not in set(table.layout)]):
        raise TesseraError(
            f"host layouts {', '.join(missing)}",
            "there are no layouts with these names",
            f"use names of {manifest}",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    for stale in out.parent.glob("*.csv"):
        stale.unlink()
    for name in names if len(table) else []:
        shutil.copy(manifest.with_name(f"{name}.csv"), out.with_name(f"{name}.csv"))
    return write(schema.MANIFEST, table[table.layout.isin(names)], out)
