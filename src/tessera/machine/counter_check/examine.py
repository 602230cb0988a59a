"""All checks of this machine: software events, then each class of its cores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.machine.counter_check.known_programs import Counter, chase_proofs, software_rows
from tessera.machine.counter_check.opening import (
    OK,
    REFUSED,
    TYPE_SOFTWARE,
    UNPROVEN,
    CounterCheck,
    Kernel,
    failed_checks,
    opening_rows,
    scheduled_row,
)
from tessera.machine.counters import sysfs
from tessera.machine.counters.attributes import Attribute, attributes
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import INPUTS, CounterClass
from tessera.machine.counters.passes import OPTIONAL, Pass, counter_passes

_BUILD = "./run tessera dev build workloads"


def check_counters(
    cpu: Cpu | None,
    found: Sequence[CounterClass],
    kernel: Kernel,
    count: Counter,
    *,
    program: Path,
    mode: str = "u",
    root: Path = sysfs.ROOT,
) -> list[CounterCheck]:
    """Rows of all checks.

    Args:
        found: classes of the processor, as :func:`tessera.machine.counters.event_table.of_cpu` gives them.
        program: the built workload ``chase``; if it is missing, nothing is proved.
        root: where ``sys`` and ``proc`` are.
    """
    rows = software_rows(kernel, mode)
    if not found:
        name = str(cpu or "CPUID unknown")
        remedy = "add its class to src/tessera/machine/counters/pmu-events.csv (docs/reference/counters.md)"
        return [
            *rows,
            CounterCheck("", "opens", "class of the processor", "a known one", name, REFUSED, remedy),
        ]
    present = [one for one in found if sysfs.pmu_type(one.pmus, root)]
    for one in found:
        if one in present:
            with _on(sysfs.pmu_cpus(sysfs.pmu_type(one.pmus, root)[0], root)):
                rows += _class_rows(one, kernel, count, program, mode, root)
        else:
            rows.append(_no_pmu(one, needed=not present))
    return rows + [fact for one in found for fact in _facts(one, cpu, rows)]


def _no_pmu(found: CounterClass, needed: bool) -> CounterCheck:
    remedy = (
        "measure on bare metal, or let the hypervisor give the guest a PMU; then `sysctl "
        "kernel.perf_event_paranoid` decides who may count; logs of another machine: tessera measure import"
    )
    text = f"the kernel has none of: {', '.join(found.pmus)}"
    return CounterCheck(found.name, "opens", "PMU", "a PMU of the cores", text, REFUSED, remedy, needed)


def _facts(found: CounterClass, cpu: Cpu | None, rows: Sequence[CounterCheck]) -> Iterator[CounterCheck]:
    """How many events of H, M and C the class has: 0 of C on AMD (MICRO'20 VI-A).

    The table says so; it is ``ok`` only if this machine has counted what the table names.
    """
    counted = any(row.class_name == found.name and row.check == "scheduled" for row in rows)
    good = counted and not failed_checks(row for row in rows if row.class_name == found.name)
    status, remedy = (OK, "") if good else (UNPROVEN, "a machine on which the events of this class open")
    facts = {"processor": str(cpu or "unknown")}
    facts |= {f"events of {symbol}": str(len(found.sides(symbol))) for symbol in INPUTS}
    for subject, text in facts.items():
        yield CounterCheck(found.name, "fact", subject, "", text, status, remedy, needed=False)


def _class_rows(
    found: CounterClass, kernel: Kernel, count: Counter, program: Path, mode: str, root: Path
) -> list[CounterCheck]:
    """Opening, schedule and proof of each pass; an event of several passes is opened once."""
    rows: list[CounterCheck] = []
    seen: set[str] = set()
    for one in counter_passes(found, sysfs.counting_machine(root)):
        needed = not one.optional
        try:
            events = [e for e in attributes(one, found, root, mode=mode) if e.type != TYPE_SOFTWARE]
        except TesseraError as error:
            about = (found.name, "opens", f"pass {one.name}", "codes")
            rows.append(CounterCheck(*about, error.problem, REFUSED, error.remedy, needed))
            continue
        new = [event for event in events if event.role not in seen]
        seen |= {event.role for event in new}
        mine = opening_rows(kernel, found.name, new, needed)
        mine.append(scheduled_row(kernel, found.name, one.name, events, needed))
        rows += mine
        if all(row.status == OK for row in mine):
            rows += _proved(found, one, events, count, program)
    return rows


def _proved(
    found: CounterClass, one: Pass, events: Sequence[Attribute], count: Counter, program: Path
) -> list[CounterCheck]:
    """Proofs of a pass of H, M or C; no program is known for the other optional passes."""
    if one.optional in OPTIONAL:
        return []
    if not program.exists():
        text = f"{program.name} is not built"
        return [
            CounterCheck(found.name, "proof", f"pass {one.name}", "counts of chase", text, UNPROVEN, _BUILD)
        ]
    return chase_proofs(count, program, found.name, one.name, events, found.walkers)


@contextmanager
def _on(cpus: str) -> Iterator[None]:
    """Inside, this process and its children run on these processors (``0-7,16``); empty: on all."""
    if not cpus:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, before & sysfs.listed_numbers(cpus) or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
