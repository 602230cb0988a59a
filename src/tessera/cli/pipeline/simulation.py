"""Steps of the workflow: make and select layouts, simulate cells, and join all cells in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import copy_file, write_text
from tessera.core.layouts import generation
from tessera.core.layouts.layout import ALL_1GB, canonical_name
from tessera.core.platforms import Platform
from tessera.core.results.cell_tables import CELLS, CELLS_OF, MANIFEST, PROFILE
from tessera.core.results.outcomes import FAILED, SKIPPED, is_ok
from tessera.core.results.table_io import empty_table, frame_of, read_cells, read_file, write_table
from tessera.core.results.tree import LAYOUTS_NOTE
from tessera.core.results.tree import PROFILE as PROFILE_FILE
from tessera.lab.study import Bounds, Jobs, Names, Paths, Recording, Run, Seed, study
from tessera.record import traces
from tessera.simulate import choose_layouts, runner
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import Plan


def _changed(platform: Platform, changes: Names) -> Platform:
    return platforms.changed_platform(platform, platforms.parse_changes(changes, "changes="))


@study(MANIFEST)
def layouts(
    run: Run,
    trace: Recording,
    platform: Platform,
    seed: Seed,
    random_count: Annotated[int, Bounds(0)],
    windows: Literal["touched", "allocated"] = "touched",
    changes: Names = (),
) -> pd.DataFrame:
    """Generate the layouts of a workload for a platform; without a recording the tables are empty.

    The layouts and the profile of misses go to the folder of manifest.csv.

    Example, after ./run smoke:
      ./run tessera dev step layouts trace=results/smoke/traces/gups/info.json seed=1 random_count=9 \\
        platform=haswell-sim --out /tmp/gups/layouts/manifest.csv

    Args:
        trace: info.json of a recording, or a trace (.tst).
        platform: name or YAML file.
        seed: of the random layouts.
        random_count: random layouts.
        windows: 2MB pages that windows start and end on.
        changes: KEY=VALUE of the platform to use instead of the file's.
    """
    for stale in run.folder.glob("*.csv"):
        stale.unlink()
    write_table(PROFILE, empty_table(PROFILE), run.folder / PROFILE_FILE)
    info = traces.trace_info(trace.path) if trace.info is None else trace.info
    if trace.info is not None and not is_ok(info):  # the profile stays empty, too
        return empty_table(MANIFEST)
    made = choose_layouts.write_chosen_layouts(
        trace.trace, info, _changed(platform, changes), run.folder,
        seed=seed, random_count=random_count, windows=windows,
    )  # fmt: skip
    write_text(run.folder / LAYOUTS_NOTE, f"{made.reason}\n" if made.reason else "")
    return made.manifest


@study(MANIFEST)
def select(run: Run, manifest: Path, names: Names) -> pd.DataFrame:
    """Copy some layouts of a folder to another folder, with their rows of the manifest.

    Example, after ./run smoke:
      ./run tessera dev step select names=growing-0,growing-8 --out /tmp/two/manifest.csv \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv

    Args:
        manifest: manifest.csv of a folder of layouts.
        names: layouts to copy.
    """
    table = read_file(MANIFEST, manifest)
    wanted = [canonical_name(name) for name in names]
    if len(table) and (missing := [name for name in wanted if name not in set(table.layout)]):
        raise TesseraError(
            f"host layouts {', '.join(missing)}",
            "there are no layouts with these names",
            f"use names of {manifest}",
        )
    run.folder.mkdir(parents=True, exist_ok=True)
    for stale in run.folder.glob("*.csv"):
        stale.unlink()
    for name in wanted if len(table) else []:
        copy_file(manifest.with_name(f"{name}.csv"), run.folder / f"{name}.csv")
    return table[table.layout.isin(wanted)]


@study(CELLS_OF)
def cells(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    engine: Literal["partial", "timing", "reference"],
    sampling: Plan,
    cache: CellCache,
    changes: Names = (),
    jobs: Jobs = 1,
) -> pd.DataFrame:
    """Simulate all layouts of a manifest on one platform; a failure becomes ``failed`` rows with the reason.

    If the recording was skipped (the user has not supplied its inputs), all rows are ``skipped``.

    Example, after ./run smoke:
      ./run tessera dev step cells trace=results/smoke/traces/gups/info.json engine=timing \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv platform=sandybridge-sim \\
        sampling=units=4,warmup_accesses=100000,timed_instructions=200000 --out /tmp/cells.csv

    Args:
        trace: info.json of a recording, or a trace (.tst).
        manifest: manifest.csv of its layouts.
        platform: name or YAML file.
        engine: of the simulator (tessera simulate --help).
        sampling: plan (tessera simulate --help).
        cache: folder of finished cells; default: .cache beside the table.
        changes: KEY=VALUE of the platform to use instead of the file's; part of a cell's key in the cache.
        jobs: threads of the simulator; they change no result.
    """
    platform = _changed(platform, changes)
    names = list(read_file(MANIFEST, manifest).layout)
    status = SKIPPED if trace.info and trace.info["status"] == SKIPPED else FAILED
    try:
        rows = runner.simulate_platform(
            trace.trace, platform, [manifest.with_name(f"{name}.csv") for name in names],
            workload=trace.workload, engine=engine, sampling=sampling, cache=cache, progress=run.say,
            threads=jobs,
        )  # fmt: skip
    except TesseraError as error:
        found = names or expected_names()
        rows = failed_rows(trace.workload, platform.name, found, error.sentence, engine, status=status)
    return frame_of(CELLS_OF, rows)


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


@study(CELLS)
def concat(run: Run, cells: Paths) -> pd.DataFrame:
    """Join all cells in one table, in the order of docs/contracts.md.

    Example, after ./run smoke:
      ./run tessera dev step concat cells=results/smoke/cells/gups/sandybridge-sim.csv --out /tmp/cells.csv

    Args:
        cells: cells files.
    """
    return frame_of(CELLS, pd.concat([read_cells(part) for part in cells]))
