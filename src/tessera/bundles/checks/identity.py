"""What a bundle says about itself: protocol, class, machine, and the codes of its events."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from tessera.bundles.model import Bundle, CountedEvent
from tessera.bundles.numbers import INSTRUCTIONS, R
from tessera.bundles.protocol import protocols
from tessera.counters.classes import CounterClass, everywhere
from tessera.counters.cpuid import AMD
from tessera.counters.event import GENERIC, TYPE_RAW

_SIGNATURE_LEAF = 1


def protocol(bundle: Bundle) -> Iterator[str]:
    """The protocol is known, and its text is the one that was used."""
    about = bundle.about
    found = protocols().get(about.protocol)
    if found is None:
        yield f"protocol {about.protocol} is not known; known: {', '.join(protocols())}"
        return
    if found.sha256 != about.protocol_sha256:
        yield f"protocol_sha256 is not that of {about.protocol}: {found.sha256}"
    if found.region != about.region:
        yield f"region {about.region}; {about.protocol} counts {found.region}"


def machine(bundle: Bundle) -> Iterator[str]:
    """The class follows from CPUID, and the platform from class and machine_id."""
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


def day(bundle: Bundle) -> Iterator[str]:
    """The day exists, and is not in the future."""
    try:
        made = datetime.date.fromisoformat(bundle.about.created)
    except ValueError:
        yield f"created {bundle.about.created} is no day"
        return
    tomorrow = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=1)
    if made > tomorrow:
        yield f"created {made} is in the future"


def events(bundle: Bundle) -> Iterator[str]:
    """Each event has the code that the table of events gives its quantity."""
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
