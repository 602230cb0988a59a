"""Failures of a run: run a command that may fail, find and drop what failed, and begin a run without it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.cli.pipeline.lock import RunLock
from tessera.cli.pipeline.remains import end_remains, watch_run
from tessera.core.errors import TesseraError
from tessera.core.files import sha256_of, write_text
from tessera.core.results import os_tables, transfer_tables
from tessera.core.results.outcomes import FAILED, OUTCOME_FILE, SKIPPED, is_ok
from tessera.core.results.tree import TRACE_NAME, ResultsTree
from tessera.record import workloads

# A failure is a row or a file with the reason; if dropped, the next run retries it.
#
# Dropping a failure deletes all outputs of its job, so that Snakemake runs the job again, and the report,
# which needs these outputs (workflow/rules/report.smk). The report is deleted first and the record of the
# failure last: the next call still finds the failure after a kill. Finished cells stay in the cache.

NOT_DONE = frozenset({FAILED})
#: With reserved huge pages, jobs that were skipped without them can run.
NOT_MEASURED = frozenset({FAILED, SKIPPED})
_SCENARIOS = tuple(Path(table.file).stem for table in os_tables.OF_LOG.values())
_TRANSFER = tuple(
    Path(table.file).stem for table in transfer_tables.PARTS if table is not transfer_tables.POINTS
)


@dataclass(frozen=True)
class Failure:
    """A file that records a failure, the reason, and the other outputs of its job.

    ``names``: what the failed rows name, the recordings that they read among them. ``told``: the run says the
    reason, which no file has.
    """

    path: Path
    reason: str
    beside: tuple[Path, ...] = ()
    names: frozenset[str] = frozenset()
    told: bool = False


def failures(results: Path, *, reserve: bool) -> list[Failure]:
    """The failures in ``results`` that a run would retry.

    Args:
        reserve: the run reserves huge pages, so jobs that were skipped without them count as failed.
    """
    tree = ResultsTree(results)
    found = list(_recordings(tree))
    for pattern, statuses, beside in _tables(tree, NOT_MEASURED if reserve else NOT_DONE):
        for path in tree.found(pattern):
            if one := _rows_with(path, statuses, beside(path)):
                found.append(one)
    names = set().union(_names_of_jobs(tree), *(one.names for one in found))
    return [*_damaged_traces(tree, names), *found]


def drop(results: Path, failed: list[Failure]) -> None:
    """Delete the report, then each failure with its job's outputs."""
    if failed:
        ResultsTree(results).report.unlink(missing_ok=True)
    for one in failed:
        for path in (*one.beside, one.path):
            path.unlink(missing_ok=True)


def _tables(
    tree: ResultsTree, unmeasured: frozenset
) -> Iterator[tuple[Path, frozenset, Callable[[Path], tuple]]]:
    """Tables with a column ``status``: path pattern, statuses that are failures, other outputs of the job."""

    def alone(path: Path) -> tuple[Path, ...]:
        return ()

    def with_sibling(*names: str) -> Callable[[Path], tuple[Path, ...]]:
        return lambda path: tuple(path.with_name(f"{name}.csv") for name in names)

    yield tree.cells_of("*", "*"), NOT_DONE, alone
    yield tree.host_simulated, NOT_DONE, alone
    yield tree.validation("host_calibrated"), NOT_DONE, alone
    yield tree.sampling("*", "errors"), NOT_DONE, with_sibling("intervals")
    yield tree.ablations("*", "*", "shapes"), NOT_DONE, with_sibling("cells")
    yield tree.sweep("*", "*"), NOT_DONE, alone
    yield tree.designs("*", "*", "cells"), NOT_DONE, with_sibling("structures", "mappings")
    yield tree.scenarios("*", "cells"), NOT_DONE, with_sibling(*_SCENARIOS)
    yield tree.virtuoso("*", "shares"), NOT_DONE, alone
    yield tree.transfer_of("*", "*", "points"), NOT_DONE, with_sibling(*_TRANSFER)
    yield tree.host_cells, unmeasured, with_sibling("comparison")
    yield tree.validation("chase_series"), unmeasured, with_sibling("chase")
    yield tree.validation("clock_measured"), unmeasured, alone
    of_clock = ("clock_measured", "clock_marks", "clock_programs", "clock_keys")
    yield tree.validation("clock_marks"), unmeasured, with_sibling(*of_clock)
    yield tree.validation("clock_programs"), unmeasured, with_sibling(*of_clock)


