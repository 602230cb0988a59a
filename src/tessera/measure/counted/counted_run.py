"""One run of a program under a layout: exit status, pages, result, and the counts of a pass or the clock.

A run counts only if the launcher counted in full, every page had the size that the layout gives, and the
program's result was verified. Without counters, the time is what the program says of its region of interest.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.machine.container.watchdog import ProgramHangs
from tessera.measure.bundles.bundle import REGION
from tessera.measure.counted import perf_stat
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.perf_stat import RunCounts
from tessera.measure.counted.request import ROI, ReadyWorkload
from tessera.measure.launch import ProgramEnd, last_words, start_program
from tessera.measure.mosalloc.report import Report, read_report
from tessera.record.workloads.execution import ROI_NS
from tessera.record.workloads.program_run import Finished

COLUMNS = ["event", "value", "enabled_ns", "running_ns"]
NOT_FOUND = 127  #: status of env(1) and of a shell for a program that does not exist
PAGE_SIZES = (PAGE_4KB, PAGE_2MB, PAGE_1GB)


@dataclass(frozen=True)
class Ended:
    """``message`` says why the run does not count; empty if it does. ``seconds``: from start to end.

    ``pages``: page size in bytes -> pages; huge ones as found in the windows, 4KB ones of the rest in use.
    ``clock_ns``: the region of interest by the program's own clock; None if another region was counted.
    """

    message: str
    seconds: float
    used_bytes: dict[str, int] = field(default_factory=dict)
    pages: dict[int, int] = field(default_factory=dict)
    counts: RunCounts = field(default_factory=RunCounts)
    clock_ns: int | None = None


@dataclass(frozen=True)
class RunCounters:
    """The counters of a run: the events file, and the names in it.

    ``perf``: words of ``perf stat -e`` if perf counts (:mod:`tessera.measure.counted.perf_stat`).
    ``shown``: our name of an event -> perf's.
    """

    events: Path
    names: tuple[str, ...]
    region: str
    perf: tuple[str, ...] = ()
    shown: dict[str, str] = field(default_factory=dict)


def launched(
    row: ReadyWorkload,
    layout: Path,
    work: Path,
    where: MeasurementSite,
    counted: RunCounters | None,
    binding: Sequence[str] = (),
    pinned: bool = True,
) -> Ended:
    """Run ``row`` once under ``layout``; failures are in the result, not raised.

    Args:
        work: folder for the launcher's files, emptied of older ones.
        counted: None for a run without counters: its counts have the clock time of the region only.
        binding: words before the launcher's.
        pinned: as in :func:`tessera.measure.launch.start_program`.
    """
    report, counts = work / "report.json", work / "counts.csv"
    for path in (report, counts):
        path.unlink(missing_ok=True)
    asked: list[str] = ["--report", str(report)]
    if row.run.target:
        asked += ["--target", row.run.target]
    if counted and not counted.perf:
        asked += ["--count", str(counted.events), "--counts", str(counts), "--count-region", counted.region]
    began = time.monotonic()
    try:
        end = start_program(
            where.toolchain(row.run),
            where.launcher,
            layout,
            ["env", "-C", str(row.run.folder), *row.run.argv] if row.run.folder else row.run.argv,
            asked=asked,
            before=[
                *binding,
                *(perf_stat.perf_command(counted.perf, counts) if counted and counted.perf else ()),
            ],
            paths=row.run.paths,
            writes=[work, *([row.run.folder] if row.run.folder else ())],
            environment=row.run.environment,
            counted=counted is not None,
            pinned=pinned,
        )
    except ProgramHangs as error:
        return Ended(error.problem, time.monotonic() - began)
    try:
        return _judged(row, end, report, counts, counted, work)
    except TesseraError as error:
        return Ended(error.problem, end.seconds)


def _judged(
    row: ReadyWorkload, end: ProgramEnd, report: Path, counts: Path, counted: RunCounters | None, work: Path
) -> Ended:
    if end.status == NOT_FOUND and counted and counted.perf:
        return Ended(f"no perf where the program runs: install {perf_stat.PACKAGE} there", end.seconds)
    if end.status != 0:
        return Ended(f"status {end.status}: {last_words(end.errors) or 'no message'}", end.seconds)
    result = row.run.verify(Finished(end.status, end.output, end.errors, work))
    found = read_report(report)
    if not found.confirmed:
        return Ended(f"pages {found.verdict}: {found.reason}", end.seconds)
    own_clock = clock_ns(result) if counted and counted.region == ROI else None
    return Ended(
        "", end.seconds, found.used_bytes, pages_by_size(found), _counts(counts, counted, result), own_clock
    )


def _counts(path: Path, counted: RunCounters | None, result: Mapping[str, object]) -> RunCounts:
    if counted is None:
        return RunCounts(region_ns=clock_ns(result))
    if counted.perf:
        return perf_stat.read_perf_counts(path, counted.shown, counted.names)
    return read_run_counts(path, counted.names)


def clock_ns(result: Mapping[str, object]) -> int:
    """Clock time of the region of interest, as a program printed it.

    Raises:
        TesseraError: the result has none, or no positive whole number.
    """
    time = result.get(ROI_NS)
    if type(time) is not int or time <= 0:
        raise TesseraError(
            "clock time of the workload",
            f"{ROI_NS} is {time}, not a positive number",
            "use a workload that marks its region of interest: tessera workload show",
        )
    return time


def pages_by_size(report: Report) -> dict[int, int]:
    """Pages by size: those of windows as they were found, and 4KB pages of what else the pools used."""
    pages = dict.fromkeys(PAGE_SIZES, 0)
    rest = dict(report.used_bytes)
    for window in report.windows:
        if window.found in (PAGE_2MB, PAGE_1GB):
            pages[window.found] += (window.end - window.start) // window.found
            covered = max(0, min(window.end, report.used_bytes.get(window.pool, 0)) - window.start)
            rest[window.pool] = rest.get(window.pool, 0) - covered
    pages[PAGE_4KB] = sum(-(-max(0, used) // PAGE_4KB) for used in rest.values())
    return pages


def read_run_counts(path: Path, names: Sequence[str]) -> RunCounts:
    """The file of counts.

    Raises:
        TesseraError: it is missing, or has other events than ``names`` in their order, or no clock.
    """
    try:
        with path.open(newline="") as stream:
            header, *rows = list(csv.reader(stream))
        events = [(row[0], *(int(word) for word in row[1:])) for row in rows]
    except (OSError, ValueError, IndexError, csv.Error) as error:
        raise _wrong(path, str(error)) from None
    if header != COLUMNS or any(len(event) != len(COLUMNS) for event in events):
        raise _wrong(path, f"its columns are not {','.join(COLUMNS)}")
    if [event[0] for event in events] != [*names, REGION]:
        raise _wrong(path, f"its events are {', '.join(event[0] for event in events)}")
    if events[-1][1] <= 0:
        raise _wrong(path, f"{REGION} is {events[-1][1]}")
    return RunCounts(tuple(events[:-1]), events[-1][1])


def _wrong(path: Path, found: str) -> TesseraError:
    return TesseraError(
        f"counts of the launcher ({path.name})", found, "build launcher and Tessera from one checkout"
    )
