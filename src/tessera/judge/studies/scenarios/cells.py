"""H, M, C and R of a recording under the logs of scenarios, and under layouts of all 4KB and all 2MB pages.

Scenarios and layouts share the trace and its samples. Layouts have no faults: all pages are mapped from the
begin on. A fault takes no time in R, so R differs by translation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.judge.studies.scenarios.logs import PROVENANCE, Decided, one_line
from tessera.layouts.model import write_layout
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.layouts.space import Space
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.status import FAILED, is_ok
from tessera.simulate.cache import CellCache
from tessera.simulate.inputs import LAYOUT, LOG, Kind
from tessera.simulate.plan import Plan
from tessera.simulate.runner import simulate

ENGINE = "timing"
SCENARIO, OF_LAYOUT = "scenario", "layout"  #: values of the column ``pages``
_COUNTS = (
    "runtime_cycles", "runtime_cycles_ci95", "stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95",
    "instructions", "accesses",
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What is simulated, how, and where finished cells are kept."""

    workload: str
    trace: Path
    platform: Platform
    sampling: Plan
    cache: CellCache
    threads: int = 1
    progress: Callable[[str], None] = lambda line: None


def cells_of(request: Request, decided: Sequence[Decided], folder: Path) -> list[dict]:
    """Rows of the table of cells: scenarios in their order, then the layouts (files go to ``folder``)."""
    good = [one for one in decided if not one.problem]
    simulated = _simulated(request, [one.log for one in good], LOG)
    by_name = {one.name: cell for one, cell in zip(good, simulated, strict=True)}
    rows = []
    for one in decided:
        if one.problem:
            rows.append(failed(request, SCENARIO, one.name, one.problem))
        else:
            row = _row(request, SCENARIO, one.name, by_name[one.name])
            rows.append(row | (one.summary() if is_ok(row) else {}))
    files = write_layouts(request.trace, folder)
    found = _simulated(request, files, LAYOUT)
    return rows + [_row(request, OF_LAYOUT, f.stem, cell) for f, cell in zip(files, found, strict=True)]


def write_layouts(trace: Path, folder: Path) -> list[Path]:
    """The layouts of all 4KB and of all 2MB pages of the recording's pools."""
    space = Space.from_trace_info(traces.info(trace))
    files = []
    for name, end in ((ALL_4KB, 0), (ALL_2MB, space.size)):
        files.append(folder / f"{name}.csv")
        write_layout(space.layout(name, 0, end), files[-1])
    return files


def failed(request: Request, pages: str, name: str, message: str) -> dict:
    """A row without numbers."""
    return _head(request, pages, name) | {"status": FAILED, "message": message}


def _simulated(request: Request, files: list[Path], kind: Kind) -> list[dict]:
    """A cell for each file; if the simulator refuses the whole request, failed ones with its reason."""
    if not files:
        return []
    try:
        return simulate(
            request.trace, request.platform, files, workload=request.workload, engine=ENGINE,
            sampling=request.sampling, cache=request.cache, progress=request.progress,
            threads=request.threads, kind=kind,
        )  # fmt: skip
    except TesseraError as error:
        return [{"status": FAILED, "message": one_line(error)} for _ in files]


def _row(request: Request, pages: str, name: str, cell: dict) -> dict:
    if not is_ok(cell):
        return failed(request, pages, name, cell["message"])
    counts = {column: cell[column] for column in _COUNTS}
    return _head(request, pages, name) | {"status": cell["status"], "message": cell["message"]} | counts


def _head(request: Request, pages: str, name: str) -> dict:
    return {
        "workload": request.workload, "platform": request.platform.name, "pages": pages, "name": name,
        "provenance": PROVENANCE,
    }  # fmt: skip
