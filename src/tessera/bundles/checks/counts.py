"""Relations that counts of one run, one round or one workload have on every processor."""

from __future__ import annotations

from collections.abc import Iterator

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
    for run, count in _all(bundle):
        place = _place(run, count.event)
        if count.event == REGION:
            if count.enabled_ns or count.running_ns:
                yield f"{place}: a time has no enabled and running"
        elif count.enabled_ns == 0:
            yield f"{place}: never enabled"
        elif count.running_ns > count.enabled_ns:
            yield f"{place}: running {count.running_ns} ns is more than enabled {count.enabled_ns} ns"
        else:
            lost = count.enabled_ns - count.running_ns
            if lost > LATE_NS and lost > LATE_SHARE * count.enabled_ns:
                yield f"{place}: {lost} of {count.enabled_ns} ns were not counted"


def region(bundle: Bundle) -> Iterator[str]:
    """The launcher's clock, the program's clock and the time that counters were enabled agree."""
    have = {run: any(c.event == REGION for c in counts) for run, counts in bundle.counts.items()}
    if len(set(have.values())) > 1:
        yield f"run {min(run for run in have if not have[run])}: {REGION} is missing, other runs have it"
    if bundle.about.region != "roi":
        return
    for run, count in _all(bundle):
        most = run.roi_ns * (1 + CLOCK_SHARE) + CLOCK_NS
        if count.event == REGION:
            if not run.roi_ns * (1 - CLOCK_SHARE) - CLOCK_NS <= count.value <= most:
                yield f"{_place(run, REGION)}: {count.value} ns, but roi_ns is {run.roi_ns}"
        elif count.enabled_ns > most:
            yield f"{_place(run, count.event)}: enabled for {count.enabled_ns} ns of {run.roi_ns} ns"


def bounds(bundle: Bundle) -> Iterator[str]:
    """C <= walkers x R; cycles with a walk <= R, <= C, and C <= walkers x these cycles."""
    found = bundle.counter_class
    walkers = found.walkers if found else None
    for run in bundle.runs:
        counts = {role: count.value for role, count in bundle.counts_by_role(run).items()}
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
            counts = {role: c.value for run in runs for role, c in bundle.counts_by_role(run).items()}
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
        counts = {role: count.value for role, count in bundle.counts_by_role(run).items()}
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
        if (count := bundle.counts_by_role(run).get(INSTRUCTIONS)) is not None:
            found.setdefault(run.workload, []).append((count.value, run))
    for workload, values in found.items():
        least, most = min(values, key=lambda v: v[0]), max(values, key=lambda v: v[0])
        if most[0] - least[0] > rule.largest_instructions_spread * most[0]:
            yield (
                f"{workload}: {least[0]} in run {least[1].run} and {most[0]} in run {most[1].run}, more than"
                f" {rule.largest_instructions_spread:.1%} apart"
            )


def _all(bundle: Bundle) -> Iterator[tuple[Run, Count]]:
    for run in bundle.runs:
        for count in bundle.counts.get(run.run, ()):
            yield run, count


def _place(run: Run, what: str) -> str:
    return f"run {run.run} ({run.workload}, {run.layout}, pass {run.pass_name}), {what}"
