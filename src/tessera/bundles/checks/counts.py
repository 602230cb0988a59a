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
    for run, count in _counts(
        bundle, np.where(clock, (enabled != 0) | (running != 0), (enabled == 0) | partly)
    ):
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
    without = np.setdiff1d(counts.runs, np.repeat(counts.runs, counts.sizes)[clock])
    if len(without) and clock.any():
        yield f"run {without[0]}: {REGION} is missing, other runs have it"
    if bundle.about.region != "roi":
        return
    roi = bundle.roi_ns[bundle.place_of_count]
    most, least = roi * (1 + CLOCK_SHARE) + CLOCK_NS, roi * (1 - CLOCK_SHARE) - CLOCK_NS
    apart = (counts.value < least) | (counts.value > most)
    for run, count in _counts(bundle, np.where(clock, apart, counts.enabled_ns > most)):
        if count.event == REGION:
            yield f"{_place(run, REGION)}: {count.value} ns, but roi_ns is {run.roi_ns}"
        else:
            yield f"{_place(run, count.event)}: enabled for {count.enabled_ns} ns of {run.roi_ns} ns"


def bounds(bundle: Bundle) -> Iterator[str]:
    """C <= walkers x R; cycles with a walk <= R, <= C, and C <= walkers x these cycles."""
    found = bundle.counter_class
    walkers = found.walkers if found else None
    cycles = bundle.column(R)
    totals = {side: bundle.column(f"C {side}") for side in SIDES}
    walk = sum(np.maximum(total, 0) for total in totals.values())
    if walkers:
        for run, at in _runs(bundle, (cycles >= 0) & (walk > walkers * cycles)):
            yield f"{_place(run, 'C')}: {walk[at]} is more than {walkers} x R of {cycles[at]}"
    for side, total in totals.items():
        active = bundle.column(f"C active {side}")
        counted = (cycles >= 0) & (active >= 0)
        for run, at in _runs(bundle, counted & (active > cycles)):
            yield f"{_place(run, f'C active {side}')}: {active[at]} is more than R of {cycles[at]}"
        counted &= total >= 0
        for run, at in _runs(bundle, counted & (active > total * (1 + SKEW_SHARE) + SKEW_COUNT)):
            yield f"{_place(run, f'C active {side}')}: {active[at]} is more than C {side} of {total[at]}"
        most = walkers * active * (1 + SKEW_SHARE) + SKEW_COUNT if walkers else np.inf
        for run, at in _runs(bundle, counted & (total > most)):
            place = _place(run, f"C active {side}")
            yield f"{place}: C {side} of {total[at]} is more than {walkers} x {active[at]}"


def sizes(bundle: Bundle) -> Iterator[str]:
    """Counts by page size add up to the count of all sizes, as far as two passes can agree."""
    found = bundle.counter_class
    if found is None:
        return
    usable = {event.quantity for event in found.events if event.usable}
    wholes = [f"{symbol} {side}" for symbol in "HM" for side in SIDES]
    split = {total: [f"{total} {size}" for size in _SIZES if f"{total} {size}" in usable] for total in wholes}
    wanted = {role for total, parts in split.items() if parts for role in (total, *parts)}
    useful = {name for (name, _), role in bundle.roles.items() if role in wanted}
    for (workload, layout), by_round in bundle.rounds.items():
        for number, runs in by_round.items():
            mine = [bundle.values_by_role(run) for run in runs if run.pass_name in useful]
            counts = {role: value for values in mine for role, value in values.items()}
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
    clock, cycles, executed = (bundle.column(role) for role in (TASK_CLOCK, R, INSTRUCTIONS))
    if bundle.about.region == "roi":
        roi = bundle.roi_ns
        for run, at in _runs(bundle, clock > roi * (1 + CLOCK_SHARE) + CLOCK_NS):
            yield f"{_place(run, TASK_CLOCK)}: {clock[at]} ns in {roi[at]} ns: more than one thread"
    for role in (R, REFERENCE):
        counted = bundle.column(role)
        rate = counted / np.maximum(clock, 1)
        impossible = (clock > 0) & (counted >= 0) & ~((rate >= LEAST_RATE) & (rate <= MOST_RATE))
        for run, at in _runs(bundle, impossible):
            yield f"{_place(run, role)}: {counted[at]} in {clock[at]} ns is no clock rate of a processor"
    for run, at in _runs(bundle, (cycles >= 0) & (executed > MOST_INSTRUCTIONS * cycles)):
        yield f"{_place(run, INSTRUCTIONS)}: {executed[at]} in {cycles[at]} cycles"
    for run, _ in _runs(bundle, clock == 0):
        yield f"{_place(run, TASK_CLOCK)}: 0 ns"


def instructions(bundle: Bundle) -> Iterator[str]:
    """A workload executes the same instructions under each layout."""
    rule = protocols().get(bundle.about.protocol)
    if rule is None:
        return
    executed = bundle.column(INSTRUCTIONS)
    numbers = {workload: at for at, workload in enumerate(bundle.workloads)}
    of_run = np.array([numbers[run.workload] for run in bundle.runs], np.int32)
    for workload, number in numbers.items():
        mine = np.flatnonzero((of_run == number) & (executed >= 0))
        if not len(mine):
            continue
        least, most = mine[executed[mine].argmin()], mine[executed[mine].argmax()]
        if executed[most] - executed[least] > rule.largest_instructions_spread * executed[most]:
            yield (
                f"{workload}: {executed[least]} in run {bundle.runs[least].run} and {executed[most]} in run"
                f" {bundle.runs[most].run}, more than {rule.largest_instructions_spread:.1%} apart"
            )


def _is_region(bundle: Bundle) -> np.ndarray:
    """Which counts are the launcher's clock, not an event."""
    names = bundle.counts.names
    return bundle.counts.event == (names.index(REGION) if REGION in names else -1)


def _counts(bundle: Bundle, wrong: np.ndarray) -> Iterator[tuple[Run, Count]]:
    """The counts that a mask has, with their runs."""
    for at in np.flatnonzero(wrong):
        run = bundle.runs[bundle.place_of_count[at]]
        yield run, bundle.counts.row(run.run, int(at))


def _runs(bundle: Bundle, wrong: np.ndarray) -> Iterator[tuple[Run, int]]:
    """The runs that a mask has, with their places."""
    for at in np.flatnonzero(wrong):
        yield bundle.runs[at], at


def _place(run: Run, what: str) -> str:
    return f"run {run.run} ({run.workload}, {run.layout}, pass {run.pass_name}), {what}"
