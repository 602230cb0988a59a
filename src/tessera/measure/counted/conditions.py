"""The conditions of a measurement after its last run: those of before, and those that only runs show."""

from __future__ import annotations

from collections.abc import Sequence

from tessera.bundles.numbers import R
from tessera.machine.environment import Condition, RunFacts, judge, throttles
from tessera.measure.counted import turns
from tessera.measure.counted.here import Here, bound
from tessera.measure.counted.plan import Plan
from tessera.measure.counted.rounds import Measurement

#: Quantity -> field of the facts of a run.
_FIELDS = {
    "R time": "task_clock_ns", "page faults": "page_faults", "migrations": "migrations",
    R: "cycles", "R reference cycles": "ref_cycles",
}  # fmt: skip


def judged(done: Measurement, before: Sequence[Condition], kept: Plan, where: Here) -> list[Condition]:
    """Rows of ``environment.csv``. A launcher confirms the pages of every run that is ok."""
    found = [run_facts(done, run) for run in done.runs if run.good]
    return [*before, *judge(found, kept.throttles, throttles(where.root))]


def run_facts(done: Measurement, run) -> RunFacts:
    """A run's numbers by role. A program that is bound to one processor does not migrate."""
    events = done.passes[run.pass_name]
    numbers = {name: turns.value(done.counts[run.run], events, role) for role, name in _FIELDS.items()}
    if numbers["migrations"] is None and bound(done.setting.binding):
        numbers["migrations"] = 0
    return RunFacts(
        str(run.run), run.workload, run.layout, roi_ns=run.roi_ns, pages_confirmed=True, **numbers
    )
