"""Processor time and memory of the simulator itself, with and without the kernel's work (Figures 11 and 12).

Every repeat simulates a log without and then with the work of its faults, by one thread and without the
cache of cells, so that changes of the machine's speed meet both. The table has medians. They are measured:
the same inputs give other numbers.
"""

from __future__ import annotations

import csv
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.paths import built
from tessera.judge.studies.scenarios.cells import ENGINE
from tessera.judge.studies.virtuoso.cells import FRAMES, Request
from tessera.platforms.change import set_values
from tessera.results.status import is_ok
from tessera.simulate.inputs import LOG, file_bytes
from tessera.simulate.process import Job, run_simulator
from tessera.simulate.rows import KERNEL

PROVENANCE = "measured"
#: with the kernel's work? -> what columns of it begin with
PLAIN, WOVEN = "plain", "woven"


@dataclass(frozen=True)
class Run:
    """One run of the simulator: its row, and what it took."""

    row: dict
    processor_seconds: float
    peak_memory_bytes: int


def cost_rows(request: Request, logs: Sequence[Path], repeats: int, folder: Path) -> list[dict]:
    """A row for each log, its name that of the scenario; files go to ``folder``.

    Raises:
        TesseraError: the simulator refuses a log: no cost can be measured then.
    """
    rows = []
    for log in logs:
        runs: dict[str, list[Run]] = {PLAIN: [], WOVEN: []}
        for repeat in range(1, repeats + 1):
            for name, weave in ((PLAIN, None), (WOVEN, request.weave)):
                request.progress(f"{log.stem}: {name} run {repeat} of {repeats}")
                runs[name].append(_run(request, log, weave, folder))
        rows.append({"scenario": log.stem, "repeats": repeats, "provenance": PROVENANCE} | _costs(runs))
    return rows


def _run(request: Request, log: Path, weave: bytes | None, folder: Path) -> Run:
    rows: list[dict] = []
    usage = folder / "usage.csv"
    job = Job(
        built("simulator", "tessera-sim"), request.trace, (set_values(request.platform, FRAMES),), ENGINE,
        request.sampling, kind=LOG, weave=weave, usage=usage,
    )  # fmt: skip
    run_simulator(
        job, {log: file_bytes(log, LOG)}, lambda _, __, row, *___: rows.append(row), request.progress
    )
    (row,) = rows
    if not is_ok(row):
        raise TesseraError(
            f"cost of scenario {log.stem}", row["message"], "leave the scenario out", exit_code=EXIT_FAILED
        )
    with usage.open() as stream:
        (used,) = csv.DictReader(stream)
    return Run(row, float(used["processor_seconds"]), int(used["peak_memory_bytes"]))


def _costs(runs: dict[str, list[Run]]) -> dict:
    found: dict = {}
    for name, mine in runs.items():
        seconds = [one.processor_seconds for one in mine]
        found[f"{name}_seconds"] = statistics.median(seconds)
        found[f"{name}_seconds_low"], found[f"{name}_seconds_high"] = min(seconds), max(seconds)
        found[f"{name}_memory_bytes"] = int(statistics.median(one.peak_memory_bytes for one in mine))
    row = runs[WOVEN][0].row
    (kernel,) = row[KERNEL]
    program, accesses = row["instructions"], row["accesses"]
    more, more_accesses = kernel["kernel_instructions"], kernel["kernel_loads"] + kernel["kernel_stores"]
    pairs = zip(runs[WOVEN], runs[PLAIN], strict=True)
    slowdown = statistics.median(w.processor_seconds / p.processor_seconds for w, p in pairs)
    return found | {
        "instructions": program, "accesses": accesses, "kernel_instructions": more,
        "kernel_accesses": more_accesses, "slowdown": slowdown,
        "memory_ratio": found["woven_memory_bytes"] / found["plain_memory_bytes"],
        "instruction_ratio": 1 + more / program, "access_ratio": 1 + more_accesses / accesses,
        "time_per_instruction_ratio": slowdown / (1 + more / program),
        "time_per_access_ratio": slowdown / (1 + more_accesses / accesses),
    }  # fmt: skip
