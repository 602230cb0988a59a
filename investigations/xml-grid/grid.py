"""What the claims about xml-transform obtain at other parameters of its document and region.

The size ``published`` follows one rule (config/workloads/xml-transform.yaml): XMark's ratios, one factor, and
a region that begins with the transformation. The rule leaves three choices that a reader can doubt: how large
the factor is, how many categories a factor brings, and where the region begins. The grid varies these three.
README.md says what was found.
"""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from pathlib import Path

import click
import pandas as pd

from tessera.cli.output import Log, close
from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.files import built, sha256_of
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.outcomes import FAILED, TRACE_NAME, is_ok, ok_rows
from tessera.core.results.schema import MESSAGE, PAIR, PROVENANCE, Table, columns
from tessera.core.results.table_io import frame_of, read_file, write_table
from tessera.core.units import GB, MB, PAGE_4KB
from tessera.lab.studies.sweep import Fitted, fitted
from tessera.machine.container.image_inputs import workloads_tag
from tessera.machine.container.toolchain import workloads_toolchain
from tessera.record import traces, workloads
from tessera.record.debian_programs import xalan
from tessera.record.debian_programs.xalan import BEGINS, XMARK, scaled_counts
from tessera.record.workloads import Size, Workload, prepare
from tessera.record.workloads.execution import execute
from tessera.record.workloads.program_run import ProgramRun
from tessera.simulate.choose_layouts import write_chosen_layouts
from tessera.simulate.runner import CellCache, content_key, simulate_platform
from tessera.simulate.sampling import parse_sampling

FROZEN = Path(__file__).with_name("grid.csv")
WORKLOAD = "xml-transform"
TABLE = Table(
    "xml_grid", lambda tree: Path("grid.csv"), "investigations/xml-grid/grid.py", "column",
    "numbers of the claims about xml-transform over a grid of its parameters",
    (*PAIR, *columns("""
    factor                 number  1         XMark's factor of the document's tables
    categories_per_factor  count   1         categories per factor; XMark has 1000
    begin                  text    -         beginning of the region: tree (the transformation) or output
    published_rule         truth   -         whether categories and region are those of the size `published`
    people                 count   elements  people in the document
    items                  count   elements  items in the document
    bids                   count   elements  bids in the document
    categories             count   elements  categories in the document
    status                 text    -         ok or failed
    """), *MESSAGE, *columns("""
    allocated_bytes        count   bytes     used bytes of the pools when recording ended
    touched_bytes          count   bytes     distinct 4KB pages that the recording touched, in bytes
    accesses               count   accesses  recorded accesses
    layouts                count   layouts   simulated layouts
    slope                  number  1         slope of the line through all layouts (R over C)
    slope_two_point        number  1         slope of the line through the 4KB and 2MB layouts
    best_degree            count   1         degree of the polynomial in C with the smallest largest error
    max_error_degree_1     number  1         largest error of the line, as a fraction of R
    max_error_degree_2     number  1         the same of the quadratic
    max_error_degree_3     number  1         the same of the cubic
    shortfall_percent      number  percent   excess of the 4KB run over R = C + R2M - C2M, of the latter
    gain_2mb_percent       number  percent   runtime that 2MB pages save, of the 4KB run
    gain_1gb_percent       number  percent   runtime that 1GB pages save, of the 4KB run
    """), *PROVENANCE), needs="slope",
)  # fmt: skip


@dataclass(frozen=True)
class GridPoint:
    """One document and the beginning of its region.

    Attributes:
        factor: XMark's factor, of all tables.
        categories_per_factor: XMark has 1000.
        begin: ``tree`` or ``output``, as in :data:`.xalan.BEGINS`.
    """

    factor: Decimal
    categories_per_factor: int
    begin: str

    @property
    def name(self) -> str:
        """For files and progress."""
        return f"factor-{self.factor}-categories-{self.categories_per_factor}-{self.begin}"

    @property
    def tables(self) -> dict[str, int]:
        """Sizes of the document's tables; at least one category."""
        categories = max(1, round(self.categories_per_factor * float(self.factor)))
        return scaled_counts(self.factor) | {"categories": categories}

    @property
    def published(self) -> bool:
        """Whether the point follows the ratios of XMark and begins with the transformation."""
        return self.categories_per_factor == XMARK["categories"] and self.begin == "tree"

    def workload(self, pool_bytes: int) -> Workload:
        """xml-transform with this point as its only size, labelled by :attr:`name`."""
        args = [word for table, count in self.tables.items() for word in (f"--{table}", str(count))]
        size = Size(self.name, (*args, "--begin", self.begin), pool_bytes, pool_bytes, pool_bytes)
        return replace(workloads.load_workload(WORKLOAD), sizes={self.name: size})


@dataclass(frozen=True)
class Grid:
    """Values along the three axes, and how much of each point is recorded and simulated."""

    factors: tuple[str, ...]
    categories: tuple[int, ...]
    begins: tuple[str, ...]
    pool_bytes: int
    max_accesses: int
    sampling: str

    def points(self) -> list[GridPoint]:
        """All combinations; the regions of one document follow each other."""
        axes = product(self.factors, self.categories, self.begins)
        return [GridPoint(Decimal(factor), categories, begin) for factor, categories, begin in axes]


