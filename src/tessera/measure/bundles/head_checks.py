"""Protocols, and checks of what a bundle says about itself, its machine and its environment."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tessera.core.configuration_files import Document
from tessera.core.files import sha256_of
from tessera.machine.counters.event import AMD, GENERIC, TYPE_RAW
from tessera.machine.counters.event_table import CounterClass, everywhere
from tessera.machine.environment import CHECKS, RUN_CHECKS, RunFacts, run_conditions
from tessera.machine.environment.condition import BARS, NOTED, OK, UNKNOWN, Condition, barring, stopping
from tessera.machine.environment.preparation import RULES
from tessera.machine.environment.runs import NO_THROTTLE_COUNTS
from tessera.measure.bundles.bundle import Bundle, CountedEvent
from tessera.measure.bundles.cell_arithmetic import INSTRUCTIONS, R
from tessera.measure.bundles.file_format import SLIDING_WINDOWS

# Protocols: how the runs of a bundle were made. A file for each, and its SHA-256 in the bundle.
#
# Bundles of different protocols are never judged together. So a change of the rules is a new file with a new
# name, and the old file stays: a bundle of an older protocol can still be read and is named as such.

PROTOCOLS_FOLDER = Path(__file__).with_name("protocols")
CURRENT_PROTOCOL = "rounds-1"


@dataclass(frozen=True)
class MeasurementProtocol:
    """``rounds``: least and most rounds; ``half_width``: of the difference to 4KB pages, as a fraction.

    Spreads are (largest - smallest) / largest of instructions between runs of a workload, and of R between
    layouts with equal windows.
    """

    name: str
    about: str
    region: str
    rounds: tuple[int, int]
    half_width: float
    largest_instructions_spread: float
    largest_runtime_spread: float
    sha256: str

    @property
    def current(self) -> bool:
        return self.name == CURRENT_PROTOCOL


@cache
def measurement_protocols(folder: Path = PROTOCOLS_FOLDER) -> dict[str, MeasurementProtocol]:
    """Every protocol by name."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        values = Document("protocol", None, "restore the file").read(path)
        values["rounds"] = tuple(values["rounds"])
        found[path.stem] = MeasurementProtocol(**values, sha256=sha256_of(path))
    return found


def current_protocol() -> MeasurementProtocol:
    """The protocol of new bundles."""
    return measurement_protocols()[CURRENT_PROTOCOL]


# What a bundle says about itself: protocol, class, machine, and the codes of its events.

_SIGNATURE_LEAF = 1


def check_protocol(bundle: Bundle) -> Iterator[str]:
    """The protocol is known, with its SHA-256 and region."""
    about = bundle.about
    found = measurement_protocols().get(about.protocol)
    if found is None:
        yield f"protocol {about.protocol} is not known; known: {', '.join(measurement_protocols())}"
        return
    if found.sha256 != about.protocol_sha256:
        yield f"protocol_sha256 is not that of {about.protocol}: {found.sha256}"
    if found.region != about.region:
        yield f"region {about.region}; {about.protocol} counts {found.region}"


def check_machine(bundle: Bundle) -> Iterator[str]:
    """The class follows from vendor, family, model and stepping, the platform from class and machine_id.

    Sockets, cores and threads go together; of a hybrid processor, some cores have one thread.
    """
    about, here = bundle.about, bundle.machine
    if bundle.counter_class is None:
        yield f"class {about.class_name}, but the processor is {here.cpu}"
    wanted = f"{about.class_name}-{here.machine_id[:8]}"
    if about.platform != wanted:
        yield f"platform {about.platform}; class and machine_id give {wanted}"
    if not _go_together(bundle):
        yield f"{here.sockets} sockets, {here.cores} cores and {here.threads} threads do not go together"
    for leaf, _, eax, *_ in here.cpuid:
        if leaf == _SIGNATURE_LEAF and _signature(eax) != (here.family, here.model, here.stepping):
            yield f"CPUID leaf 1 is of family, model, stepping {_signature(eax)}, not of {here.cpu}"
    places = [leaf[:2] for leaf in here.cpuid]
    if len(set(places)) < len(places):
        yield "a leaf of CPUID stands twice"
    if not here.cpuid:
        yield "no leaf of CPUID"
    if here.vendor == AMD and any(leaf[0] == 2 and any(leaf[2:]) for leaf in here.cpuid):
        yield "leaf 2 of CPUID is Intel's"


def _go_together(bundle: Bundle) -> bool:
    """Sockets, cores and threads: of a hybrid processor, only some cores have two threads."""
    here, found = bundle.machine, bundle.counter_class
    if not here.cores <= here.threads <= 4 * here.cores or here.cores % here.sockets:
        return False
    hybrid = found is not None and "cpu" not in found.pmus
    return hybrid or here.threads % here.cores == 0


def _signature(eax: int) -> tuple[int, int, int]:
    """Family, model, stepping of leaf 1 (Intel SDM volume 2, CPUID, figure 3-6)."""
    family, model = eax >> 8 & 0xF, eax >> 4 & 0xF
    if family in (6, 15):
        model += (eax >> 16 & 0xF) << 4
    return family + (eax >> 20 & 0xFF if family == 15 else 0), model, eax & 0xF


