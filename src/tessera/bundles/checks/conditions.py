"""The conditions of the environment: all are recorded, and those of runs follow from the counts.

:func:`bars` lists what keeps a correct bundle from deciding claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tessera.bundles.model import Bundle
from tessera.bundles.names import SLIDING_WINDOWS
from tessera.bundles.protocol import CURRENT, protocols
from tessera.machine.environment import CHECKS, RUN_CHECKS, RunFacts, judge
from tessera.machine.environment.condition import BARS, NOTED, OK, UNKNOWN, Condition, barring, stopping
from tessera.machine.environment.examine import RULES
from tessera.machine.environment.runs import NO_THROTTLE_COUNTS

#: Conditions of runs that counts say nothing about.
_NOT_COUNTED = ("pages-obtained", "heat")
COUNTING = "counting"  #: whether the measuring process may open events; perf may have other rights


def environment(bundle: Bundle) -> Iterator[str]:
    """Each condition is recorded once with its level; those that runs need are met."""
    here = {one.check: one for one in bundle.environment}
    levels = {rule.check: rule.level for rule in RULES}
    from_runs = {one.check: one for one in of_runs(bundle)}
    levels |= {name: one.level for name, one in from_runs.items()}
    levels |= {"heat": _level_of_heat(here), SLIDING_WINDOWS: NOTED}
    for name in (*CHECKS, *RUN_CHECKS):
        if name not in here:
            yield f"condition {name} is missing"
    if SLIDING_WINDOWS not in here and any(name.startswith("sliding-") for _, name in bundle.layouts):
        yield f"condition {SLIDING_WINDOWS} is missing"
    for name, one in here.items():
        if name not in levels:
            yield f"condition {name} is not known"
        elif one.level != levels[name]:
            yield f"{name}: level {one.level}; it is {levels[name]}"
        if (one.status == OK) != (one.remedy == ""):
            yield f"{name}: a remedy stands in conditions that are not met, and only there"
        if not one.wanted or not one.found:
            yield f"{name}: wanted or found is empty"
        made = from_runs.get(name)
        if made is None or name in _NOT_COUNTED or made.status == UNKNOWN:
            continue
        if made.status != one.status:
            yield f"{name}: {one.status}; the counts say {made.status}: {made.found}"
        if made.wanted != one.wanted:
            yield f"{name}: wanted '{one.wanted}'; it is '{made.wanted}'"
    for one in stopping(bundle.environment):
        if one.check == COUNTING and bundle.about.counter == "perf":
            continue
        yield f"{one.check} is {one.status} ({one.found}): without it no run can be counted"


def _level_of_heat(conditions: Mapping[str, Condition]) -> str:
    """It bars, but where the kernel has no counts of throttling."""
    heat = conditions.get("heat")
    uncounted = heat is not None and (heat.status, heat.found) == (UNKNOWN, NO_THROTTLE_COUNTS)
    return NOTED if uncounted else BARS


def of_runs(bundle: Bundle) -> list[Condition]:
    """The conditions that follow from runs and counts."""
    roles = ("R time", "page faults", "migrations", "R cycles", "R reference cycles")
    counts = zip(*(bundle.column(role) for role in roles), strict=True)
    facts = [
        RunFacts(str(run.run), run.workload, run.layout, run.roi_ns, *map(_counted, of_run))
        for run, of_run in zip(bundle.runs, counts, strict=True)
        if run.good
    ]
    return judge(facts, None, None)


def _counted(value: int) -> int | None:
    return None if value < 0 else int(value)


def with_runs(bundle: Bundle, conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions, with those that follow from the runs of this bundle as its counts say."""
    counted = {one.check: one for one in of_runs(bundle) if one.check not in _NOT_COUNTED}
    return [
        counted[one.check] if one.check in counted and counted[one.check].status != UNKNOWN else one
        for one in conditions
    ]


def bars(bundle: Bundle) -> list[str]:
    """Reasons why this bundle decides no claim, even if every check passes; empty if it may."""
    found = []
    if bundle.about.rehearsal:
        found.append("rehearsal: its counts were simulated")
    rule = protocols().get(bundle.about.protocol)
    if rule is not None and not rule.current:
        found.append(f"protocol {rule.name} is older than {CURRENT}: it is joined to no other bundle")
    found += [f"{one.check} {one.status}: {one.found}" for one in barring(bundle.environment)]
    if rule is not None:
        for workload, layouts in bundle.by_workload.items():
            good = [
                sum(all(run.good for run in runs) for runs in by_round.values())
                for by_round in layouts.values()
            ]
            if good and max(good) < rule.rounds[0]:
                found.append(f"{workload}: {max(good)} rounds; {rule.name} needs {rule.rounds[0]}")
    return found
