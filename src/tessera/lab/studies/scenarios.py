"""The study of scenarios: one program under several states of a machine's memory (docs/explain/os.md)."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.generation import Space
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB, write_layout
from tessera.core.platforms import Platform
from tessera.core.results.os_tables import OF_LOG, SCENARIO_CELLS, SCENARIO_TABLES
from tessera.core.results.outcomes import FAILED, is_ok, ok_rows
from tessera.core.results.schema import COUNT
from tessera.core.results.table_io import frame_of
from tessera.core.scenarios import Scenario, load_scenario
from tessera.core.tables import print_table
from tessera.core.units import MB, PAGE_2MB, PAGE_4KB
from tessera.lab.study import Inputs, Jobs, Names, Recording, Run, study
from tessera.record import traces
from tessera.simulate import operating_system
from tessera.simulate.inputs import LAYOUT, LOG, PageSource
from tessera.simulate.runner import CellCache, simulate_platform
from tessera.simulate.sampling import Plan, parse_sampling

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
    asked = [load_scenario(name) for name in names]
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
        return Decided(scenario.name, log, problem=error.one_line)
    return Decided(scenario.name, log, shown)


def _shown(log: Path, name: str) -> pd.DataFrame:
    """A table of ``tessera lab os show``, its counts as whole numbers."""
    counts = OF_LOG[name].of_kind(COUNT)
    rows = csv.DictReader(operating_system.log_lines(log, name))
    typed = [row | {key: int(row[key]) for key in counts} for row in rows]
    return pd.DataFrame(typed, columns=rows.fieldnames)


def log_tables(decided: Sequence[Decided], workload: str) -> dict[str, list[dict]]:
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

PLAN = parse_sampling("units=10,warmup_accesses=300000,timed_instructions=300000")
SCENARIO, OF_LAYOUT = "scenario", "layout"  #: values of the column ``pages``
_COUNTS = (
    "runtime_cycles", "runtime_cycles_ci95", "stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95",
    "instructions", "accesses",
)  # fmt: skip


def cells_of(inputs: Inputs, decided: Sequence[Decided], folder: Path) -> list[dict]:
    """Rows of the table of cells: scenarios in their order, then the layouts, whose files go to ``folder``.

    ``inputs.files`` are not used.
    """
    good = [one for one in decided if not one.problem]
    simulated = _simulated(replace(inputs, files=[one.log for one in good]), LOG)
    by_name = {one.name: cell for one, cell in zip(good, simulated, strict=True)}
    rows = []
    for one in decided:
        if one.problem:
            rows.append(failed(inputs.pair, one.name, one.problem))
        else:
            row = _row(inputs, SCENARIO, one.name, by_name[one.name])
            rows.append(row | (one.summary() if is_ok(row) else {}))
    files = write_uniform_layouts(inputs.trace, folder)
    found = _simulated(replace(inputs, files=files), LAYOUT)
    return rows + [_row(inputs, OF_LAYOUT, f.stem, cell) for f, cell in zip(files, found, strict=True)]


def write_uniform_layouts(trace: Path, folder: Path) -> list[Path]:
    """The layouts of all 4KB and of all 2MB pages of the recording's pools."""
    space = Space.from_trace_info(traces.trace_info(trace))
    files = []
    for name, end in ((ALL_4KB, 0), (ALL_2MB, space.size)):
        files.append(folder / f"{name}.csv")
        write_layout(space.layout(name, 0, end), files[-1])
    return files


def failed(pair: dict[str, str], name: str, message: str, pages: str = SCENARIO) -> dict:
    """A row without numbers."""
    return _head(pair, pages, name) | {"status": FAILED, "message": message}


def _simulated(inputs: Inputs, kind: PageSource) -> list[dict]:
    """A cell for each file; if the simulator refuses the whole request, failed ones with its reason."""
    if not inputs.files:
        return []
    try:
        return simulate_platform(
            inputs.trace, inputs.platform, list(inputs.files), kind=kind, **inputs.options
        )
    except TesseraError as error:
        return [{"status": FAILED, "message": error.one_line} for _ in inputs.files]


def _row(inputs: Inputs, pages: str, name: str, cell: dict) -> dict:
    if not is_ok(cell):
        return failed(inputs.pair, name, cell["message"], pages)
    counts = {column: cell[column] for column in _COUNTS}
    return _head(inputs.pair, pages, name) | {"status": cell["status"], "message": cell["message"]} | counts


def _head(pair: dict[str, str], pages: str, name: str) -> dict:
    return pair | {"pages": pages, "name": name, "provenance": "simulated"}


# The study: what scenarios decide for a recording, then cells behind it.


def show_scenarios(cells: pd.DataFrame, *_: pd.DataFrame) -> None:
    """Print what each scenario decided, and what followed."""

    def count(value: float, unit: int = 1) -> str:
        return "" if pd.isna(value) else f"{value / unit:,.0f}"

    rows = [
        (
            row.name, count(row.faults), count(row.major_faults), count(row.most_2mb_bytes, MB),
            count(row.stlb_misses), count(row.walk_cycles), count(row.runtime_cycles),
        )
        for row in ok_rows(cells).itertuples()
    ]  # fmt: skip
    print_table(["pages by", "faults", "major", "MB in 2MB pages", "M", "C", "R"], rows, right=range(1, 7))


@study(*SCENARIO_TABLES, show=show_scenarios)
def scenarios(
    run: Run,
    trace: Recording,
    platform: Platform,
    cache: CellCache,
    scenarios: Names = ("thp-always", "thp-no-zero-page", "thp-never", "thp-fragmented"),
    sampling: Plan = PLAN,
    jobs: Jobs = 1,
) -> tuple[pd.DataFrame, ...]:
    """Show what an imitation of Linux 6.12 does to a program in several states of a machine's memory.

    Writes cells.csv (H, M, C, R, faults, beside layouts of all 4KB and all 2MB pages), sizes.csv (page sizes
    over time), faults.csv, chunks.csv, areas.csv and counters.csv. A scenario that ends early is a row with
    the reason, and so is each one if the recording failed. docs/explain/os.md describes scenarios.

    Example (after: tessera dev build imitation simulator tracer):
      ./run tessera lab run scenarios trace=tests/traces/examples/phases.tst platform=haswell-sim \\
        sampling=full scenarios=thp-always,thp-never --out /tmp/scenarios-study

    Args:
        trace: trace with events (.tst), or info.json that the study `recording` wrote.
        platform: name or YAML file.
        scenarios: names or YAML files (tessera lab os list).
        sampling: plan, or full (tessera simulate --help).
        jobs: threads of the simulator.
        cache: folder of finished simulations; default: .cache beside the tables.

    Raises:
        TesseraError: a scenario is unknown, or asked for twice.
    """
    asked = load_scenarios(scenarios)
    pair = {"workload": trace.workload, "platform": platform.name}
    rows: dict[str, list[dict]] = {name: [] for name in OF_LOG}
    try:
        inputs = Inputs(trace.workload, trace.trace, platform, [], cache, sampling, jobs, run.say)
        with tempfile.TemporaryDirectory(prefix="tessera-scenarios-") as name:
            decided = decide(inputs.trace, asked, Path(name), run.say)
            cells = cells_of(inputs, decided, Path(name))
        rows = log_tables(decided, trace.workload)
    except TesseraError as error:  # of the recording: no scenario has a number
        cells = [failed(pair, one.name, error.one_line) for one in asked]
    return frame_of(SCENARIO_CELLS, cells), *(frame_of(table, rows[name]) for name, table in OF_LOG.items())
