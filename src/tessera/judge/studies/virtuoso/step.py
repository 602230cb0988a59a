"""What the workflow's rule and the command call: the table of one program, failures as rows."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.faults.stream.weave import file_of
from tessera.judge.studies.scenarios import logs
from tessera.judge.studies.scenarios import step as scenarios
from tessera.judge.studies.virtuoso.cells import Request, Woven, simulate_logs
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.schema.virtuoso import FAULT_SHARES
from tessera.results.status import FAILED, OK
from tessera.results.write import frame_of, write
from tessera.scenarios import imitated, model
from tessera.simulate.cache import CellCache

PROVENANCE = "simulated"
LARGE = " 2MB"


@dataclass(frozen=True, kw_only=True)
class Job(scenarios.Job):
    """As of the study of scenarios; ``recording_of_faults``: folder of ``tessera faults stream record``."""

    recording_of_faults: Path


def program_study(job: Job) -> pd.DataFrame:
    """Write the table :data:`FAULT_SHARES` into ``job.out``, and return it.

    The same inputs give the same table. Finished simulations are in the cache, so a killed study goes on.

    Raises:
        TesseraError: an unknown platform or scenario, a recording of faults that cannot be read, or
            ``job.trace`` is no trace and no recording.
    """
    if job.info is None:
        traces.info(job.trace)
    platform, asked = platforms.load(job.platform_name), logs.load(job.scenarios)
    weave = file_of(job.recording_of_faults)
    head = {"workload": job.workload, "platform": platform.name, "provenance": PROVENANCE}
    try:
        rows = _study(job, platform, asked, weave)
    except TesseraError as error:  # of the recording: no scenario has a number
        rows = [_failed(one.name, logs.one_line(error)) for one in asked]
    frame = frame_of(FAULT_SHARES, [head | row for row in rows])
    return write(FAULT_SHARES, frame, job.out / FAULT_SHARES.file)


def _study(job: Job, platform: Platform, asked: Sequence[model.Scenario], weave: bytes) -> list[dict]:
    trace = job.recording
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = logs.decide(trace, asked, Path(name), job.progress)
        good = [one for one in decided if not one.problem]
        kinds = {one.name: _kinds(one.log) for one in good}
        request = Request(
            job.workload, trace, platform, job.sampling, CellCache(job.cache), job.threads, job.progress,
            weave=weave,
        )  # fmt: skip
        simulated = simulate_logs(request, [one.log for one in good])
    woven = {one.name: done for one, done in zip(good, simulated, strict=True)}
    rows = []
    for one in decided:
        done = woven.get(one.name, Woven(problem=one.problem))
        rows.append(
            _failed(one.name, done.problem) if done.problem else _row(one.name, done, kinds[one.name])
        )
    return rows


def _kinds(log: Path) -> list[str]:
    """Kind of each fault of a log with its page size, in the order of the program."""
    return [f"{row['cause']} {row['page_size']}" for row in csv.DictReader(imitated.lines(log, "faults"))]


def _failed(scenario: str, message: str) -> dict:
    return {"scenario": scenario, "status": FAILED, "message": message}


def _row(scenario: str, done: Woven, kinds: Sequence[str]) -> dict:
    cell, kernel = done.cell, done.kernel
    misses = cell["stlb_misses"]
    return {
        "scenario": scenario, "status": OK, "message": cell["message"],
        "runtime_cycles": cell["runtime_cycles"], "runtime_cycles_ci95": cell["runtime_cycles_ci95"],
        "faultless_cycles": done.faultless_cycles, "instructions": cell["instructions"],
        "accesses": cell["accesses"], "faults": len(kinds),
        "faults_2mb": sum(kind.endswith(LARGE) for kind in kinds), "stlb_misses": misses,
        "walk_cycles": cell["walk_cycles"], "kernel_instructions": kernel["kernel_instructions"],
        "kernel_cycles": kernel["kernel_cycles"], "kernel_walk_cycles": kernel["kernel_walk_cycles"],
        "fault_share": kernel["kernel_cycles"] / cell["runtime_cycles"],
        "translation_share": cell["walk_cycles"] / cell["runtime_cycles"],
        "cycles_per_walk": cell["walk_cycles"] / misses if misses else None,
    }  # fmt: skip
