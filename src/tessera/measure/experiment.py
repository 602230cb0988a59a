"""The whole experiment: reserve pages, run rounds, write cells, comparison and runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.table_columns import warn_of_spelling
from tessera.layouts.model import canonical_name, name_notes, read_layout
from tessera.layouts.names import ALL_4KB
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure import identity, table
from tessera.measure.counted.here import real
from tessera.measure.counted.rows import ready
from tessera.measure.counted.turns import Turns, clock
from tessera.measure.journal import ClockJournal
from tessera.measure.log import LoggedRun, RunLog
from tessera.measure.rounds import Rule, run_rounds
from tessera.measure.start import pages_needed
from tessera.record import workloads
from tessera.results.cells import write_cells
from tessera.results.read import empty
from tessera.results.schema.machine import COMPARISON, RUNS
from tessera.results.status import is_ok
from tessera.results.write import write

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """What to run: a workload's size under layout files; results go beside ``out`` (cells.csv)."""

    workload: str
    size: str
    layouts: tuple[Path, ...]
    out: Path
    simulated: Path | None = None
    rule: Rule = field(default_factory=Rule)
    seed: int = 1


def run_host(request: Experiment, progress: Progress = lambda text: None) -> pd.DataFrame:
    """Write and return the hybrid cells.

    Contract:

    - ``out`` has a row for each layout. Missing huge pages make ``skipped`` rows, failing runs ``failed``
      ones with the reason; neither raises. Only a later call tries a failing layout again.
    - ``comparison.csv`` beside it has differences to the runs under 4KB pages of the same rounds.
    - ``runs.csv`` beside it has each run when it ends. A later call uses those that succeeded with the same
      program, layout, processor and kernel, and begins a new round.
    - Rounds end as :class:`tessera.measure.rounds.Rule` says; their order depends on the seed only.

    Raises:
        TesseraError: the request is wrong (names, files, precision) or a component isn't built.
    """
    _check(request.rule)
    warn_of_spelling(name_notes(path.stem for path in request.layouts))
    files = {canonical_name(path.stem): path.resolve() for path in request.layouts}
    layouts = {name: read_layout(path) for name, path in files.items()}
    where, workload = real(), workloads.load(request.workload)
    row = ready(workload, workload.size(request.size), where)
    common = identity.common_key(list(row.run.argv))
    keys = {name: identity.run_key(common, path) for name, path in files.items()}
    journal = ClockJournal(RunLog(request.out.with_name(RUNS.file)), request.workload, keys, progress)
    with tempfile.TemporaryDirectory(prefix="tessera-host-") as work:
        turns = Turns(row, files, clock(), where, Path(work), journal, progress, attempts=1)
        try:
            with reserve_huge_pages(*pages_needed(layouts.values())):
                run_rounds(list(layouts), journal.runs, turns.run, request.rule, request.seed)
        except HugePagesUnavailable as error:
            return _skipped(request, list(layouts), error)
    return _written(request, list(layouts), journal.runs)


def _written(request: Experiment, names: list[str], runs: list[LoggedRun]) -> pd.DataFrame:
    simulated = table.read_simulated(request.simulated, request.workload)
    failed = {r.layout for r in runs if not is_ok(r.status)}
    based = ALL_4KB in set(names) - failed
    rows = [table.cell(request.workload, name, runs, simulated, request.rule, based) for name in names]
    cells = write_cells(rows, request.out)
    # A layout with a failed run has no numbers in the cells, so it has none here either.
    usable = [r for r in runs if r.layout not in failed]
    compared = table.comparison([name for name in names if name not in failed], usable, simulated)
    write(COMPARISON, compared, request.out.with_name(COMPARISON.file))
    return cells


def _skipped(request: Experiment, names: list[str], error: HugePagesUnavailable) -> pd.DataFrame:
    """Rows of skipped runs with the remedy, and an empty comparison."""
    message = f"{error.asked}: {error.found}; {error.remedy}; for the main job: ./run --reserve reproduce"
    rows = [table.empty_row(request.workload, name, "skipped", message) for name in names]
    cells = write_cells(rows, request.out)
    write(COMPARISON, empty(COMPARISON), request.out.with_name(COMPARISON.file))
    return cells


def _check(rule: Rule) -> None:
    bounds = (
        ("--half-width", rule.half_width, 0 < rule.half_width < 1, "between 0 and 1 (0.005 is 0.5%)"),
        ("--min-repeats", rule.min_repeats, rule.min_repeats >= 2, "at least 2, for an interval"),
        ("--max-repeats", rule.max_repeats, rule.max_repeats >= 1, "at least 1"),
    )
    for name, value, valid, wanted in bounds:
        if not valid:
            raise TesseraError(f"{name} {value}", f"must be {wanted}", "give another value")
