"""The grid: what the claims about xml-transform obtain at other parameters of its document and region.

For each point xalan transforms the document natively, which checks its report, and is recorded from the
point's beginning until enough accesses are recorded. On each platform all layouts are simulated, the models
are fitted, and the numbers of the claims are computed (:func:`numbers`). Traces and cells are kept, so a
killed study continues where it stopped; a point that failed is a row with the reason, and is tried again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of
from tessera.core.paths import built
from tessera.core.units import PAGE_4KB
from tessera.judge.studies.conclusions import Fitted, fitted
from tessera.judge.studies.xml_points import WORKLOAD, Grid, GridPoint
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.machine.container.image_inputs import workloads_tag
from tessera.machine.container.toolchain import workloads_toolchain
from tessera.record import traces
from tessera.record.workloads import Size, prepare
from tessera.record.workloads.debian import auction, auction_report, xalan
from tessera.record.workloads.execute import execute
from tessera.record.workloads.run import Run
from tessera.results.recordings import TRACE_NAME
from tessera.results.schema.studies import XML_GRID
from tessera.results.status import is_ok
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache, content_key
from tessera.simulate.choose_layouts import make_layouts
from tessera.simulate.plan import parse_sampling
from tessera.simulate.runner import simulate

#: OPERA section 2.3.1: R = C + R2M - C2M. The report attributes it to Pham; here it is called Alam.
SHORTFALL_MODEL = "alam"
DEGREES = ("poly1", "poly2", "poly3")


@dataclass(frozen=True)
class Study:
    """What is simulated and where finished work is kept."""

    grid: Grid
    platforms: Sequence[str]
    folder: Path
    seed: int = 1
    random_count: int = 9
    progress: Callable[[str], None] = lambda line: None


def xml_grid(study: Study, out: Path) -> pd.DataFrame:
    """Write :data:`XML_GRID` to ``out`` after each point; rows by point, then by platform.

    Raises:
        TesseraError: a platform is unknown.
    """
    for name in study.platforms:
        platforms.load(name)
    rows: list[dict] = []
    points = study.grid.points()
    study.progress(f"{len(points)} points on {', '.join(study.platforms)}")
    for done, point in enumerate(points, start=1):
        began = time.monotonic()
        rows += _rows(study, point)
        write(XML_GRID, frame_of(XML_GRID, rows), out)
        study.progress(f"{done} of {len(points)}: {point.name}, {time.monotonic() - began:.0f} s")
    return frame_of(XML_GRID, rows)


def numbers(fit: Fitted) -> dict[str, float | int]:
    """What the claims about xml-transform obtain from one platform's cells; gains in percent."""
    runtime = dict(zip(fit.samples.layouts, fit.samples.R, strict=True))
    predicted = fit.predictions[fit.predictions["model"] == SHORTFALL_MODEL].set_index("layout")
    at_4kb = float(predicted["predicted_runtime_cycles"][ALL_4KB])
    errors = {degree: fit.errors.get(name, float("nan")) for degree, name in enumerate(DEGREES, start=1)}
    return {
        "slope": fit.shape.slope,
        "slope_two_point": fit.shape.slope_two_point,
        "best_degree": min(errors, key=lambda degree: errors[degree]),
        **{f"max_error_degree_{degree}": error for degree, error in errors.items()},
        "shortfall_percent": 100 * (runtime[ALL_4KB] / at_4kb - 1),
        "gain_2mb_percent": 100 * (1 - runtime[ALL_2MB] / runtime[ALL_4KB]),
    }


def _rows(study: Study, point: GridPoint) -> Iterator[dict]:
    """A row for each platform; if the recording fails, all of them fail."""
    heads = [_head(point, name) for name in study.platforms]
    try:
        trace = _recorded(study, point)
        known = _measured(trace)
    except TesseraError as error:
        yield from (head | _failed(error) for head in heads)
        return
    for head in heads:
        try:
            yield head | known | _judged(study, trace, head["platform"]) | {"status": "ok", "message": ""}
        except TesseraError as error:
            yield head | known | _failed(error)


def _head(point: GridPoint, platform: str) -> dict:
    return {
        "workload": WORKLOAD, "platform": platform, "factor": float(point.factor),
        "categories_per_factor": point.categories_per_factor, "begin": point.begin,
        "published_rule": point.published, **point.tables, "provenance": "simulated",
    }  # fmt: skip


def _failed(error: TesseraError) -> dict:
    return {"status": "failed", "message": f"{error.asked}: {error.found}; {error.remedy}"}


def _measured(trace: Path) -> dict:
    found = traces.info(trace)
    return {
        "allocated_bytes": sum(pool["used_bytes"] for pool in found["pools"]),
        "touched_bytes": found["distinct_4kb_pages"] * PAGE_4KB,
        "accesses": found["accesses"],
    }


def _recorded(study: Study, point: GridPoint) -> Path:
    """The trace of a point, recorded unless it is there."""
    workload = point.workload(study.grid.pool_bytes)
    size = workload.size(point.name)
    folder = study.folder / f"{point.name}-{_key(study.grid, size)[:12]}"
    trace = folder / TRACE_NAME
    if trace.exists():
        return trace
    run_folder = folder / "run"
    run = prepare(workload, point.name, run_folder)
    study.progress(f"{point.name}: checks the report natively, then records")
    execute(run, run_folder)
    _record(run, size, study.grid.max_accesses, trace)
    shutil.rmtree(run_folder)
    return trace


def _record(run: Run, size: Size, max_accesses: int, trace: Path) -> None:
    traces.record(
        run.argv,
        trace,
        heap_pool=size.heap_pool,
        anon_pool=size.anon_pool,
        max_accesses=max_accesses,
        roi=run.roi,
        stop_when_recorded=True,
        paths=run.paths,
        where=workloads_toolchain(),
        folder=run.folder,
        fixed_names=True,
        fixed_clocks=True,
    )


def _key(grid: Grid, size: Size) -> str:
    """Hash of all that decides a trace: document, limit, program, tracer."""
    sources = [Path(module.__file__ or "").read_bytes() for module in (auction, auction_report, xalan)]
    libraries = [built("tracer", "libtessera-trace.so"), built("mosalloc", "libmosalloc.so")]
    words = [*size.args, str(grid.max_accesses), str(grid.pool_bytes), workloads_tag()]
    return content_key(*sources, *(sha256_of(path) for path in libraries), *words)


def _judged(study: Study, trace: Path, platform_name: str) -> dict:
    """Layouts, cells, fits and numbers on one platform."""
    platform = platforms.load(platform_name)
    folder = trace.parent / "layouts" / platform.name
    folder.mkdir(parents=True, exist_ok=True)
    info = traces.info(trace)
    made = make_layouts(trace, info, platform, folder, seed=study.seed, random_count=study.random_count)
    cells = simulate(
        trace,
        platform,
        [folder / f"{name}.csv" for name in made.manifest["layout"]],
        workload=WORKLOAD,
        engine="timing",
        sampling=parse_sampling(study.grid.sampling),
        cache=CellCache(study.folder / "cells"),
    )
    if bad := [row for row in cells if not is_ok(row)]:
        raise TesseraError(f"layout {bad[0]['layout']}", bad[0]["message"], "correct the layout")
    runtime = {row["layout"]: row["runtime_cycles"] for row in cells}
    gain_1gb = 100 * (1 - runtime[ALL_1GB] / runtime[ALL_4KB])
    return {"layouts": len(cells)} | numbers(fitted(pd.DataFrame(cells))) | {"gain_1gb_percent": gain_1gb}
