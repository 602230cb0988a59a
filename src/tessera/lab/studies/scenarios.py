"""The study of scenarios: one program under several states of a machine's memory (docs/os.md)."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB, write_layout
from tessera.core.platforms import Platform
from tessera.core.results.os_tables import OF_LOG, SCENARIO_CELLS
from tessera.core.results.outcomes import FAILED, is_ok
from tessera.core.results.schema import COUNT
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.scenarios import Scenario, load
from tessera.core.units import PAGE_2MB, PAGE_4KB
from tessera.lab.studies.failures import one_line
from tessera.lab.studies.windows import GivenTrace
from tessera.record import traces
from tessera.simulate import operating_system
from tessera.simulate.inputs import LAYOUT, LOG, Kind
from tessera.simulate.runner import CellCache, simulate
from tessera.simulate.sampling import FULL, Plan

# What the imitation of Linux decides for a trace under each scenario: logs, and their tables.
#
# A scenario that ends early (for example ``os/out-of-memory``) has a reason in the place of tables; the
# other scenarios continue.


@dataclass(frozen=True)
class Decided:
    """One scenario: its log and tables (by :data:`OF_LOG`'s names), or why there is none."""

    name: str
    log: Path
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    problem: str = ""

    def summary(self) -> dict[str, int]:
        """Columns of a cell: faults, pages that went to swap, and the largest memory by page size."""
        sizes, counters = self.tables["sizes"], self.tables["counters"].set_index("counter")["value"]
        large = sizes["pages_2mb"] * PAGE_2MB
        return {
            "faults": int(self.tables["kinds"]["faults"].sum()),
            "major_faults": int(counters.get("pgmajfault", 0)),
            "swapped_out_pages": int(counters.get("pswpout", 0)),
            "most_mapped_bytes": int((sizes["pages_4kb"] * PAGE_4KB + large).max()),
            "most_2mb_bytes": int(large.max()),
            "areas": len(self.tables["areas"]),
        }


def load_scenarios(names: Sequence[str]) -> list[Scenario]:
    """The scenarios of these names or YAML files.

    Raises:
        TesseraError: an unknown scenario, or two with the same name.
    """
    asked = [load(name) for name in names]
    found = [one.name for one in asked]
    if twice := sorted({name for name in found if found.count(name) > 1}):
        raise TesseraError(f"scenario {twice[0]}", "it is asked for twice", "name each scenario once")
    return asked


def decide(
    trace: Path, scenarios: Sequence[Scenario], folder: Path, progress: Callable[[str], None]
) -> list[Decided]:
    """Run ``trace`` under each scenario; logs go to ``folder``, each named like its scenario."""
    found = []
    for number, scenario in enumerate(scenarios, 1):
        progress(f"{scenario.name} ({number} of {len(scenarios)})")
        found.append(_decided(trace, scenario, folder / f"{scenario.name}.oslog"))
    return found


def _decided(trace: Path, scenario: Scenario, log: Path) -> Decided:
    try:
        operating_system.run_scenario(trace, scenario, log)
        shown = {name: _shown(log, name) for name in OF_LOG}
    except TesseraError as error:
        return Decided(scenario.name, log, problem=one_line(error))
    return Decided(scenario.name, log, shown)


def _shown(log: Path, name: str) -> pd.DataFrame:
    """A table of ``tessera os show``, its counts as whole numbers."""
    counts = OF_LOG[name].of_kind(COUNT)
    rows = csv.DictReader(operating_system.log_lines(log, name))
    typed = [row | {key: int(row[key]) for key in counts} for row in rows]
    return pd.DataFrame(typed, columns=rows.fieldnames)


def tables_of(decided: Sequence[Decided], workload: str) -> dict[str, list[dict]]:
    """Rows of each of :data:`OF_LOG` for all scenarios that have tables."""
    rows: dict[str, list[dict]] = {name: [] for name in OF_LOG}
    for one in decided:
        head = {"workload": workload, "scenario": one.name, "provenance": "simulated"}
        for name, table in one.tables.items():
            rows[name] += [head | row for row in table.to_dict("records")]
    return rows


# H, M, C and R of a recording under the logs of scenarios, and under layouts of all 4KB and all 2MB pages.
#
# Scenarios and layouts share the trace and its samples. Layouts have no faults: all pages are mapped from
# the begin on. A fault takes no time in R, so R differs by translation alone.

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
        "provenance": "simulated",
    }  # fmt: skip


# What the workflow's rule and the command call: the tables of the study, failures as rows.


@dataclass(frozen=True)
class Job(GivenTrace):
    """Inputs of the study.

    Attributes:
        trace: a trace with events, or the info.json of such a recording.
        out: folder of the tables.
    """

    trace: Path
    platform_name: str
    scenarios: Sequence[str]
    cache: Path
    out: Path
    sampling: Plan = FULL
    threads: int = 1
    progress: Callable[[str], None] = lambda line: None


def scenarios_study(job: Job) -> pd.DataFrame:
    """Write the tables of :data:`OF_LOG` and :data:`SCENARIO_CELLS` into ``job.out``; returns the cells.

    The same inputs give the same tables. Finished simulations are in the cache, so a killed study goes on.

    Raises:
        TesseraError: an unknown platform or scenario, or ``job.trace`` is no trace and no recording.
    """
    if job.info is None:
        traces.info(job.trace)
    platform = platforms.load(job.platform_name)
    asked = load_scenarios(job.scenarios)
    rows: dict[str, list[dict]] = {name: [] for name in OF_LOG}
    try:
        found, rows = _study(job, platform, asked)
    except TesseraError as error:  # of the recording: no scenario has a number
        request = _request(job, platform, job.trace)
        found = [failed(request, SCENARIO, one.name, one_line(error)) for one in asked]
    for name, table in OF_LOG.items():
        write_table(table, frame_of(table, rows[name]), job.out / table.file)
    return write_table(SCENARIO_CELLS, frame_of(SCENARIO_CELLS, found), job.out / SCENARIO_CELLS.file)


def _study(
    job: Job, platform: Platform, asked: Sequence[Scenario]
) -> tuple[list[dict], dict[str, list[dict]]]:
    trace = job.recording
    with tempfile.TemporaryDirectory(prefix="tessera-scenarios-") as name:
        folder = Path(name)
        decided = decide(trace, asked, folder, job.progress)
        found = cells_of(_request(job, platform, trace), decided, folder)
    return found, tables_of(decided, job.workload)


def _request(job: Job, platform: Platform, trace: Path) -> Request:
    return Request(
        job.workload, trace, platform, job.sampling, CellCache(job.cache), job.threads, job.progress
    )
