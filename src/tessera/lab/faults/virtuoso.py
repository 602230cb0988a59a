"""Figures 1 to 3, 11 and 12 of Virtuoso (ASPLOS 2025) for recorded programs (docs/explain/faults.md).

The studies write the tables of one program (failures are rows of shares), costs, and verdicts.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import write_csv
from tessera.core.platforms import Platform
from tessera.core.results.os_tables import (
    FAULT_SHARES,
    FAULT_TIME_COMBS,
    FAULT_TIMES,
    OF_PROGRAM,
    SIMULATOR_COSTS,
)
from tessera.core.results.outcomes import FAILED, OK, ok_rows
from tessera.core.results.table_io import frame_of, read_file
from tessera.core.scenarios import Scenario
from tessera.core.tables import print_table
from tessera.lab.faults.kinds import BATCH, KINDS, TABLE
from tessera.lab.faults.latencies import comb, quantiles
from tessera.lab.faults.recording import RECORDED
from tessera.lab.faults.virtuoso_claims import judge_claims
from tessera.lab.faults.virtuoso_runs import Woven, cost_rows, simulate_logs
from tessera.lab.faults.weave import file_of
from tessera.lab.studies.scenarios import decide, load_scenarios
from tessera.lab.study import Count, Inputs, Jobs, Names, Paths, Recording, Run, printed, study
from tessera.simulate import operating_system
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import FULL, Plan
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


def simulated_comb_rows(faults: pd.DataFrame) -> list[dict]:
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
SCENARIOS = ("thp-never", "thp-no-zero-page")


def show_shares(shares: pd.DataFrame, *_: pd.DataFrame) -> None:
    """Print parts of the runtime of each scenario."""
    rows = [
        (
            row.scenario, f"{row.faults:,}", f"{row.runtime_cycles:,.0f}", f"{row.fault_share:.1%}",
            f"{row.translation_share:.1%}", f"{row.kernel_cycles / row.faults:,.0f}" if row.faults else "",
        )
        for row in ok_rows(shares).itertuples()
    ]  # fmt: skip
    print_table(["scenario", "faults", "R", "in faults", "C of R", "cycles a fault"], rows, right=range(1, 6))


@study(*OF_PROGRAM, show=show_shares)
def virtuoso(
    run: Run,
    trace: Recording,
    platform: Platform,
    cache: CellCache,
    scenarios: Names = SCENARIOS,
    weave: Path = RECORDED,
    sampling: Plan = FULL,
    jobs: Jobs = 1,
) -> tuple[pd.DataFrame, ...]:
    """Simulate a program with the kernel work of its page faults: parts of its runtime.

    Writes shares.csv (Figures 1 and 3), latency.csv (quantiles of the faults' latencies, Figure 2) and
    combs.csv. A scenario that ends early, or that has a fault without a template, is a row with the reason.

    Example (after: tessera dev build imitation simulator tracer):
      ./run tessera lab run virtuoso trace=tests/traces/examples/phases.tst platform=haswell-sim \\
        --out /tmp/virtuoso

    Args:
        trace: trace with events (.tst), or info.json that the study `recording` wrote.
        platform: name or YAML file.
        scenarios: names or YAML files (tessera lab os list).
        weave: folder of recorded page faults.
        sampling: plan, or full (tessera simulate --help).
        jobs: threads of the simulator.
        cache: folder of finished simulations; default: .cache beside the tables.

    Raises:
        TesseraError: an unknown scenario, or a recording of faults that cannot be read.
    """
    asked, templates = load_scenarios(scenarios), file_of(weave)
    try:
        inputs = Inputs(trace.workload, trace.trace, platform, [], cache, sampling, jobs, run.say)
        rows = _rows(inputs, asked, templates)
    except TesseraError as error:  # of the recording: no scenario has a number
        rows = {FAULT_SHARES.name: [_failed(one.name, error.one_line) for one in asked]}
    head = {"workload": trace.workload, "platform": platform.name, "provenance": "simulated"}
    return tuple(frame_of(table, [head | row for row in rows.get(table.name, [])]) for table in OF_PROGRAM)


def _rows(inputs: Inputs, asked: Sequence[Scenario], weave: bytes) -> dict[str, list[dict]]:
    """Rows by the name of the table."""
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = decide(inputs.trace, asked, Path(name), inputs.say)
        good = [one for one in decided if not one.problem]
        kinds = {one.name: _kinds(one.log) for one in good}
        simulated = simulate_logs(replace(inputs, files=[one.log for one in good]), weave)
    woven = {one.name: done for one, done in zip(good, simulated, strict=True)}
    rows: dict[str, list[dict]] = {table.name: [] for table in OF_PROGRAM}
    for one in decided:
        done = woven.get(one.name, Woven(problem=one.problem))
        if done.problem:
            rows[FAULT_SHARES.name].append(_failed(one.name, done.problem))
            continue
        rows[FAULT_SHARES.name].append(_row(one.name, done, kinds[one.name]))
        faults, head = frame_of_faults(done.faults), {"scenario": one.name}
        times = quantile_rows(faults, _hertz(inputs.platform))
        rows[FAULT_TIMES.name] += [head | row for row in times]
        rows[FAULT_TIME_COMBS.name] += [head | row for row in simulated_comb_rows(faults)]
    return rows


def show_costs(table: pd.DataFrame) -> None:
    """Print seconds and ratios of each scenario."""
    columns = {
        "plain_seconds": "s", "woven_seconds": "s woven", "slowdown": "slowdown",
        "instruction_ratio": "instr.", "time_per_instruction_ratio": "time/instr.",
        "access_ratio": "accesses", "time_per_access_ratio": "time/access", "memory_ratio": "memory",
    }  # fmt: skip
    rows = [(row["scenario"], *(f"{row[name]:.2f}" for name in columns)) for row in table.to_dict("records")]
    print_table(["scenario", *columns.values()], rows, right=range(1, len(columns) + 1))


@study(SIMULATOR_COSTS, show=show_costs)
def costs(
    run: Run,
    trace: Recording,
    platform: Platform,
    scenarios: Names = SCENARIOS,
    weave: Path = RECORDED,
    sampling: Plan = FULL,
    repeats: Count = 5,
) -> pd.DataFrame:
    """Measure time and memory of the simulator with and without the kernel work of page faults.

    Writes simulator.csv (Figures 11 and 12): processor seconds, bytes, and ratios. Other programs on the
    machine change the numbers; runs alternate, and the table has medians. Nothing comes from a cache.

    Example (after: tessera dev build imitation simulator tracer):
      ./run tessera lab run virtuoso-costs trace=tests/traces/examples/phases.tst platform=haswell-sim \\
        --out /tmp/virtuoso

    Args:
        trace: trace with events (.tst), or info.json that the study `recording` wrote.
        platform: name or YAML file.
        scenarios: names or YAML files (tessera lab os list).
        weave: folder of recorded page faults.
        sampling: plan, or full (tessera simulate --help).
        repeats: runs with and without the kernel's work, in alternation.

    Raises:
        TesseraError: as :func:`virtuoso`; the recording failed, or a scenario cannot be simulated.
    """
    asked, templates = load_scenarios(scenarios), file_of(weave)
    with tempfile.TemporaryDirectory(prefix="tessera-virtuoso-") as name:
        decided = decide(trace.trace, asked, Path(name), run.say)
        if bad := [one for one in decided if one.problem]:
            raise TesseraError(f"cost of scenario {bad[0].name}", bad[0].problem, "leave the scenario out")
        logs = [one.log for one in decided]
        inputs = Inputs(trace.workload, trace.trace, platform, logs, CellCache(None), sampling, say=run.say)
        rows = cost_rows(inputs, templates, repeats, Path(name))
    return frame_of(SIMULATOR_COSTS, [inputs.pair | row for row in rows])


@study(show=printed(3, without=("provenance", "statement")))
def judge(run: Run, tables: Paths) -> pd.DataFrame:
    """Compare simulated programs with numbers that Virtuoso prints.

    Means agree within half of the printed value; bounds and directions are taken as printed. The scenario
    thp-no-zero-page decides. Writes virtuoso.csv.

    Example: ./run tessera lab run virtuoso-judge tables=/tmp/virtuoso --out /tmp/virtuoso

    Args:
        tables: folders that the study `virtuoso` wrote.
    """
    found = judge_claims(
        pd.concat([read_file(FAULT_SHARES, folder / FAULT_SHARES.file) for folder in tables])
    )
    write_csv(found, run.file("virtuoso.csv"))
    return found


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
