"""Real runs without counters: measured clock time beside simulated misses, as hybrid cells.

The whole experiment: reserve pages, run rounds, keep finished runs, write cells, comparison and runs.
"""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import append_lines, write_text
from tessera.core.layouts.layout import ALL_4KB, canonical_name, name_notes, read_layout
from tessera.core.results.loader import Pair
from tessera.core.results.machine_tables import COMPARISON, RUNS
from tessera.core.results.outcomes import FAILED, OK, is_ok, joined_notes, note_in, ok_rows
from tessera.core.results.table_io import empty_table, frame_of, read_cells, write_cells, write_table
from tessera.core.statistics import mean_interval
from tessera.core.table_columns import warn_of_spelling
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure import launch
from tessera.measure.counted.counted_run import Ended
from tessera.measure.counted.host import real_host
from tessera.measure.counted.request import ready_workload
from tessera.measure.counted.turns import Turns, clock_pass
from tessera.measure.launch import huge_pages_needed
from tessera.measure.rounds import (
    StoppingRule,
    fraction,
    known,
    precision,
    relative_runtime,
    run_rounds,
    times,
)
from tessera.record import workloads

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Experiment:
    """What to run: a workload's size under layout files; results go beside ``out`` (cells.csv)."""

    workload: str
    size: str
    layouts: tuple[Path, ...]
    out: Path
    simulated: Path | None = None
    rule: StoppingRule = field(default_factory=StoppingRule)
    seed: int = 1


def run_host(request: Experiment, progress: Progress = lambda text: None) -> pd.DataFrame:
    """Write and return the hybrid cells.

    Contract:

    - ``out`` has a row for each layout. Missing huge pages make ``skipped`` rows, failing runs ``failed``
      ones with the reason; neither raises. Only a later call tries a failing layout again.
    - ``comparison.csv`` beside it has differences to the runs under 4KB pages of the same rounds.
    - ``runs.csv`` beside it has each run when it ends. A later call uses those that succeeded with the same
      program, layout, processor and kernel, and begins a new round.
    - Rounds end as :class:`tessera.measure.rounds.StoppingRule` says; their order depends on the seed only.

    Raises:
        TesseraError: the request is wrong (names, files, precision) or a component isn't built.
    """
    _check_rule(request.rule)
    warn_of_spelling(name_notes(path.stem for path in request.layouts))
    files = {canonical_name(path.stem): path.resolve() for path in request.layouts}
    layouts = {name: read_layout(path) for name, path in files.items()}
    where, workload = real_host(), workloads.load_workload(request.workload)
    row = ready_workload(workload, workload.size(request.size), where)
    common = launch.common_key(list(row.run.argv))
    keys = {name: launch.run_key(common, path) for name, path in files.items()}
    journal = ClockJournal(RunLog(request.out.with_name(RUNS.file)), request.workload, keys, progress)
    with tempfile.TemporaryDirectory(prefix="tessera-host-") as work:
        turns = Turns(row, files, clock_pass(), where, Path(work), journal, progress, attempts=1)
        try:
            with reserve_huge_pages(*huge_pages_needed(layouts.values())):
                run_rounds(list(layouts), journal.runs, turns.run, request.rule, request.seed)
        except HugePagesUnavailable as error:
            return _skipped(request, list(layouts), error)
    return _written(request, list(layouts), journal.runs)


def _written(request: Experiment, names: list[str], runs: list[LoggedRun]) -> pd.DataFrame:
    simulated = read_simulated(request.simulated, request.workload)
    failed = {r.layout for r in runs if not is_ok(r.status)}
    based = ALL_4KB in set(names) - failed
    rows = [hybrid_cell(request.workload, name, runs, simulated, request.rule, based) for name in names]
    cells = write_cells(rows, request.out)
    # A layout with a failed run has no numbers in the cells, so it has none here either.
    usable = [r for r in runs if r.layout not in failed]
    compared = comparison_table([name for name in names if name not in failed], usable, simulated)
    write_table(COMPARISON, compared, request.out.with_name(COMPARISON.file))
    return cells


