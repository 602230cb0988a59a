"""Figures 1 to 3, 11 and 12 of Virtuoso (ASPLOS 2025) for recorded programs (docs/faults.md).

The workflow's rule and the command write the tables of one program; failures are rows of shares.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform
from tessera.core.results.os_tables import (
    FAULT_SHARES,
    FAULT_TIME_COMBS,
    FAULT_TIMES,
    OF_PROGRAM,
    SIMULATOR_COSTS,
)
from tessera.core.results.outcomes import FAILED, OK
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.scenarios import Scenario
from tessera.lab.faults.kinds import BATCH, KINDS, TABLE
from tessera.lab.faults.latencies import comb, quantiles
from tessera.lab.faults.virtuoso_runs import Request, Woven, cost_rows, simulate_logs
from tessera.lab.faults.weave import file_of
from tessera.lab.studies import scenarios
from tessera.lab.studies.failures import one_line
from tessera.record import traces
from tessera.simulate import operating_system
from tessera.simulate.runner import CellCache
from tessera.simulate.simulator import FAULT_TIME_COLUMNS

# Latencies of the simulated faults of a program: quantiles by kind (Figure 2), and combs.
#
# Both follow the rules of measured latencies (:mod:`.latencies`). A measured pass touches new pages in
# ascending order; a program does so in parts. So a *run* takes the place of a pass: faults of one kind on
# consecutive pages, from a multiple of 512 pages on.

ALL = "all"  #: in the column ``kind``: faults of every kind together
#: Faults of the shortest run that counts: those of a last-level page table.
LEAST_RUN = TABLE.period
#: Template -> combs to look for: those of measured kinds, and the batch where a copy joins the LRU lists.
TEETH = {kind.name: kind.teeth for kind in KINDS if kind.faults and kind.teeth}
TEETH |= dict.fromkeys(("write-zero", "write-private", "write-cow"), (BATCH,))


def frame_of_faults(rows: Sequence[dict]) -> pd.DataFrame:
    """Rows of ``tessera simulate --fault-times-out`` as a table."""
    return pd.DataFrame(rows, columns=list(FAULT_TIME_COLUMNS))


def quantile_rows(faults: pd.DataFrame, hertz: float | None) -> list[dict]:
    """A row for each kind and quantile: of all faults together, then of each kind.

    ``time_above`` is the share of these faults' time that slower ones take. Virtuoso's Figure 2 prints it
    for its outliers, whose limit is lost in the text that we have.

    Args:
        hertz: frequency of the platform; None: rows have no time.
    """
    kinds = [(ALL, faults), *faults.groupby("kind", sort=True)] if len(faults) else []
    rows = []
    for kind, mine in kinds:
        cycles = mine["cycles"].to_numpy(dtype=np.int64)
        for one in quantiles([cycles]):
            above = cycles[cycles > one.median].sum() / cycles.sum()
            rows.append(
                {
                    "kind": kind, "share": one.share, "cycles": one.median,
                    "us": None if hertz is None else 1e6 * one.median / hertz,
                    "time_above": float(above), "faults": len(cycles),
                }
            )  # fmt: skip
    return rows


def comb_rows(faults: pd.DataFrame) -> list[dict]:
    """A row for each comb that a kind can have, if the program has a run of that kind."""
    rows = []
    for kind, combs in TEETH.items():
        passes = consecutive_runs(faults[faults["kind"] == kind])
        for teeth in combs if passes else ():
            found = comb(passes, teeth)
            rows.append(
                {
                    "kind": kind, "reason": teeth.reason, "period": teeth.period, "runs": len(passes),
                    "faults": sum(map(len, passes)), "asked": found.asked, "hits": found.hits,
                    "chance": found.chance, "extra_cycles": found.extra,
                }
            )  # fmt: skip
    return rows


def consecutive_runs(faults: pd.DataFrame) -> list[np.ndarray]:
    """Cycles of the faults of one kind, run by run, in the order of the program.

    A run has consecutive pages of one size, begins at a multiple of :data:`LEAST_RUN` pages, and has at
    least so many faults.
    """
    if faults.empty:
        return []
    pages, cycles = faults["page"].to_numpy(), faults["cycles"].to_numpy()
    begins = np.flatnonzero(np.diff(pages) != 1) + 1
    found = []
    for begin, end in zip([0, *begins], [*begins, len(pages)], strict=True):
        first = begin + int(-pages[begin] % LEAST_RUN)
        if end - first >= LEAST_RUN:
            found.append(cycles[first:end])
    return found


# The tables of one program.

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
    platform, asked = platforms.load(job.platform_name), scenarios.load_scenarios(job.scenarios)
    weave = file_of(job.recording_of_faults)
    head = {"workload": job.workload, "platform": platform.name, "provenance": "simulated"}
    try:
        rows = _study(job, platform, asked, weave)
    except TesseraError as error:  # of the recording: no scenario has a number
        rows = {FAULT_SHARES.name: [_failed(one.name, one_line(error)) for one in asked]}
    frames = {}
    for table in OF_PROGRAM:
        frame = frame_of(table, [head | row for row in rows.get(table.name, [])])
        frames[table.name] = write_table(table, frame, job.out / table.file)
    return frames[FAULT_SHARES.name]


def program_costs(job: Job, repeats: int) -> pd.DataFrame:
    """Write the table :data:`SIMULATOR_COSTS` into ``job.out``, and return it. It is measured: no cache.

    Raises:
        TesseraError: as :func:`program_study`; or a scenario that cannot be simulated.
    """
    platform, asked = platforms.load(job.platform_name), scenarios.load_scenarios(job.scenarios)
    weave, trace = file_of(job.recording_of_faults), job.recording
    head = {"workload": job.workload, "platform": platform.name}
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = scenarios.decide(trace, asked, Path(name), job.progress)
        if bad := [one for one in decided if one.problem]:
            raise TesseraError(f"cost of scenario {bad[0].name}", bad[0].problem, "leave the scenario out")
        request = Request(
            job.workload, trace, platform, job.sampling, CellCache(None), progress=job.progress, weave=weave
        )
        rows = cost_rows(request, [one.log for one in decided], repeats, Path(name))
    frame = frame_of(SIMULATOR_COSTS, [head | row for row in rows])
    return write_table(SIMULATOR_COSTS, frame, job.out / SIMULATOR_COSTS.file)


def _study(job: Job, platform: Platform, asked: Sequence[Scenario], weave: bytes) -> Rows:
    trace = job.recording
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = scenarios.decide(trace, asked, Path(name), job.progress)
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
        faults, head = frame_of_faults(done.faults), {"scenario": one.name}
        times = quantile_rows(faults, _hertz(platform))
        rows[FAULT_TIMES.name] += [head | row for row in times]
        rows[FAULT_TIME_COMBS.name] += [head | row for row in comb_rows(faults)]
    return rows


def _hertz(platform: Platform) -> float | None:
    value = platform.values.get(FREQUENCY)
    return None if value is None else float(value.value)


def _kinds(log: Path) -> list[str]:
    """Kind of each fault of a log with its page size, in the order of the program."""
    return [
        f"{row['cause']} {row['page_size']}"
        for row in csv.DictReader(operating_system.log_lines(log, "faults"))
    ]


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