def _recordings(tree: ResultsTree) -> Iterator[Failure]:
    """Failures in JSON files with a ``status``: recordings, windows, jobs of the kernel."""
    patterns = (
        tree.info("*"), tree.window("*", "*"), tree.scenario_recording("*"), tree.kernel("*", OUTCOME_FILE),
    )  # fmt: skip
    for path in (path for pattern in patterns for path in tree.found(pattern)):
        try:
            said = json.loads(path.read_text())
        except (OSError, ValueError):
            yield Failure(path, "the file can't be read")
            continue
        if said.get("status") == SKIPPED and said.get("missing"):
            if (now := _missing_now(said)) != said["missing"]:
                yield Failure(path, f"inputs have changed since: {now or 'nothing is missing now'}")
        elif not is_ok(said.get("status", "")):
            yield Failure(path, f"{said.get('status')}: {said.get('message') or 'no message'}")


def _missing_now(info: dict) -> str:
    """The inputs that the user must supply (SPEC) and that are missing now."""
    try:
        return workloads.missing(workloads.load_workload(info["workload"]), info["size"])
    except TesseraError:  # the workload's file has changed: the recording will report the error
        return ""


def _rows_with(path: Path, statuses: frozenset, beside: tuple[Path, ...]) -> Failure | None:
    """Number and first message of the rows with these statuses; None if there are none."""
    try:
        with path.open(newline="") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("status") in statuses]
    except (OSError, ValueError, csv.Error):
        return Failure(path, "the file can't be read", beside)
    if not rows:
        return None
    reason = f"{len(rows)} rows, the first {rows[0]['status']}: {rows[0].get('message')}"
    names = {*path.parts, *(row.get("workload") or "" for row in rows)}
    return Failure(path, reason, beside, frozenset(names))


# A recording can say that it succeeded although its trace is damaged: by the disk, by a copy, by hand. Jobs
# that read the trace then fail, and the recording must be made again.


def _damaged_traces(tree: ResultsTree, suspects: set[str]) -> Iterator[Failure]:
    """Successful recordings whose trace is not the one that was recorded; a trace that was removed is none.

    Sizes are compared for all, bytes only for the workloads in ``suspects``: traces have gigabytes. The
    outcome goes before the trace, so that a drop that is killed in between leaves no outcome without its
    trace.
    """
    for pattern in (tree.info("*"), tree.window("*", "*"), tree.scenario_recording("*")):
        for path in tree.found(pattern):
            try:
                said = json.loads(path.read_text())
            except (OSError, ValueError):
                continue  # a failure already
            trace, read = path.with_name(TRACE_NAME), said.get("workload") in suspects
            if is_ok(said.get("status", "")) and (why := _damage(said, trace, read)):
                yield Failure(trace, why, (path,), told=True)


def _damage(info: Mapping, trace: Path, read: bool) -> str:
    try:
        size = trace.stat().st_size
        if size != info.get("file_bytes", size):
            return f"it has {size} bytes instead of {info['file_bytes']}"
        if read and sha256_of(trace) != info.get("sha256"):
            return "its SHA-256 is not that of the recording"
    except FileNotFoundError:
        return "it is not there" if read else ""
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    return ""


def _names_of_jobs(tree: ResultsTree) -> set[str]:
    """Subjects of the jobs that failed in the last run; they left no rows."""
    try:
        with tree.timeline.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
    except (OSError, ValueError, csv.Error):
        return set()
    failed = (row for row in rows if row.get("run") == rows[-1].get("run") and row.get("outcome") == FAILED)
    return {name for row in failed for name in (row.get("subject") or "").split(", ")}