def _skipped(request: Experiment, names: list[str], error: HugePagesUnavailable) -> pd.DataFrame:
    """Rows of skipped runs with the remedy, and an empty comparison."""
    message = f"{error.sentence}; for the main job: ./run --reserve reproduce"
    rows = [empty_row(request.workload, name, "skipped", message) for name in names]
    cells = write_cells(rows, request.out)
    write_table(COMPARISON, empty_table(COMPARISON), request.out.with_name(COMPARISON.file))
    return cells


def _check_rule(rule: StoppingRule) -> None:
    bounds = (
        ("--half-width", rule.half_width, 0 < rule.half_width < 1, "between 0 and 1 (0.005 is 0.5%)"),
        ("--min-repeats", rule.min_repeats, rule.min_repeats >= 2, "at least 2, for an interval"),
        ("--max-repeats", rule.max_repeats, rule.max_repeats >= 1, "at least 1"),
    )
    for name, value, valid, wanted in bounds:
        if not valid:
            raise TesseraError(f"{name} {value}", f"must be {wanted}", "give another value")


# Finished runs, one CSV row each, appended as they complete: a killed experiment keeps them.


@dataclass(frozen=True)
class LoggedRun:
    """One run of a workload under one layout."""

    key: str  #: :func:`tessera.measure.launch.run_key`
    workload: str
    layout: str
    round: int
    status: str  #: ``ok`` or ``failed``
    message: str  #: why it failed
    runtime_ns: int | None  #: time of the region of interest; None if it failed

    @property
    def runtime(self) -> int | None:
        """What :mod:`tessera.measure.rounds` compares."""
        return self.runtime_ns


RUN_COLUMNS = RUNS.names


class RunLog:
    """The runs file of an experiment.

    Rounds are never continued: the runs of a round belong to one uninterrupted sequence, so that pairs of
    them saw the same machine. A later process starts a new round.
    """

    def __init__(self, path: Path):
        self.path = path

    def read(self) -> list[LoggedRun]:
        """All whole rows; a last row that was cut by a kill is dropped from the file."""
        if not self.path.exists():
            return []
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        text = whole.decode()
        if whole != data:
            write_text(self.path, text)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        if rows and tuple(rows[0]) != RUN_COLUMNS:
            return []  # written by another version: measured again, overwritten by `append`
        return [_logged_run(row) for row in rows]

    def append(self, run: LoggedRun) -> None:
        """Add one run and have it on disk before returning."""
        if not self.path.exists() or self._header() != RUN_COLUMNS:
            write_text(self.path, ",".join(RUN_COLUMNS) + "\n")
        row = asdict(run) | {"message": " ".join(run.message.split())}  # one line, so that a cut is seen
        line = io.StringIO()
        csv.DictWriter(line, RUN_COLUMNS, lineterminator="\n").writerow(row)
        append_lines(self.path, line.getvalue())

    def _header(self) -> tuple[str, ...]:
        with self.path.open() as stream:
            return tuple(stream.readline().rstrip("\n").split(","))


def _logged_run(row: dict[str, str]) -> LoggedRun:
    runtime = int(row["runtime_ns"]) if row["runtime_ns"] else None
    values = row | {"round": int(row["round"]), "runtime_ns": runtime}
    return LoggedRun(**values)


# The journal of real runs without counters: rows of ``runs.csv``, and what is shown of each run.


class ClockJournal:
    """A :class:`tessera.measure.counted.turns.Journal` of one workload. ``runs``: usable ones, old and new.

    Runs of an earlier process are usable if they succeeded and have the key of their layout now.
    """

    def __init__(self, log: RunLog, workload: str, keys: Mapping[str, str], say: Callable[[str], None]):
        self._log, self._workload, self._keys, self._say = log, workload, keys, say
        self.runs = [one for one in log.read() if keys.get(one.layout) == one.key and is_ok(one.status)]
        if self.runs:
            say(f"{len(self.runs)} finished runs of an earlier start are used again")

    def found(self, layout: str, number: int) -> dict[str, int]:
        """Nothing: rounds are never continued (:class:`RunLog`)."""
        return {}

    def keep(self, layout: str, number: int, name: str, ended: Ended) -> None:
        """Append the run to the file, and show it."""
        status, time_ns = (FAILED, None) if ended.message else (OK, ended.counts.region_ns)
        run = LoggedRun(self._keys[layout], self._workload, layout, number, status, ended.message, time_ns)
        self._log.append(run)
        self.runs.append(run)
        shown = ended.message or f"{ended.counts.region_ns / 1e9:.3f} s"
        self._say(f"round {number + 1}, {layout}: {shown}")


