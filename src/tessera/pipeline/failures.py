"""What failed is a result: a row or a file with the reason. Dropped, it is made again by the next run.

A failure is dropped with all outputs of its job, so that Snakemake misses them, and with the report, which
needs them (workflow/rules/report.smk). The report goes first and what records the failure last: a kill in
between leaves what the next try finds. Finished cells stay in the cache and cost nothing the second time.
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
from tessera.results.status import FAILED, SKIPPED, is_ok
from tessera.results.tree import Tree

NOT_DONE = frozenset({FAILED})
#: With reserved huge pages, what was skipped for want of them can be measured.
NOT_MEASURED = frozenset({FAILED, SKIPPED})


@dataclass(frozen=True)
class Failure:
    """A file that records a failure, why, and the other outputs of the job that wrote it."""

    path: Path
    reason: str
    beside: tuple[Path, ...] = ()


def failures(results: Path, *, reserve: bool) -> list[Failure]:
    """What a run of ``results`` would do again.

    Args:
        reserve: the run reserves huge pages; what was skipped for want of them counts as failed.
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
    """Tables with a column ``status``: where, which statuses are failures, and what their job writes
    beside."""

    def alone(path: Path) -> tuple[Path, ...]:
        return ()

    def with_sibling(name: str) -> Callable[[Path], tuple[Path, ...]]:
        return lambda path: (path.with_name(f"{name}.csv"),)

    yield tree.cells_of("*", "*"), NOT_DONE, alone
    yield tree.host_simulated, NOT_DONE, alone
    yield tree.validation("host_calibrated"), NOT_DONE, alone
    yield tree.sampling("*", "errors"), NOT_DONE, with_sibling("intervals")
    yield tree.ablations("*", "*", "shapes"), NOT_DONE, with_sibling("cells")
    yield tree.sweep("*", "*"), NOT_DONE, alone
    yield tree.host_cells, unmeasured, with_sibling("comparison")
    yield tree.validation("chase_series"), unmeasured, with_sibling("chase")


def _recordings(tree: Tree) -> Iterator[Failure]:
    """JSON files with a ``status``: recordings, windows of them, parts of the kernel."""
    patterns = (tree.info("*"), tree.window("*", "*"), tree.kernel("*", OUTCOME))
    for path in (path for pattern in patterns for path in tree.found(pattern)):
        try:
            said = json.loads(path.read_text())
        except (OSError, ValueError):
            yield Failure(path, "it can't be read")
            continue
        if said.get("status") == SKIPPED and said.get("missing"):
            if (now := _missing_now(said)) != said["missing"]:
                yield Failure(path, f"what was missing has changed: {now or 'it is there now'}")
        elif not is_ok(said.get("status", "")):
            yield Failure(path, f"{said.get('status')}: {said.get('message') or 'no message'}")


def _missing_now(info: dict) -> str:
    """What the user must supply and has not (SPEC): no failure before that changes."""
    try:
        return workloads.missing(workloads.load(info["workload"]), info["size"])
    except TesseraError:  # its file has changed since: the recording will say how
        return ""


def _row_with(path: Path, statuses: frozenset) -> str:
    """The first row with one of these statuses, as a reason; empty if there is none."""
    try:
        with path.open(newline="") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("status") in statuses]
    except (OSError, ValueError, csv.Error):
        return "it can't be read"
    return f"{len(rows)} rows, the first {rows[0]['status']}: {rows[0].get('message')}" if rows else ""