#: ``published``: a quarter, half and all of the published footprint; a quarter, all and four times XMark's
#: categories. ``half`` stops at half of the footprint. ``tiny`` tries the command.
GRIDS = {
    "tiny": Grid(("0.02", "0.04"), (250, 1000), ("tree", "output"), 128 * MB, 400_000,
                 "units=4,warmup_accesses=20000,timed_instructions=50000"),
    "half": Grid(("1", "2", "4"), (250, 1000, 4000), tuple(BEGINS), GB, 100_000_000,
                 "units=20,warmup_accesses=2500000,timed_instructions=1000000"),
    "published": Grid(("2", "4", "8"), (250, 1000, 4000), tuple(BEGINS), GB, 100_000_000,
                      "units=20,warmup_accesses=2500000,timed_instructions=1000000"),
}  # fmt: skip


# What the claims obtain at each point.
#
# For each point xalan transforms the document natively, which checks its report, and is recorded from the
# point's beginning until enough accesses are recorded. On each platform all layouts are simulated, the
# models are fitted, and the numbers of the claims are computed (:func:`numbers`). Traces and cells are kept,
# so a killed study continues where it stopped; a point that failed is a row with the reason, and is tried
# again.

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
    """Write :data:`TABLE` to ``out`` after each point; rows by point, then by platform.

    Raises:
        TesseraError: a platform is unknown.
    """
    for name in study.platforms:
        platforms.load_platform(name)
    rows: list[dict] = []
    points = study.grid.points()
    study.progress(f"{len(points)} points on {', '.join(study.platforms)}")
    for done, point in enumerate(points, start=1):
        began = time.monotonic()
        rows += _rows(study, point)
        write_table(TABLE, frame_of(TABLE, rows), out)
        study.progress(f"{done} of {len(points)}: {point.name}, {time.monotonic() - began:.0f} s")
    return frame_of(TABLE, rows)


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
    return {"status": FAILED, "message": error.sentence}


def _measured(trace: Path) -> dict:
    found = traces.trace_info(trace)
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


def _record(run: ProgramRun, size: Size, max_accesses: int, trace: Path) -> None:
    traces.record_program(
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
    source = Path(xalan.__file__ or "").read_bytes()
    libraries = [built("tracer", "libtessera-trace.so"), built("mosalloc", "libmosalloc.so")]
    words = [*size.args, str(grid.max_accesses), str(grid.pool_bytes), workloads_tag()]
    return content_key(source, *(sha256_of(path) for path in libraries), *words)


def _judged(study: Study, trace: Path, platform_name: str) -> dict:
    """Layouts, cells, fits and numbers on one platform."""
    platform = platforms.load_platform(platform_name)
    folder = trace.parent / "layouts" / platform.name
    folder.mkdir(parents=True, exist_ok=True)
    info = traces.trace_info(trace)
    made = write_chosen_layouts(
        trace, info, platform, folder, seed=study.seed, random_count=study.random_count
    )
    cells = simulate_platform(
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


# What README.md says of the frozen table.


def findings(path: Path = FROZEN) -> list[str]:
    """Lines of README.md: one for each factor and region, over the numbers of categories; and two sums."""
    table = ok_rows(read_file(TABLE, path)).sort_values("begin", ascending=False, kind="stable")
    lines = []
    for (begin, factor), part in table.groupby(["begin", "factor"], sort=False):
        cells = [
            f"{factor:.0f}" if factor >= 1 else f"{factor:g}",
            begin,
            f"{_range(part['touched_bytes'] / 1e6, 0)} MB",
            _range(part["slope"], 2),
            _range(part["slope_two_point"], 2),
            ", ".join(f"{degree:.0f}" for degree in part["best_degree"]),
            f"{_range(part['shortfall_percent'], 2)}%",
            f"{_range(part['gain_1gb_percent'], 1)}%",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    errors = table[[f"max_error_degree_{degree}" for degree in (1, 2, 3)]]
    apart = math.ceil(1e4 * (errors.max(axis=1) - errors.min(axis=1)).max()) / 100
    low, high = table["shortfall_percent"].min(), table["shortfall_percent"].max()
    return [
        *lines,
        f"- The slope is above 1 at {(table['slope'] > 1).sum()} of {len(table)} points.",
        f"- The shortfall is {low:.1f}% to {high:.1f}% at all points",
        f"- The cubic has the smallest largest error at {(table['best_degree'] == 3).sum()} of {len(table)} "
        f"points, but the errors of the three degrees differ by at most {apart:.2f}%",
    ]


def _range(values: pd.Series, digits: int) -> str:
    return " to ".join(dict.fromkeys(f"{value:.{digits}f}" for value in (values.min(), values.max())))


@click.command()
@click.option("--size", default="published", show_default=True, type=click.Choice(list(GRIDS)), help="Grid.")
@click.option("--platform", "names", multiple=True, default=("broadwell-sim",), show_default=True,
              help="Platform name or YAML file; may be repeated.")  # fmt: skip
@click.option("--cache", type=click.Path(path_type=Path),
              help="Folder of finished work.  [default: .xml-grid in the folder of --out]")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), required=True, help="CSV file to write.")
def command(size, names, cache, out) -> None:
    """Vary the parameters of xml-transform; write the numbers of the claims about it.

    The folder of --cache keeps finished points, so the same command continues after an interruption.
    """
    folder = cache or out.absolute().parent / ".xml-grid"
    try:
        table = xml_grid(Study(GRIDS[size], names, folder.absolute(), progress=Log("xml-grid")), out)
    except TesseraError as error:
        sys.exit(str(error))
    if len(ok_rows(table)):
        click.echo("\n".join(findings(out)))
    close(table, out)


if __name__ == "__main__":
    command()