# Rows of ``cells.csv`` and of ``comparison.csv`` from finished runs.

PLATFORM = "host-sim"
ENGINE = "host"
SIMULATED_COLUMNS = ("stlb_hits", "stlb_misses", "walk_cycles", "walk_cycles_ci95")


def read_simulated(path: Path | None, workload: str) -> pd.DataFrame:
    """Simulated cells of the workload on the host's platform, by layout; empty without a file."""
    if path is None:
        return pd.DataFrame()
    mine = Pair(workload, PLATFORM).rows(ok_rows(read_cells(path)))
    return mine.drop_duplicates("layout").set_index("layout")


def empty_row(workload: str, layout: str, status: str, message: str) -> dict:
    """A row without numbers: ``skipped`` or ``failed``."""
    head = {"workload": workload, "platform": PLATFORM, "layout": layout, "repeat": 0}
    return head | {"status": status, "message": message, "engine": ENGINE}


def hybrid_cell(
    workload: str,
    layout: str,
    runs: list[LoggedRun],
    simulated: pd.DataFrame,
    rule: StoppingRule,
    based: bool,
) -> dict:
    """The hybrid cell of one layout: measured time, simulated H, M, C, no cycles."""
    failures = [r.message for r in runs if r.layout == layout and not is_ok(r.status)]
    if failures:
        return empty_row(workload, layout, "failed", failures[-1])
    values = list(times(runs, layout).values())
    found = mean_interval(values)
    of_trace = note_in(simulated.at[layout, "message"]) if layout in simulated.index else ""
    row = empty_row(workload, layout, "ok", joined_notes(cell_note(layout, runs, rule, based), of_trace))
    row |= {"runtime_ns": found.value, "runtime_provenance": "measured"}
    if found.count > 1:
        row["runtime_ns_ci95"] = found.half_width
    if layout in simulated.index:
        row |= {name: simulated.at[layout, name] for name in SIMULATED_COLUMNS} | {
            "tlb_provenance": "simulated"
        }
    return row


def cell_note(layout: str, runs: list[LoggedRun], rule: StoppingRule, based: bool) -> str:
    """How many runs, and a flag if the requested precision was not reached."""
    text = f"{len(times(runs, layout))} runs"
    if known(runs, layout, based, rule) or (based and layout == ALL_4KB):
        return text
    interval = precision(runs, layout, based)
    of = f"of the difference to {ALL_4KB}" if based else "of the mean"
    if interval is None or interval.count < 2:
        return f"{text}: too few for an interval {of}"
    return f"{text}: 95% half-width {of} is {fraction(interval, based):.2%}, asked {rule.half_width:.2%}"


def comparison_table(layouts: list[str], runs: list[LoggedRun], simulated: pd.DataFrame) -> pd.DataFrame:
    """Relative differences to the 4KB run: measured time (paired, with interval) beside simulated cycles."""
    rows = []
    for layout in layouts:
        measured = relative_runtime(runs, layout)
        row = {"layout": layout, "pairs": measured.count if measured else 0}
        if measured:
            row["measured_delta"] = measured.value - 1
            if measured.count > 1:
                row["measured_ci95"] = measured.half_width
        if {layout, ALL_4KB} <= set(simulated.index):
            cycles = simulated["runtime_cycles"]
            row["simulated_delta"] = cycles[layout] / cycles[ALL_4KB] - 1
        rows.append(row)
    return frame_of(COMPARISON, rows)
