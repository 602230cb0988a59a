"""Conditions that only runs can show: judged from numbers of the runs, for one run or for all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.machine.environment.condition import (
    BARS,
    DIFFERS,
    NOTED,
    OK,
    UNKNOWN,
    Condition,
    SystemFiles,
    UnreadableFact,
)
from tessera.machine.environment.processor import CPUS

LEAST_RUNNING = 0.99  #: task-clock over the time of the region
NO_THROTTLE_COUNTS = "the kernel has no counts of thermal_throttle"
MOST_SPREAD = 0.01  #: of cycles over reference cycles or task-clock, between the layouts of a workload


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Numbers of one run, all of the region that was counted; None: not counted.

    Attributes:
        run: name for messages, such as ``17``.
        roi_ns: clock time of the region, ns.
        task_clock_ns: time in which the program had a processor, ns.
        page_faults, migrations: software events.
        cycles, ref_cycles: hardware events of this run's pass.
        pages_confirmed: whether the allocator confirmed the pages of the layout.
    """

    run: str
    workload: str
    layout: str
    roi_ns: int | None = None
    task_clock_ns: int | None = None
    page_faults: int | None = None
    migrations: int | None = None
    cycles: int | None = None
    ref_cycles: int | None = None
    pages_confirmed: bool | None = None


@dataclass(frozen=True)
class _RunRule:
    """``read`` gives (met, found); None if the run lacks a number."""

    check: str
    wanted: str
    remedy: str
    read: Callable[[RunFacts], tuple[bool, str] | None]


def _count(value: int | None) -> tuple[bool, str] | None:
    return None if value is None else (value == 0, str(value))


def _confirmed(run: RunFacts) -> tuple[bool, str] | None:
    if run.pages_confirmed is None:
        return None
    return run.pages_confirmed, "confirmed" if run.pages_confirmed else "other pages than the layout has"


def _running(run: RunFacts) -> tuple[bool, str] | None:
    if run.task_clock_ns is None or not run.roi_ns:
        return None
    share = run.task_clock_ns / run.roi_ns
    return share >= LEAST_RUNNING, f"{share:.4f}"


_RULES = (
    _RunRule(
        "pages-obtained",
        "pages of the layout confirmed",
        "reserve the pages: ./run --reserve ...; then measure again",
        _confirmed,
    ),
    _RunRule(
        "migrations",
        "0 in the region",
        "bind the run: numactl -N 0 -m 0, or taskset -c CPU",
        lambda run: _count(run.migrations),
    ),
    _RunRule(
        "running",
        f"task-clock >= {LEAST_RUNNING} of the region's time",
        "stop other programs, then measure again",
        _running,
    ),
    _RunRule(
        "faults",
        "0 page faults in the region",
        "let the program touch its memory before the region begins",
        lambda run: _count(run.page_faults),
    ),
)

#: Names of the conditions that :func:`run_conditions` adds to those of :data:`preparation.CHECKS`.
RUN_CHECKS = (*(rule.check for rule in _RULES), "frequency", "heat")


def run_conditions(
    runs: Sequence[RunFacts], throttles_before: int | None, throttles_after: int | None
) -> list[Condition]:
    """The conditions of all runs, in the order of :data:`RUN_CHECKS`: met if each run meets them.

    Args:
        throttles_before, throttles_after: :func:`throttles` before the first and after the last run.
    """
    return [
        *(_over(runs, rule) for rule in _RULES),
        _frequency(runs),
        _heat(throttles_before, throttles_after),
    ]


