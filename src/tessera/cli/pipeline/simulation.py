"""Steps of the pipeline: make and select layouts, simulate cells, and join all cells in one table."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.layouts import generation
from tessera.core.layouts.generation import TOUCHED
from tessera.core.layouts.layout import ALL_1GB, canonical_name
from tessera.core.results import cell_tables, table_io
from tessera.core.results.outcomes import FAILED, SKIPPED, is_ok, recorded
from tessera.core.results.table_io import empty_table, read_file, write_table
from tessera.core.results.tree import LAYOUTS_NOTE, PROFILE
from tessera.simulate import choose_layouts, runner
from tessera.simulate.runner import CellCache, Progress
from tessera.simulate.sampling import parse_sampling

# Layouts: those of a recording are made, and those for real runs are selected.


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
    write_table(cell_tables.PROFILE, empty_table(cell_tables.PROFILE), profile)
    if not is_ok(info):  # the profile stays empty, too
        return write_table(cell_tables.MANIFEST, empty_table(cell_tables.MANIFEST), out)
    made = choose_layouts.make_layouts(
        trace,
        info,
        platforms.changed(platforms.load(platform), changes or {}),
        out.parent,
        seed=seed,
        random_count=random_count,
        windows=windows,
    )
    write_text(out.with_name(LAYOUTS_NOTE), f"{made.reason}\n" if made.reason else "")
    return made.manifest


def select_layouts(manifest: Path, wanted: list[str], out: Path) -> pd.DataFrame:
    """Copy the named layouts of one folder to another, with their rows of the manifest."""
    table = read_file(cell_tables.MANIFEST, manifest)
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
    return write_table(cell_tables.MANIFEST, table[table.layout.isin(names)], out)


# Cells: they are simulated (a failure becomes a row), and joined in one table.


def simulate_cells(
    info_path: Path,
    manifest: Path,
    platform_path: Path,
    *,
    engine: str,
    sampling: str,
    cache: Path,
    out: Path,
    progress: Progress,
    threads: int = 1,
    changes: Mapping[str, int | str] | None = None,
) -> pd.DataFrame:
    """Simulate all layouts of a manifest; a failure becomes a ``failed`` row with the reason.

    ``changes`` are values of the platform that the configuration sets. They are part of a cell's key.

    If the recording was skipped (the user has not supplied its inputs), all rows are ``skipped``.
    """
    info, trace = recorded(info_path)
    platform = platforms.changed(platforms.load(platform_path), changes or {})
    names = list(read_file(cell_tables.MANIFEST, manifest).layout)
    status = SKIPPED if info["status"] == SKIPPED else FAILED
    try:
        if not is_ok(info):
            raise TesseraError(
                f"trace of {info['workload']}", f"the recording has status {status}", info["message"]
            )
        rows = runner.simulate(
            trace,
            platform,
            [manifest.with_name(f"{name}.csv") for name in names],
            workload=info["workload"],
            engine=engine,
            sampling=parse_sampling(sampling),
            cache=CellCache(cache),
            progress=progress,
            threads=threads,
        )
    except TesseraError as error:
        layouts = names or expected_names()
        rows = failed_rows(info["workload"], platform.name, layouts, error.sentence, engine, status=status)
    return table_io.write_cells(rows, out)


def expected_names(random_count: int = generation.RANDOM_COUNT) -> list[str]:
    """Names of the 54 + 1 layouts, for a workload without generated layouts."""
    steps = range(generation.STEPS + 1)
    names = [f"growing-{i}" for i in steps] + [f"random-{i}" for i in range(random_count)]
    return names + [f"sliding-{x}-{i}" for x in generation.HOT_PERCENT for i in steps] + [ALL_1GB]


def failed_rows(
    workload: str, platform: str, layouts: list[str], message: str, engine: str, status: str = FAILED
) -> list[dict]:
    """One row with this status and message per layout."""
    head = {"workload": workload, "platform": platform, "repeat": 0, "status": status}
    return [head | {"layout": name, "message": message, "engine": engine} for name in layouts]


def concat_cells(parts: list[Path], out: Path) -> pd.DataFrame:
    """Join all cells in one table, in the order of docs/contracts.md."""
    return table_io.write_cells(pd.concat([table_io.read_cells(part) for part in parts]), out)