def check_day(bundle: Bundle) -> Iterator[str]:
    """The day exists, and is not in the future."""
    try:
        made = datetime.date.fromisoformat(bundle.about.created)
    except ValueError:
        yield f"created {bundle.about.created} is no day"
        return
    tomorrow = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=1)
    if made > tomorrow:
        yield f"created {made} is in the future"


def check_events(bundle: Bundle) -> Iterator[str]:
    """Codes are those of the table of events, modes that of the bundle; each pass counts R, instructions."""
    found = bundle.counter_class
    if found is None:
        return
    number = _pmu_number(bundle, found)
    if number != TYPE_RAW and found.pmus == ("cpu",):
        yield f"type {number}: events of the PMU cpu have type {TYPE_RAW}"
    for event in bundle.events:
        place = f"pass {event.pass_name}, {event.name}"
        codes = _codes(found, event.role, number)
        here = (event.type, event.config, event.config1, event.config2)
        if not codes:
            yield f"{place}: {found.name} does not count '{event.role}'"
        elif here not in codes:
            wanted = " or ".join(_code(code) for code in codes)
            yield f"{place}: {_code(here)}; '{event.role}' is {wanted}"
        if event.modifiers != bundle.about.mode:
            yield f"{place}: counted in mode {event.modifiers}; the bundle's mode is {bundle.about.mode}"
    for name, mine in bundle.passes().items():
        if not {R, INSTRUCTIONS} <= {event.role for event in mine}:
            yield f"pass {name} lacks {R} or {INSTRUCTIONS}"


def _pmu_number(bundle: Bundle, found: CounterClass) -> int:
    """perf_event_attr.type of the core's PMU: that of the first event that has a raw code."""
    raw = [event.type for event in bundle.events if _is_raw(found, event)]
    return raw[0] if raw else TYPE_RAW


def _is_raw(found: CounterClass, event: CountedEvent) -> bool:
    return any(one.perf_event not in GENERIC for one in found.of_quantity(event.role))


def _codes(found: CounterClass, role: str, number: int) -> list[tuple[int, int, int, int]]:
    """Type, config, config1, config2 of the events that count this quantity."""
    software = [e for e in everywhere() if e.quantity == role and e.perf_event in GENERIC]
    own = [event for event in found.of_quantity(role) if event.usable]
    return [(*event.attribute(number), 0, 0) for event in (*own, *software)]


def _code(code: tuple[int, int, int, int]) -> str:
    return f"type {code[0]}, config {code[1]:#x}, config1 {code[2]:#x}, config2 {code[3]:#x}"


# The conditions of the environment: all are recorded, and those of runs follow from the counts.
#
# :func:`why_no_evidence` lists what keeps a correct bundle from deciding claims.

#: Conditions of runs that counts say nothing about.
_NOT_COUNTED = ("pages-obtained", "heat")
COUNTING = "counting"  #: whether the measuring process may open events; perf may have other rights


def check_environment(bundle: Bundle) -> Iterator[str]:
    """Every condition is recorded; those of runs follow from the counts; those of level stop are met.

    `counting` need not be met if perf counted, which may have other rights.
    """
    here = {one.check: one for one in bundle.environment}
    levels = {rule.check: rule.level for rule in RULES}
    from_runs = {one.check: one for one in conditions_of_runs(bundle)}
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


def conditions_of_runs(bundle: Bundle) -> list[Condition]:
    """The conditions that follow from runs and counts."""
    roles = ("R time", "page faults", "migrations", "R cycles", "R reference cycles")
    counts = zip(*(bundle.column(role) for role in roles), strict=True)
    facts = [
        RunFacts(str(run.run), run.workload, run.layout, run.roi_ns, *map(_counted, of_run))
        for run, of_run in zip(bundle.runs, counts, strict=True)
        if run.good
    ]
    return run_conditions(facts, None, None)


def _counted(value: int) -> int | None:
    return None if value < 0 else int(value)


def conditions_with_runs(bundle: Bundle, conditions: Iterable[Condition]) -> list[Condition]:
    """The conditions, with those that follow from the runs of this bundle as its counts say."""
    counted = {one.check: one for one in conditions_of_runs(bundle) if one.check not in _NOT_COUNTED}
    return [
        counted[one.check] if one.check in counted and counted[one.check].status != UNKNOWN else one
        for one in conditions
    ]


def why_no_evidence(bundle: Bundle) -> list[str]:
    """Reasons why this bundle decides no claim, even if every check passes; empty if it may."""
    found = []
    if bundle.about.rehearsal:
        found.append("rehearsal: its counts were simulated")
    rule = measurement_protocols().get(bundle.about.protocol)
    if rule is not None and not rule.current:
        found.append(
            f"protocol {rule.name} is older than {CURRENT_PROTOCOL}: it is joined to no other bundle"
        )
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
