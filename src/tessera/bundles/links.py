"""References between the files of a bundle: runs to passes, layouts and workloads, counts to runs."""

from __future__ import annotations

from collections.abc import Iterable

from tessera.bundles import limits, names
from tessera.bundles.model import REGION, Bundle, Run
from tessera.bundles.wrong import shown, wrong


def check(bundle: Bundle) -> None:
    """Raises TesseraError (``bundle-link`` or ``bundle-twice``) at the first wrong reference."""
    _once(names.ENVIRONMENT, [answer.check for answer in bundle.environment])
    if len(bundle.passes_by_name) > limits.PASSES:
        raise limits.too_large(names.EVENTS, f"more than {limits.PASSES} passes")
    for name, events in bundle.passes().items():
        _once(f"{names.EVENTS}, pass {name}", [event.name for event in events])
        _once(f"{names.EVENTS}, pass {name}", [event.role for event in events])
        if any(event.name == REGION for event in events):
            raise wrong(f"{names.EVENTS}, pass {name}", f"no event has the name {REGION}", "link")
    _once(names.RUNS, (run.run for run in bundle.runs))
    _check_rounds(bundle)
    for run in bundle.runs:
        _check_run(bundle, run)
    known = {run.run: run for run in bundle.runs}
    for number in bundle.counts:
        if number not in known:
            raise wrong(f"{names.COUNTS}, run {number}", f"{names.RUNS} has no such run", "link")
        if not known[number].good:
            raise wrong(f"{names.COUNTS}, run {number}", f"this run is {known[number].status}", "link")
    _check_used(bundle)


def _check_run(bundle: Bundle, run: Run) -> None:
    place = f"{names.RUNS}, run {run.run}"
    if run.workload not in bundle.workloads:
        raise wrong(place, f"workload {run.workload} is not in {names.WORKLOADS}", "link")
    if (run.workload, run.layout) not in bundle.layouts:
        raise wrong(place, f"{names.layout_file(run.workload, run.layout)} is missing", "link")
    numbers = (run.roi_ns, run.pages_4kb, run.pages_2mb, run.pages_1gb)
    if run.good != all(number is not None for number in numbers) or (
        not run.good and any(number is not None for number in numbers)
    ):
        raise wrong(place, "roi_ns and pages have values if the status is ok, and only then", "link")
    if run.good == bool(run.message):
        raise wrong(place, "a message stands in runs that are not ok, and only there", "link")
    events = bundle.passes_by_name.get(run.pass_name)
    if events is None:
        raise wrong(place, f"pass {run.pass_name} is not in {names.EVENTS}", "link")
    if run.good:
        found = bundle.counts.events_of(run.run, len(events) + 2)  # one too many is enough
        if found not in (events, [*events, REGION]):
            raise wrong(
                f"{names.COUNTS}, run {run.run}",
                f"it counts {shown(', '.join(found))}; pass {run.pass_name} has {shown(', '.join(events))}",
                "link",
            )


def _check_rounds(bundle: Bundle) -> None:
    """The n rounds of a layout are 0 to n - 1, so nothing that comes later counts to a number of the file."""
    for (workload, layout), by_round in bundle.rounds.items():
        for wanted, (number, runs) in enumerate(by_round.items()):
            _once(f"{names.RUNS}, {workload}, {layout}, round {number}", [run.pass_name for run in runs])
            if number != wanted:
                found = f"round {number} of {workload}, {layout}, which has no run of round {wanted}"
                raise wrong(f"{names.RUNS}, run {runs[0].run}", found, "value")


def _check_used(bundle: Bundle) -> None:
    """Layouts, workloads and passes that no run has would be of another bundle."""
    if not bundle.runs:
        if bundle.sealed:
            raise wrong(names.RUNS, "it has no run", "link")
        return
    for place, here, used in (
        (names.LAYOUTS, set(bundle.layouts), {(run.workload, run.layout) for run in bundle.runs}),
        (names.WORKLOADS, set(bundle.workloads), {run.workload for run in bundle.runs}),
        (names.EVENTS, set(bundle.passes_by_name), {run.pass_name for run in bundle.runs}),
    ):
        if bundle.sealed and here - used:
            raise wrong(place, f"no run uses {shown(sorted(here - used)[0])}", "link")


def _once(place: str, values: Iterable) -> None:
    seen = set()
    for value in values:
        if value in seen:
            raise wrong(place, f"{shown(value)} stands twice", "twice")
        seen.add(value)