def _over(runs: Sequence[RunFacts], rule: _RunRule) -> Condition:
    """Differs if one run does; else unknown if one run lacks the number."""
    read = [(run, rule.read(run)) for run in runs]
    wrong = [(run, reading[1]) for run, reading in read if reading and not reading[0]]
    lacking = [run for run, reading in read if reading is None]
    if wrong:
        run, found = wrong[0]
        text = f"{found} in {_named(run)}; {len(wrong)} of {len(runs)} runs differ"
        return Condition(rule.check, BARS, rule.wanted, text, DIFFERS, rule.remedy)
    if lacking or not runs:
        text = f"not counted in {_named(lacking[0])}" if lacking else "no run"
        return Condition(rule.check, BARS, rule.wanted, text, UNKNOWN, rule.remedy)
    return Condition(rule.check, BARS, rule.wanted, f"{_values(read)} in {len(runs)} runs", OK)


def _values(read: Iterable) -> str:
    """The values of all runs, at most the first and the last in their order."""
    values = sorted({reading[1] for _, reading in read})
    return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"


def _named(run: RunFacts) -> str:
    return f"run {run.run} ({run.workload}, {run.layout})"


def _frequency(runs: Sequence[RunFacts]) -> Condition:
    """Cycles over reference cycles: the mean of each layout, compared within a workload.

    Zen 1 to 3 count no reference cycles for a program. Then task-clock stands in, which also runs in the
    kernel's mode: in a region without faults that is less than the spread that is allowed.
    """
    remedy = "tessera measure environment --fix (governor), or also --no-turbo; then measure again"
    bases = {run.workload: "task_clock_ns" for run in runs}
    bases |= {run.workload: "ref_cycles" for run in runs if run.ref_cycles}
    base_name = "ref-cycles" if "ref_cycles" in bases.values() or not bases else "task-clock"
    wanted = f"cycles/{base_name} within {MOST_SPREAD:.0%} over the layouts of a workload"
    ratios: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        found, base = ratios[run.workload][run.layout], getattr(run, bases[run.workload])
        if run.cycles and base:
            found.append(run.cycles / base)
    if not ratios:
        return Condition("frequency", BARS, wanted, "no run", UNKNOWN, remedy)
    lacking = [f"{w}, {layout}" for w, found in ratios.items() for layout in found if not found[layout]]
    spreads = []
    for workload, layouts in ratios.items():
        means = [sum(values) / len(values) for values in layouts.values() if values]
        if means:
            spreads.append((max(means) / min(means), workload))
    spread, workload = max(spreads, default=(1.0, ""))
    if spread > 1 + MOST_SPREAD:
        return Condition("frequency", BARS, wanted, f"{spread - 1:.2%} ({workload})", DIFFERS, remedy)
    if lacking:
        found = f"neither reference cycles nor task-clock in {lacking[0]}; {len(lacking)} layouts lack them"
        return Condition("frequency", BARS, wanted, found, UNKNOWN, remedy)
    return Condition("frequency", BARS, wanted, f"{spread - 1:.2%} ({workload})", OK)


def throttles(root: Path = Path("/")) -> int | None:
    """Thermal throttling since boot, added up over processors and packages; None if the kernel shows none."""
    tree = SystemFiles(Path(root))
    names = tree.names(f"{CPUS}/cpu[0-9]*/thermal_throttle/*_throttle_count")
    try:
        return sum(map(tree.number, names)) if names else None
    except UnreadableFact:
        return None


def _heat(before: int | None, after: int | None) -> Condition:
    """Only noted where the kernel counts no throttling, as on AMD's processors: `frequency` shows it, too."""
    wanted = "thermal_throttle unchanged"
    remedy = "cool the machine, or turn turbo off (--no-turbo); then measure again"
    if before is None and after is None:
        return Condition("heat", NOTED, wanted, NO_THROTTLE_COUNTS, UNKNOWN, remedy)
    if before is None or after is None:
        text = f"no counts of thermal_throttle {'before' if before is None else 'after'} the runs"
        return Condition("heat", BARS, wanted, text, UNKNOWN, remedy)
    if before != after:
        return Condition("heat", BARS, wanted, f"{before} before, {after} after", DIFFERS, remedy)
    return Condition("heat", BARS, wanted, f"{before} before and after", OK)
