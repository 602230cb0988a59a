"""Checks of counts and runs: relations that hold on every processor, and between runs of a bundle."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import zip_longest

import numpy as np

from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB, Layout
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.outcomes import is_ok
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.machine.counters.event import LATE_NS, LATE_SHARE
from tessera.machine.counters.event_table import SIDES
from tessera.measure.bundles.bundle import REGION, Bundle, EventCount, MeasuredRun
from tessera.measure.bundles.cell_arithmetic import (
    INSTRUCTIONS,
    LARGEST_SPREAD,
    R,
    cells_text,
    rows_of_bundle,
)
from tessera.measure.bundles.head_checks import measurement_protocols

# Relations that counts of one run, one round or one workload have on every processor.

REFERENCE, TASK_CLOCK = "R reference cycles", "R time"
#: Between two clocks, or two counters that start one after the other.
CLOCK_SHARE, CLOCK_NS = 0.01, 5_000_000
SKEW_SHARE, SKEW_COUNT = 0.01, 50_000
#: Clock rates that a processor can have, in cycles per ns, and instructions in a cycle.
LEAST_RATE, MOST_RATE = 0.1, 8.0
MOST_INSTRUCTIONS = 12
_SIZES = ("4KB", "2MB", "1GB")


def check_whole(bundle: Bundle) -> Iterator[str]:
    """Every event was on a counter all the time: at most 10 us or 0.1% are missing."""
    counts = bundle.counts
    enabled, running, clock = counts.enabled_ns, counts.running_ns, _is_region(bundle)
    lost = enabled - running
    partly = (running > enabled) | ((lost > LATE_NS) & (lost > LATE_SHARE * enabled))
    for run, count in _counts_where(
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


def check_region_clocks(bundle: Bundle) -> Iterator[str]:
    """Region roi: clocks of program and launcher agree within 1% and 5 ms; events were enabled no longer."""
    counts, clock = bundle.counts, _is_region(bundle)
    without = np.setdiff1d(counts.runs, np.repeat(counts.runs, counts.sizes)[clock])
    if len(without) and clock.any():
        yield f"run {without[0]}: {REGION} is missing, other runs have it"
    if bundle.about.region != "roi":
        return
    roi = bundle.roi_ns[bundle.place_of_count]
    most, least = roi * (1 + CLOCK_SHARE) + CLOCK_NS, roi * (1 - CLOCK_SHARE) - CLOCK_NS
    apart = (counts.value < least) | (counts.value > most)
    for run, count in _counts_where(bundle, np.where(clock, apart, counts.enabled_ns > most)):
        if count.event == REGION:
            yield f"{_place(run, REGION)}: {count.value} ns, but roi_ns is {run.roi_ns}"
        else:
            yield f"{_place(run, count.event)}: enabled for {count.enabled_ns} ns of {run.roi_ns} ns"


def check_bounds(bundle: Bundle) -> Iterator[str]:
    """C <= walkers x R; cycles with a walk (A) <= R; A <= C <= walkers x A within 1% and 50,000."""
    found = bundle.counter_class
    walkers = found.walkers if found else None
    cycles = bundle.column(R)
    totals = {side: bundle.column(f"C {side}") for side in SIDES}
    walk = sum(np.maximum(total, 0) for total in totals.values())
    if walkers:
        for run, at in _runs_where(bundle, (cycles >= 0) & (walk > walkers * cycles)):
            yield f"{_place(run, 'C')}: {walk[at]} is more than {walkers} x R of {cycles[at]}"
    for side, total in totals.items():
        active = bundle.column(f"C active {side}")
        counted = (cycles >= 0) & (active >= 0)
        for run, at in _runs_where(bundle, counted & (active > cycles)):
            yield f"{_place(run, f'C active {side}')}: {active[at]} is more than R of {cycles[at]}"
        counted &= total >= 0
        for run, at in _runs_where(bundle, counted & (active > total * (1 + SKEW_SHARE) + SKEW_COUNT)):
            yield f"{_place(run, f'C active {side}')}: {active[at]} is more than C {side} of {total[at]}"
        most = walkers * active * (1 + SKEW_SHARE) + SKEW_COUNT if walkers else np.inf
        for run, at in _runs_where(bundle, counted & (total > most)):
            place = _place(run, f"C active {side}")
            yield f"{place}: C {side} of {total[at]} is more than {walkers} x {active[at]}"


def check_sizes(bundle: Bundle) -> Iterator[str]:
    """Counts by page size add up to the count of all sizes, within 5% and 50,000."""
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


def check_rates(bundle: Bundle) -> Iterator[str]:
    """0.1 to 8 cycles in a ns, at most 12 instructions in a cycle; region roi: at most one thread."""
    clock, cycles, executed = (bundle.column(role) for role in (TASK_CLOCK, R, INSTRUCTIONS))
    if bundle.about.region == "roi":
        roi = bundle.roi_ns
        for run, at in _runs_where(bundle, clock > roi * (1 + CLOCK_SHARE) + CLOCK_NS):
            yield f"{_place(run, TASK_CLOCK)}: {clock[at]} ns in {roi[at]} ns: more than one thread"
    for role in (R, REFERENCE):
        counted = bundle.column(role)
        rate = counted / np.maximum(clock, 1)
        impossible = (clock > 0) & (counted >= 0) & ~((rate >= LEAST_RATE) & (rate <= MOST_RATE))
        for run, at in _runs_where(bundle, impossible):
            yield f"{_place(run, role)}: {counted[at]} in {clock[at]} ns is no clock rate of a processor"
    for run, at in _runs_where(bundle, (cycles >= 0) & (executed > MOST_INSTRUCTIONS * cycles)):
        yield f"{_place(run, INSTRUCTIONS)}: {executed[at]} in {cycles[at]} cycles"
    for run, _ in _runs_where(bundle, clock == 0):
        yield f"{_place(run, TASK_CLOCK)}: 0 ns"


def check_instructions(bundle: Bundle) -> Iterator[str]:
    """Instructions of a workload differ by at most 0.1%."""
    rule = measurement_protocols().get(bundle.about.protocol)
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


def _counts_where(bundle: Bundle, wrong: np.ndarray) -> Iterator[tuple[MeasuredRun, EventCount]]:
    """The counts that a mask has, with their runs."""
    for at in np.flatnonzero(wrong):
        run = bundle.runs[bundle.place_of_count[at]]
        yield run, bundle.counts.row(run.run, int(at))


def _runs_where(bundle: Bundle, wrong: np.ndarray) -> Iterator[tuple[MeasuredRun, int]]:
    """The runs that a mask has, with their places."""
    for at in np.flatnonzero(wrong):
        yield bundle.runs[at], at


def _place(run: MeasuredRun, what: str) -> str:
    return f"run {run.run} ({run.workload}, {run.layout}, pass {run.pass_name}), {what}"


# Relations between runs: rounds are complete, pages are those of the layout, equal layouts agree.

#: 4KB pages of a program vary a little between its runs.
PAGES_SHARE, PAGES_COUNT = 0.01, 16


def check_rounds(bundle: Bundle) -> Iterator[str]:
    """In each round, every layout has a run of every pass, until a run fails."""
    passes = set(bundle.passes())
    for workload, layouts in bundle.by_workload.items():
        last = max((len(by_round) for by_round in layouts.values()), default=0)
        for layout, by_round in layouts.items():
            place = f"{workload}, {layout}"
            # The reader has checked that rounds of a layout are 0 to n - 1.
            ended = [number for number, runs in by_round.items() if not all(run.good for run in runs)]
            for number in by_round if ended else ():
                if number > ended[0]:
                    yield f"{place}: round {number} comes after a run that is not ok"
            for number, runs in by_round.items():
                missing = passes - {run.pass_name for run in runs}
                if missing and not (ended and number >= ended[0]):
                    yield f"{place}, round {number}: no run of {_some(missing)}"
            if not ended and len(by_round) < last:
                yield f"{place}: {len(by_round)} rounds; another layout of {workload} has {last}"


def _some(words: set[str]) -> str:
    few = sorted(words)[:5]
    return ", ".join(few) + (f" and {len(words) - len(few)} more" if len(words) > len(few) else "")


def check_workloads(bundle: Bundle) -> Iterator[str]:
    """Runs have the size of their workload, and the results of programs were verified."""
    for run in bundle.runs:
        wanted = bundle.workloads[run.workload].size
        if run.size != wanted:
            yield f"run {run.run}: size {run.size}; workloads.json has {wanted}"
        if run.good and run.roi_ns == 0:
            yield f"run {run.run}: roi_ns is 0"
    for workload in bundle.workloads.values():
        if not workload.verified:
            yield f"{workload.name}: the results of its runs were not verified"


def check_pages(bundle: Bundle) -> Iterator[str]:
    """Runs had the 2MB and 1GB pages of their layout, and no more 4KB pages than its pools have room for."""
    for (workload, name), by_round in bundle.rounds.items():
        layout = bundle.layouts[workload, name]
        huge = layout.pages(PAGE_2MB), layout.pages(PAGE_1GB)
        room = _room(layout)
        good = [run for runs in by_round.values() for run in runs if run.good]
        for run in good:
            place = f"run {run.run} ({workload}, {name})"
            if (run.pages_2mb, run.pages_1gb) != huge:
                yield (
                    f"{place}: {run.pages_2mb} pages of 2MB and {run.pages_1gb} of 1GB; its layout has"
                    f" {huge[0]} and {huge[1]}"
                )
            if room is not None and run.pages_4kb > room:
                yield f"{place}: {run.pages_4kb} pages of 4KB; its pools have room for {room}"
            first = good[0].pages_4kb
            if abs(run.pages_4kb - first) > PAGES_SHARE * first + PAGES_COUNT:
                yield f"{place}: {run.pages_4kb} pages of 4KB; run {good[0].run} had {first}"


def _room(layout: Layout) -> int | None:
    """4KB pages in all pools outside of huge windows; None if a pool has no size."""
    if not {window.pool for window in layout.windows} <= set(layout.pool_bytes) or not layout.pool_bytes:
        return None
    huge = sum(w.end - w.start for w in layout.windows if w.page_bytes != PAGE_4KB)
    return -(-(sum(layout.pool_bytes.values()) - huge) // PAGE_4KB)


def check_layouts(bundle: Bundle) -> Iterator[str]:
    """The same pools in a workload; growing-0, growing-8 and 1gb have one page size."""
    for workload, mine in bundle.layouts_by_workload.items():
        pools = {n: sorted(one.pool_bytes.items()) for n, one in mine.items() if n != ALL_1GB}
        first = min(pools, default="")
        yield from (
            f"{workload}: pools of {name} differ from those of {first}"
            for name in sorted(pools)
            if pools[name] != pools[first]
        )
        for name, page_bytes in ((ALL_4KB, PAGE_4KB), (ALL_2MB, PAGE_2MB), (ALL_1GB, PAGE_1GB)):
            if name in mine and any(window.page_bytes != page_bytes for window in mine[name].windows):
                yield f"{workload}: a window of {name} has pages of another size"


def check_equal_layouts(bundle: Bundle) -> Iterator[str]:
    """R of layouts with equal windows differs by at most 5%."""
    rule = measurement_protocols().get(bundle.about.protocol)
    if rule is None:
        return
    groups: dict[tuple, list[str]] = {}
    for (workload, name), layout in bundle.layouts.items():
        pools = tuple(sorted(layout.pool_bytes.items()))
        groups.setdefault((workload, pools, tuple(sorted(layout.windows))), []).append(name)
    table = _runtimes(bundle)
    for (workload, *_), names in groups.items():
        found = {name: table[workload, name] for name in names if table.get((workload, name))}
        if len(found) > 1:
            least, most = min(found, key=found.get), max(found, key=found.get)
            if found[most] - found[least] > rule.largest_runtime_spread * found[most]:
                yield (
                    f"{workload}: {least} and {most} have equal windows, but R of {found[least]} and"
                    f" {found[most]} cycles"
                )


def _runtimes(bundle: Bundle) -> dict[tuple[str, str], int]:
    if bundle.counter_class is None:
        return {}
    rows = rows_of_bundle(bundle)
    return {(row["workload"], row["layout"]): row["runtime_cycles"] for row in rows if is_ok(row)}


def check_cells(bundle: Bundle) -> Iterator[str]:
    """``cells.csv`` is what its runs and counts give, to the last digit; no cell failed by its counts."""
    if bundle.cells is None or bundle.counter_class is None:
        return
    rows = rows_of_bundle(bundle)
    if bundle.cells != (wanted := cells_text(rows)):
        yield from _first_difference(bundle.cells, wanted)
    for row in rows:
        runs = [run for by in bundle.rounds[row["workload"], row["layout"]].values() for run in by]
        if not is_ok(row) and all(run.good for run in runs):
            yield f"{row['workload']}, {row['layout']}: {row['message']}"


def _first_difference(found: str, wanted: str) -> Iterator[str]:
    """The first cell that differs."""
    try:
        tables = [csv.reader(io.StringIO(text)) for text in (found, wanted)]
        for number, lines in enumerate(zip_longest(*tables, fillvalue=[]), start=1):
            for column, (a, b) in enumerate(zip_longest(*lines, fillvalue="nothing")):
                if a != b:
                    name = CELLS.names[column] if column < len(CELLS.names) else f"cell {column + 1}"
                    here, there = a[:80] or "nothing", b or "nothing"
                    yield f"cells.csv line {number}, {name}: {here}; the counts give {there}"
                    return
    except csv.Error as error:
        yield f"cells.csv is not CSV: {error}"
        return
    yield "cells.csv has another form than Tessera writes"
