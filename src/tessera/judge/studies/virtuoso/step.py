"""What the workflow's rule and the command call: the tables of one program, failures as rows of shares."""

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
from tessera.judge.studies.virtuoso import latency
from tessera.judge.studies.virtuoso.cells import Request, Woven, simulate_logs
from tessera.judge.studies.virtuoso.costs import cost_rows
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.schema.virtuoso import (
    FAULT_SHARES,
    FAULT_TIME_COMBS,
    FAULT_TIMES,
    OF_PROGRAM,
    SIMULATOR_COSTS,
)
from tessera.results.status import FAILED, OK
from tessera.results.write import frame_of, write
from tessera.scenarios import imitated, model
from tessera.simulate.cache import CellCache

PROVENANCE = "simulated"
LARGE = " 2MB"
FREQUENCY = "core.frequency_hz"
Rows = dict[str, list[dict]]  #: by the name of the table


@dataclass(frozen=True, kw_only=True)
class Job(scenarios.Job):
    """As of the study of scenarios; ``recording_of_faults``: folder of ``tessera faults stream record``."""

    recording_of_faults: Path


def program_study(job: Job) -> pd.DataFrame:
    """Write shares, latencies and combs into ``job.out``, and return the table :data:`FAULT_SHARES`.

    The same inputs give the same tables. Finished simulations are in the cache, so a killed study goes on.

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
        rows = {FAULT_SHARES.name: [_failed(one.name, logs.one_line(error)) for one in asked]}
    frames = {}
    for table in OF_PROGRAM:
        frame = frame_of(table, [head | row for row in rows.get(table.name, [])])
        frames[table.name] = write(table, frame, job.out / table.file)
    return frames[FAULT_SHARES.name]


def program_costs(job: Job, repeats: int) -> pd.DataFrame:
    """Write the table :data:`SIMULATOR_COSTS` into ``job.out``, and return it. It is measured: no cache.

    Raises:
        TesseraError: as :func:`program_study`; or a scenario that cannot be simulated.
    """
    platform, asked = platforms.load(job.platform_name), logs.load(job.scenarios)
    weave, trace = file_of(job.recording_of_faults), job.recording
    head = {"workload": job.workload, "platform": platform.name}
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = logs.decide(trace, asked, Path(name), job.progress)
        if bad := [one for one in decided if one.problem]:
            raise TesseraError(f"cost of scenario {bad[0].name}", bad[0].problem, "leave the scenario out")
        request = Request(
            job.workload, trace, platform, job.sampling, CellCache(None), progress=job.progress, weave=weave
        )
        rows = cost_rows(request, [one.log for one in decided], repeats, Path(name))
    frame = frame_of(SIMULATOR_COSTS, [head | row for row in rows])
    return write(SIMULATOR_COSTS, frame, job.out / SIMULATOR_COSTS.file)


def _study(job: Job, platform: Platform, asked: Sequence[model.Scenario], weave: bytes) -> Rows:
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
    rows: Rows = {table.name: [] for table in OF_PROGRAM}
    for one in decided:
        done = woven.get(one.name, Woven(problem=one.problem))
        if done.problem:
            rows[FAULT_SHARES.name].append(_failed(one.name, done.problem))
            continue
        rows[FAULT_SHARES.name].append(_row(one.name, done, kinds[one.name]))
        faults, head = latency.frame_of_faults(done.faults), {"scenario": one.name}
        times = latency.quantile_rows(faults, _hertz(platform))
        rows[FAULT_TIMES.name] += [head | row for row in times]
        rows[FAULT_TIME_COMBS.name] += [head | row for row in latency.comb_rows(faults)]
    return rows


def _hertz(platform: Platform) -> float | None:
    value = platform.values.get(FREQUENCY)
    return None if value is None else float(value.value)


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
