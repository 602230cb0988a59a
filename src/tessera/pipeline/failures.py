"""Find and drop failures. A failure is a row or a file with the reason; if dropped, the next run retries it.

Dropping a failure deletes all outputs of its job, so that Snakemake runs the job again, and the report, which
needs these outputs (workflow/rules/report.smk). The report is deleted first and the record of the failure
last: the next call still finds the failure after a kill. Finished cells stay in the cache.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.record import workloads
from tessera.results.attempts import OUTCOME
from tessera.results.schema import scenarios, transfer
from tessera.results.status import FAILED, SKIPPED, is_ok
from tessera.results.tree import Tree

NOT_DONE = frozenset({FAILED})
#: With reserved huge pages, jobs that were skipped without them can run.
NOT_MEASURED = frozenset({FAILED, SKIPPED})
_SCENARIOS = tuple(Path(table.file).stem for table in scenarios.OF_LOG.values())
_TRANSFER = tuple(Path(table.file).stem for table in transfer.PARTS if table is not transfer.POINTS)


@dataclass(frozen=True)
class Failure:
    """A file that records a failure, the reason, and the other outputs of its job."""

    path: Path
    reason: str
    beside: tuple[Path, ...] = ()


def failures(results: Path, *, reserve: bool) -> list[Failure]:
    """The failures in ``results`` that a run would retry.

    Args:
        reserve: the run reserves huge pages, so jobs that were skipped without them count as failed.
    """
    tree = Tree(results)
    found = list(_recordings(tree))
    for pattern, statuses, beside in _tables(tree, NOT_MEASURED if reserve else NOT_DONE):
        for path in tree.found(pattern):
            if reason := _row_with(path, statuses):
                found.append(Failure(path, reason, beside(path)))
    return found


def drop(results: Path, failed: list[Failure]) -> None:
    """Delete the report, then each failure with its job's outputs."""
    if failed:
        Tree(results).report.unlink(missing_ok=True)
    for one in failed:
        for path in (*one.beside, one.path):
            path.unlink(missing_ok=True)


def _tables(tree: Tree, unmeasured: frozenset) -> Iterator[tuple[Path, frozenset, Callable[[Path], tuple]]]:
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


def _recordings(tree: Tree) -> Iterator[Failure]:
    """Failures in JSON files with a ``status``: recordings, windows, jobs of the kernel."""
    patterns = (
        tree.info("*"), tree.window("*", "*"), tree.scenario_recording("*"), tree.kernel("*", OUTCOME),
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
        return workloads.missing(workloads.load(info["workload"]), info["size"])
    except TesseraError:  # the workload's file has changed: the recording will report the error
        return ""


def _row_with(path: Path, statuses: frozenset) -> str:
    """Number and first message of the rows with these statuses; empty if there are none."""
    try:
        with path.open(newline="") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("status") in statuses]
    except (OSError, ValueError, csv.Error):
        return "the file can't be read"
    return f"{len(rows)} rows, the first {rows[0]['status']}: {rows[0].get('message')}" if rows else ""
