"""The links between a recording and the models, each turning failures into rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.layouts import generate, heuristics
from tessera.layouts.model import canonical_name
from tessera.layouts.names import ALL_1GB
from tessera.results import cells
from tessera.results.read import empty, read_file
from tessera.results.recordings import recorded
from tessera.results.schema import cells as schema
from tessera.results.status import FAILED, SKIPPED, is_ok
from tessera.results.tree import LAYOUTS_NOTE, PROFILE
from tessera.results.write import write
from tessera.simulate.cache import CellCache
from tessera.simulate.choose_layouts import make_layouts as write_layouts
from tessera.simulate.plan import parse_sampling
from tessera.simulate.runner import Progress
from tessera.simulate.runner import simulate as run_simulator


def make_layouts(info_path: Path, platform: Path, seed: int, random_count: int, out: Path) -> pd.DataFrame:
    """Layouts, miss profile and manifest.csv (``out``) of a recording; a failed one gives empty tables."""
    info, trace = recorded(info_path)
    for stale in out.parent.glob("*.csv"):
        stale.unlink()
    profile = out.parent / PROFILE
    write(schema.PROFILE, empty(schema.PROFILE), profile)  # what a failed recording leaves
    if not is_ok(info):
        return write(schema.MANIFEST, empty(schema.MANIFEST), out)
    made = write_layouts(
        trace, info, platforms.load(platform), out.parent, seed=seed, random_count=random_count
    )
    out.with_name(LAYOUTS_NOTE).write_text(made.reason + "\n" if made.reason else "")
    return made.manifest


def select_layouts(manifest: Path, wanted: list[str], out: Path) -> pd.DataFrame:
    """Copy the named layouts of one folder to another, with their rows of the manifest."""
    table = read_file(schema.MANIFEST, manifest)
    names = [canonical_name(name) for name in wanted]
    if len(table) and (missing := [name for name in names if name not in set(table.layout)]):
        raise TesseraError(
            f"host layouts {', '.join(missing)}",
            "not among the generated layouts",
            f"use names from {manifest}",
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    for stale in out.parent.glob("*.csv"):
        stale.unlink()
    for name in names if len(table) else []:
        shutil.copy(manifest.with_name(f"{name}.csv"), out.with_name(f"{name}.csv"))
    return write(schema.MANIFEST, table[table.layout.isin(names)], out)


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
) -> pd.DataFrame:
    """Simulated cells of all layouts of a manifest; whatever fails is a ``failed`` row with the reason.

    A recording that was skipped (the user's part is absent) gives ``skipped`` rows.
    """
    info, trace = recorded(info_path)
    platform = platforms.load(platform_path)
    names = list(read_file(schema.MANIFEST, manifest).layout)
    status = SKIPPED if info["status"] == SKIPPED else FAILED
    try:
        if not is_ok(info):
            raise TesseraError(f"trace of {info['workload']}", f"recording {status}", info["message"])
        rows = run_simulator(
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
        message = f"{error.asked}: {error.found}; {error.remedy}"
        rows = failed_rows(
            info["workload"], platform.name, names or expected_names(), message, engine, status=status
        )
    return cells.write_cells(rows, out)


def expected_names(random_count: int = generate.RANDOM_COUNT) -> list[str]:
    """Names of the 54 + 1 layouts, for a workload whose layouts could not be made."""
    steps = range(heuristics.STEPS + 1)
    names = [f"growing-{i}" for i in steps] + [f"random-{i}" for i in range(random_count)]
    return names + [f"sliding-{x}-{i}" for x in heuristics.HOT_PERCENT for i in steps] + [ALL_1GB]


def failed_rows(
    workload: str, platform: str, layouts: list[str], message: str, engine: str, status: str = FAILED
) -> list[dict]:
    """One row of that status per layout, all with the same reason."""
    head = {"workload": workload, "platform": platform, "repeat": 0, "status": status}
    return [head | {"layout": name, "message": message, "engine": engine} for name in layouts]


def concat_cells(parts: list[Path], out: Path) -> pd.DataFrame:
    """All cells in one table, in contract order."""
    return cells.write_cells(pd.concat([cells.read_cells(part) for part in parts]), out)
