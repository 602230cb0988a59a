"""One log simulated with and without the kernel's work of its faults, and what both cost the simulator."""

from __future__ import annotations

import csv
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.files import built
from tessera.core.platforms import set_values
from tessera.core.results.outcomes import FAILED, is_ok
from tessera.lab.study import Inputs
from tessera.simulate.inputs import LOG, file_bytes
from tessera.simulate.runner import simulate_all
from tessera.simulate.simulator import KERNEL, Simulation, run_simulator

# One log simulated twice: with the kernel's work of its faults in the program's stream, and without.
#
# Both runs have the same samples. The difference of their R is what faults cost, including lines and
# translations that the kernel's accesses displace; ``kernel_cycles`` is the time inside faults alone.

#: The kernel accesses pages by their frames.
FRAMES = {"memory.allocator": "mapped"}


@dataclass(frozen=True)
class Woven:
    """A log with its kernel work; without numbers if ``problem`` says why.

    Attributes:
        cell: row of the cells table.
        faultless_cycles: R if faults take no time.
        kernel: counts of the kernel's work (``tessera.simulate.simulator.KERNEL_COLUMNS``).
        faults: timed faults (``tessera.simulate.simulator.FAULT_TIME_COLUMNS``).
    """

    cell: dict = field(default_factory=dict)
    faultless_cycles: float | None = None
    kernel: dict = field(default_factory=dict)
    faults: list[dict] = field(default_factory=list)
    problem: str = ""


def simulate_logs(inputs: Inputs, weave: bytes) -> list[Woven]:
    """Each log of ``inputs.files`` with and without the kernel's work, in their order.

    Args:
        weave: templates of faults (:func:`tessera.lab.faults.weave.file_of`).
    """
    logs = list(inputs.files)
    if not logs:
        return []
    platform = set_values(inputs.platform, FRAMES)
    same = inputs.options | {"kind": LOG}
    kernel: list[list[dict]] = []
    times: list[list[dict]] = []
    try:
        (woven,) = simulate_all(
            inputs.trace, [platform], logs, weave=weave, kernel=kernel, fault_times=times, **same
        )
        (plain,) = simulate_all(inputs.trace, [platform], logs, **same)
    except TesseraError as error:
        return [Woven(problem=error.one_line) for _ in logs]
    counts = {row["layout"]: row for row in kernel[0]}
    faults: dict[str, list[dict]] = {}
    for row in times[0]:
        faults.setdefault(row["layout"], []).append(row)
    return [
        _woven(with_work, without, counts.get(log.stem, {}), faults.get(log.stem, []))
        for log, with_work, without in zip(logs, woven, plain, strict=True)
    ]


def _woven(with_work: dict, without: dict, kernel: dict, faults: list[dict]) -> Woven:
    for cell in (with_work, without):
        if not is_ok(cell):
            return Woven(cell={"status": FAILED}, problem=cell["message"])
    return Woven(with_work, without["runtime_cycles"], kernel, faults)


# Processor time and memory of the simulator itself, with and without the kernel's work (Figures 11 and 12).
#
# Every repeat simulates a log without and then with the work of its faults, by one thread and without the
# cache of cells, so that changes of the machine's speed meet both. The table has medians. They are measured:
# the same inputs give other numbers.

#: with the kernel's work? -> what columns of it begin with
PLAIN, WOVEN = "plain", "woven"


@dataclass(frozen=True)
class Taken:
    """A row of the simulator, and what its run took."""

    row: dict
    processor_seconds: float
    peak_memory_bytes: int


def cost_rows(inputs: Inputs, weave: bytes, repeats: int, folder: Path) -> list[dict]:
    """A row for each log of ``inputs.files``, its name that of the scenario; files go to ``folder``.

    Raises:
        TesseraError: the simulator refuses a log: no cost can be measured then.
    """
    rows = []
    for log in inputs.files:
        runs: dict[str, list[Taken]] = {PLAIN: [], WOVEN: []}
        for repeat in range(1, repeats + 1):
            for name, work in ((PLAIN, None), (WOVEN, weave)):
                inputs.say(f"{log.stem}: {name} run {repeat} of {repeats}")
                runs[name].append(_run(inputs, log, work, folder))
        rows.append({"scenario": log.stem, "repeats": repeats, "provenance": "measured"} | _costs(runs))
    return rows


def _run(inputs: Inputs, log: Path, weave: bytes | None, folder: Path) -> Taken:
    rows: list[dict] = []
    usage = folder / "usage.csv"
    job = Simulation(
        built("simulator", "tessera-sim"), inputs.trace, (set_values(inputs.platform, FRAMES),),
        inputs.options["engine"], inputs.sampling, kind=LOG, weave=weave, usage=usage,
    )  # fmt: skip
    run_simulator(job, {log: file_bytes(log, LOG)}, lambda _, __, row, *___: rows.append(row), inputs.say)
    (row,) = rows
    if not is_ok(row):
        raise TesseraError(
            f"cost of scenario {log.stem}", row["message"], "leave the scenario out", exit_code=EXIT_FAILED
        )
    with usage.open() as stream:
        (used,) = csv.DictReader(stream)
    return Taken(row, float(used["processor_seconds"]), int(used["peak_memory_bytes"]))


def _costs(runs: dict[str, list[Taken]]) -> dict:
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
