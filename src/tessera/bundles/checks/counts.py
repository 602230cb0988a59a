"""Relations that counts of one run, one round or one workload have on every processor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tessera.bundles.model import REGION, Bundle, Count, Run
from tessera.bundles.numbers import INSTRUCTIONS, LARGEST_SPREAD, R
from tessera.bundles.protocol import protocols
from tessera.counters.classes import SIDES
from tessera.counters.event import LATE_NS, LATE_SHARE

REFERENCE, TASK_CLOCK = "R reference cycles", "R time"
#: Between two clocks, or two counters that start one after the other.
CLOCK_SHARE, CLOCK_NS = 0.01, 5_000_000
SKEW_SHARE, SKEW_COUNT = 0.01, 50_000
#: Clock rates that a processor can have, in cycles per ns, and instructions in a cycle.
LEAST_RATE, MOST_RATE = 0.1, 8.0
MOST_INSTRUCTIONS = 12
_SIZES = ("4KB", "2MB", "1GB")


def whole(bundle: Bundle) -> Iterator[str]:
    """Every event was on a counter for the whole time that it was enabled."""
    counts = bundle.counts
    enabled, running, clock = counts.enabled_ns, counts.running_ns, _is_region(bundle)
    lost = enabled - running
    partly = (running > enabled) | ((lost > LATE_NS) & (lost > LATE_SHARE * enabled))
    for run, count in _at(bundle, np.where(clock, (enabled != 0) | (running != 0), (enabled == 0) | partly)):
        place = _place(run, count.event)
        if count.event == REGION:
            yield f"{place}: a time has no enabled and running"
        elif count.enabled_ns == 0:
            yield f"{place}: never enabled"
        elif count.running_ns > count.enabled_ns:
            yield f"{place}: running {count.running_ns} ns is more than enabled {count.enabled_ns} ns"
        else:
            yield f"{place}: {count.enabled_ns - count.running_ns} of {count.enabled_ns} ns were not counted"


def region(bundle: Bundle) -> Iterator[str]:
    """The launcher's clock, the program's clock and the time that counters were enabled agree."""
    counts, clock = bundle.counts, _is_region(bundle)
    without = set(counts.run.tolist()) - set(counts.run[clock].tolist())
    if without and clock.any():
        yield f"run {min(without)}: {REGION} is missing, other runs have it"
    if bundle.about.region != "roi":
        return
    of_run = {run.run: run.roi_ns for run in bundle.runs if run.good}
    roi = np.array([of_run[run] for run in counts.run.tolist()], dtype=np.int64)
    most, least = roi * (1 + CLOCK_SHARE) + CLOCK_NS, roi * (1 - CLOCK_SHARE) - CLOCK_NS
    apart = (counts.value < least) | (counts.value > most)
    for run, count in _at(bundle, np.where(clock, apart, counts.enabled_ns > most)):
        if count.event == REGION:
            yield f"{_place(run, REGION)}: {count.value} ns, but roi_ns is {run.roi_ns}"
        else:
            yield f"{_place(run, count.event)}: enabled for {count.enabled_ns} ns of {run.roi_ns} ns"


def bounds(bundle: Bundle) -> Iterator[str]:
    """C <= walkers x R; cycles with a walk <= R, <= C, and C <= walkers x these cycles."""
    found = bundle.counter_class
    walkers = found.walkers if found else None
    for run in bundle.runs:
        counts = bundle.values_by_role(run)
        cycles = counts.get(R)
        if cycles is None:
            continue
        walk = sum(counts.get(f"C {side}", 0) for side in SIDES)
        if walkers and walk > walkers * cycles:
            yield f"{_place(run, 'C')}: {walk} is more than {walkers} x R of {cycles}"
        for side in SIDES:
            active, total = counts.get(f"C active {side}"), counts.get(f"C {side}")
            if active is None:
                continue
            place = _place(run, f"C active {side}")
            if active > cycles:
                yield f"{place}: {active} is more than R of {cycles}"
            if total is not None and active > total * (1 + SKEW_SHARE) + SKEW_COUNT:
                yield f"{place}: {active} is more than C {side} of {total}"
            if total is not None and walkers and total > walkers * active * (1 + SKEW_SHARE) + SKEW_COUNT:
                yield f"{place}: C {side} of {total} is more than {walkers} x {active}"


def sizes(bundle: Bundle) -> Iterator[str]:
    """Counts by page size add up to the count of all sizes, as far as two passes can agree."""
    found = bundle.counter_class
    if found is None:
        return
    usable = {event.quantity for event in found.events if event.usable}
    wholes = [f"{symbol} {side}" for symbol in "HM" for side in SIDES]
    split = {total: [f"{total} {size}" for size in _SIZES if f"{total} {size}" in usable] for total in wholes}
    for (workload, layout), by_round in bundle.rounds.items():
        for number, runs in by_round.items():
            counts = {role: value for run in runs for role, value in bundle.values_by_role(run).items()}
            for total, parts in split.items():
                if not parts or total not in counts or not all(part in counts for part in parts):
                    continue
                added = sum(counts[part] for part in parts)
                if abs(added - counts[total]) > float(LARGEST_SPREAD) * counts[total] + SKEW_COUNT:
                    yield (
                        f"{workload}, {layout}, round {number}: {total} is {counts[total]},"
                        f" but its page sizes add up to {added}"
                    )


def rates(bundle: Bundle) -> Iterator[str]:
    """Clock rates, instructions in a cycle and the number of processors are possible."""
    for run in bundle.runs:
        counts = bundle.values_by_role(run)
        clock, cycles = counts.get(TASK_CLOCK), counts.get(R)
        if clock is not None and clock > run.roi_ns * (1 + CLOCK_SHARE) + CLOCK_NS:
            if bundle.about.region == "roi":
                yield f"{_place(run, TASK_CLOCK)}: {clock} ns in {run.roi_ns} ns: more than one thread"
        for role in (R, REFERENCE):
            if clock and role in counts and not LEAST_RATE <= counts[role] / clock <= MOST_RATE:
                yield f"{_place(run, role)}: {counts[role]} in {clock} ns is no clock rate of a processor"
        if cycles is not None and counts.get(INSTRUCTIONS, 0) > MOST_INSTRUCTIONS * cycles:
            yield f"{_place(run, INSTRUCTIONS)}: {counts[INSTRUCTIONS]} in {cycles} cycles"
        if clock == 0:
            yield f"{_place(run, TASK_CLOCK)}: 0 ns"


def instructions(bundle: Bundle) -> Iterator[str]:
    """A workload executes the same instructions under each layout."""
    rule = protocols().get(bundle.about.protocol)
    if rule is None:
        return
    found: dict[str, list[tuple[int, Run]]] = {}
    for run in bundle.runs:
        if (value := bundle.values_by_role(run).get(INSTRUCTIONS)) is not None:
            found.setdefault(run.workload, []).append((value, run))
    for workload, values in found.items():
        least, most = min(values, key=lambda v: v[0]), max(values, key=lambda v: v[0])
        if most[0] - least[0] > rule.largest_instructions_spread * most[0]:
            yield (
                f"{workload}: {least[0]} in run {least[1].run} and {most[0]} in run {most[1].run}, more than"
                f" {rule.largest_instructions_spread:.1%} apart"
            )


def _is_region(bundle: Bundle) -> np.ndarray:
    """Which counts are the launcher's clock, not an event."""
    names = bundle.counts.names
    return bundle.counts.event == (names.index(REGION) if REGION in names else -1)


def _at(bundle: Bundle, wrong: np.ndarray) -> Iterator[tuple[Run, Count]]:
    """The counts that a mask has, with their runs."""
    counts, runs = bundle.counts, {}
    for at in np.flatnonzero(wrong):
        runs = runs or {run.run: run for run in bundle.runs}
        yield runs[int(counts.run[at])], counts.row(int(at))


def _place(run: Run, what: str) -> str:
    return f"run {run.run} ({run.workload}, {run.layout}, pass {run.pass_name}), {what}"
