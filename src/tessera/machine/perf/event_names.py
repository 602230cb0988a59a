"""perf's names of events, as rows of the table.

A log may name an event by our alias (``H_loads_u``), by code (``r1008``, ``cpu/event=0x08,umask=0x10/u``), by
the source's name (``dtlb_load_misses.stlb_hit``) or by the kernel's (``cycles``). The modifier ``:u`` is not
always there: perf writes none for events of a group ``{...}:u``, and none beside a ``name=``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.machine.counters.event import GENERIC, Event
from tessera.machine.counters.event_table import CounterClass, everywhere

_PMU = re.compile(r"(?P<pmu>\w+)/(?P<terms>[^/]*)/(?P<modifier>[A-Za-z]*)")
_PLAIN = re.compile(r"(?P<name>.+?)(?::(?P<modifier>[ukhGHpPSDIWeb]+))?")
_OTHER_NAMES = {
    "cpu-cycles": "cycles",
    "faults": "page-faults",
    "cs": "context-switches",
    "migrations": "cpu-migrations",
}
_KERNELS = {name: key for key, (_, _, name) in GENERIC.items()}


@dataclass(frozen=True)
class Named:
    """An event of a log.

    Attributes:
        event: the row of the table.
        mode: ``u``, ``uk``, ``k``, or empty if the name does not show it.
        pmu: PMU that the name shows, empty if none.
    """

    event: Event
    mode: str
    pmu: str = ""

    @property
    def software(self) -> bool:
        return "software" in self.event.pmus


def resolve(text: str, found: CounterClass) -> Named:
    """The event that perf called ``text``, on a processor of this class.

    Raises:
        TesseraError: the class has no such event (code ``event-unknown``), or the PMU belongs to another type
            of core (code ``event-other-core``).
    """
    if match := _PMU.fullmatch(text):
        pmu, name, mode = match["pmu"], match["terms"], _mode(match["modifier"])
        if pmu.startswith("cpu") and pmu not in found.pmus:
            raise TesseraError(
                f"event '{text}'",
                f"the PMU {pmu} is not one of {found.name}: {', '.join(found.pmus)}",
                f"tessera measure counters show {found.name} --details",
                code="event-other-core",
            )
    else:
        match = _PLAIN.fullmatch(text)
        pmu, name, mode = "", match["name"] if match else text, _mode((match and match["modifier"]) or "")
    event, alias_mode = _find(name, pmu, found)
    if event is None:
        raise TesseraError(
            f"event '{text}'",
            f"{found.name} has no such event in the table",
            f"tessera measure counters show {found.name} --details lists its events; "
            f"--ignore '{text}' leaves it out",
            code="event-unknown",
        )
    if alias_mode and mode and alias_mode != mode:
        raise TesseraError(
            f"event '{text}'",
            f"its name says mode {alias_mode}, its modifier says {mode}",
            "record again; kernel.perf_event_paranoid 2 allows only mode u",
            code="mode-mixed",
        )
    return Named(event, mode or alias_mode, pmu)


def _mode(modifier: str) -> str:
    user, kernel = "u" in modifier, "k" in modifier
    return "uk" if user and kernel else "u" if user else "k" if kernel else ""


def _find(name: str, pmu: str, found: CounterClass) -> tuple[Event | None, str]:
    """The event, and the mode that its alias shows."""
    name = name.strip()
    plain = name.lower()
    kernels = _KERNELS.get(_OTHER_NAMES.get(plain, plain))
    for event in (*found.events, *everywhere()):
        if event.perf_event == kernels and kernels:
            return event, ""
    for event in found.events:
        for mode in ("u", "uk", ""):
            if event.status != "absent" and plain == event.alias(mode).lower():
                return event, mode
    for event in found.events:
        if event.status != "absent" and plain == event.name.lower():
            return event, ""
    if (config := _config(plain)) is not None and (not pmu or pmu.startswith("cpu")):
        for event in found.events:
            if event.usable and event.role != "sampling" and event.config == config:
                if event.perf_event not in GENERIC:
                    return event, ""
    return None, ""


def _config(text: str) -> int | None:
    """The raw code of ``r1008``, ``config=0x1008`` or ``event=0x08,umask=0x10``; None for another form."""
    if match := re.fullmatch(r"r([0-9a-f]{1,16})", text):
        return int(match[1], 16)
    total, shifts = 0, {"event": 0, "umask": 8, "edge": 18, "any": 21, "inv": 23, "cmask": 24, "config": 0}
    for term in text.split(","):
        key, _, value = term.partition("=")
        if key in ("name", "period"):
            continue
        if key not in shifts or not re.fullmatch(r"(0x[0-9a-f]{1,16}|\d{1,9})?", value):
            return None
        number = int(value or "1", 0) if value.startswith("0x") else int(value or "1")
        if key == "event":
            total |= (number & 0xFF) | (number >> 8) << 32
        else:
            total |= number << shifts[key]
    return total