# A command that may fail runs, and its outcome becomes a file, so that other jobs continue.

#: Lines of output that the message of a failure keeps.
KEPT_LINES = 8


def run_and_record(command: list[str], out: Path) -> dict:
    """Run ``tessera COMMAND --out <folder of out>`` and write ``out``: ``command, status, message, seconds``.

    ``status`` is ``ok`` or ``failed``; ``message`` has the last lines of output of a failed command. Deletes
    the tables of an earlier attempt first.

    Raises:
        SystemExit: a signal stopped the command; nothing is written, and the next run starts it again.
    """
    folder = out.parent
    folder.mkdir(parents=True, exist_ok=True)
    for table in folder.glob("*.csv"):
        table.unlink()
    began = time.monotonic()
    argv = ["tessera", *command, "--out", str(folder)]
    lines: list[str] = []
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines = [*lines[-KEPT_LINES + 1 :], line.rstrip()]
    if process.returncode < 0 or process.returncode > 128:
        raise SystemExit(process.returncode)
    outcome = {
        "command": " ".join(argv),
        "status": "failed" if process.returncode else "ok",
        "message": "\n".join(lines) if process.returncode else "",
        "seconds": round(time.monotonic() - began, 1),
    }
    write_text(out, json.dumps(outcome, indent=1) + "\n")
    return outcome


# What a run does before its first job: it takes the lock of its results, keeps its configuration, and drops
# what failed if it was told to.
#
# Snakemake calls :func:`begin_run` (``onstart`` of the Snakefile) in the main process of a run that makes
# something, and never in a dry run, a listing, or a job of a cluster.

RETRY = "TESSERA_RETRY"  #: `1` in a run that tries again what failed, as `./run` does
RESERVE = "TESSERA_RESERVE"


def begin_run(
    results: Path, left_out: Sequence[str] = (), config: Mapping | None = None, *, local: bool = True
) -> None:
    """Hold ``results`` until this process ends, and end what killed runs left at work; with $TESSERA_RETRY=1
    drop failures and start over without them.

    Which jobs there are was decided before this, so a run that drops something starts again, in this same
    process and with the lock that it holds.

    Args:
        left_out: rows that this machine has too little memory or disk for, with the numbers; said at once.
        config: effective configuration of the run, kept with its provenance.
        local: the jobs are processes of this machine, and end with this one; those of a cluster don't.

    Raises:
        SystemExit: another run is at work on ``results``, or it cannot be written; said so, since Snakemake
            would add a traceback.
    """
    try:
        RunLock(results).hold()
        if config is not None:
            from tessera.report.provenance import keep_config  # slow to import

            keep_config(results, dict(config))
    except TesseraError as error:
        print(f"tessera: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    _end_remains(results)
    for row in left_out:
        print(f"tessera: this row will be left out: {row}", file=sys.stderr)
    if os.environ.get(RETRY) == "1":
        os.environ[RETRY] = "0"  # once is enough
        _start_without_failures(results)
    if local:
        watch_run()


def _end_remains(results: Path) -> None:
    try:
        if found := end_remains(results):
            print(f"tessera: ended what a killed run had left: {', '.join(found)}", file=sys.stderr)
    except TesseraError as error:  # a job that needs the engine will say so, too
        print(f"tessera: {error}", file=sys.stderr)


def _start_without_failures(results: Path) -> None:
    failed = failures(results, reserve=os.environ.get(RESERVE) == "1")
    if failed:
        drop(results, failed)
        for one in failed:
            if one.told:
                print(f"tessera: {one.path.relative_to(results)} is damaged: {one.reason}", file=sys.stderr)
        names = ", ".join(str(one.path.relative_to(results)) for one in failed)
        print(f"tessera: trying again what failed: {names}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
