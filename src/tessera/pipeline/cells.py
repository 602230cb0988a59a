"""Steps of the pipeline: simulate cells (a failure becomes a row), and join all cells in one table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.layouts import generate, heuristics
from tessera.layouts.names import ALL_1GB
from tessera.platforms.change import changed
from tessera.results import cells
from tessera.results.read import read_file
from tessera.results.recordings import recorded
from tessera.results.schema import cells as schema
from tessera.results.status import FAILED, SKIPPED, is_ok
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import parse_sampling
from tessera.simulate.runner import Progress
from tessera.simulate.runner import simulate as run_simulator


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
    platform = changed(platforms.load(platform_path), changes or {})
    names = list(read_file(schema.MANIFEST, manifest).layout)
    status = SKIPPED if info["status"] == SKIPPED else FAILED
    try:
        if not is_ok(info):
            raise TesseraError(
                f"trace of {info['workload']}", f"the recording has status {status}", info["message"]
            )
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
    """Names of the 54 + 1 layouts, for a workload without generated layouts."""
    steps = range(heuristics.STEPS + 1)
    names = [f"growing-{i}" for i in steps] + [f"random-{i}" for i in range(random_count)]
    return names + [f"sliding-{x}-{i}" for x in heuristics.HOT_PERCENT for i in steps] + [ALL_1GB]


def failed_rows(
    workload: str, platform: str, layouts: list[str], message: str, engine: str, status: str = FAILED
) -> list[dict]:
    """One row with this status and message per layout."""
    head = {"workload": workload, "platform": platform, "repeat": 0, "status": status}
    return [head | {"layout": name, "message": message, "engine": engine} for name in layouts]


def concat_cells(parts: list[Path], out: Path) -> pd.DataFrame:
    """Join all cells in one table, in the order of docs/contracts.md."""
    return cells.write_cells(pd.concat([cells.read_cells(part) for part in parts]), out)
