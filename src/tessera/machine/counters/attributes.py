"""Passes as attributes of ``perf_event_open``: the events file that the launcher reads.

A line is ``name  type  config  config1  config2  modifiers``, with tabs between. The kernel says in sysfs
(``format/`` of a PMU) which bits of the attribute hold a field: the table's code, unit mask and counter mask
are placed there. ``Event.config`` has the same bits for processors of today; this is the kernel's own word.

Source: Linux, Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.machine.counters import sysfs
from tessera.machine.counters.event import GENERIC, Event
from tessera.machine.counters.event_table import CounterClass, everywhere
from tessera.machine.counters.passes import MODES, Pass

HEADER = "# name\ttype\tconfig\tconfig1\tconfig2\tmodifiers"
WORDS = ("config", "config1", "config2")
#: Model-specific registers of the column ``msr``, and the field of the PMU that sets them.
MSR_FIELDS = {"0x1A6": "offcore_rsp", "0x1A7": "offcore_rsp", "0x3F6": "ldlat", "0x3F7": "frontend"}
#: Software events of a pass, and the modes that count them. The kernel counts switches and migrations in its
#: own mode only: a count in mode ``u`` is 0 whatever happens.
_SOFTWARE = {"PERF_COUNT_SW_TASK_CLOCK": ("u", "uk"), "PERF_COUNT_SW_PAGE_FAULTS": ("u", "uk"),
             "PERF_COUNT_SW_CONTEXT_SWITCHES": ("uk",), "PERF_COUNT_SW_CPU_MIGRATIONS": ("uk",)}  # fmt: skip


@dataclass(frozen=True)
class Attribute:
    """One event of a pass. ``role`` is the table's quantity (``H loads``); numbers are perf_event_attr's."""

    role: str
    name: str
    type: int
    config: int
    config1: int
    config2: int
    modifiers: str

    def line(self) -> str:
        """Its line of an events file."""
        words = (self.name, str(self.type), *(f"{n:#x}" for n in self.configs), self.modifiers)
        return "\t".join(words)

    @property
    def configs(self) -> tuple[int, int, int]:
        return self.config, self.config1, self.config2


def events_file(one: Pass, found: CounterClass, root: Path = sysfs.ROOT, *, mode: str = "u") -> str:
    """The text of the events file of a pass: hardware events first, R the leader of their group.

    Raises:
        TesseraError: as :func:`attributes`.
    """
    return "\n".join([HEADER, *(event.line() for event in attributes(one, found, root, mode=mode))]) + "\n"


def attributes(
    one: Pass, found: CounterClass, root: Path = sysfs.ROOT, *, mode: str = "u"
) -> list[Attribute]:
    """Events of a pass, and the software events that every run has.

    Args:
        root: where ``sys`` is.
        mode: ``u`` counts user mode, ``uk`` the kernel too.

    Raises:
        TesseraError: the kernel has no PMU of the class, or its format lacks a field of an event; the mode is
            not ``u`` or ``uk``.
    """
    if mode not in MODES:
        raise TesseraError(f"mode '{mode}'", "no such mode", f"use one of: {', '.join(MODES)}")
    pmu = sysfs.pmu_type(found.pmus, root)
    if pmu is None:
        raise TesseraError(
            f"PMU of {found.name}",
            f"the kernel has none of: {', '.join(found.pmus)}",
            "measure on bare metal, or in a guest whose hypervisor passes the PMU on; ./run doctor says more",
            code="no-pmu",
        )
    name, number = pmu
    hardware = [_attribute(event, number, sysfs.pmu_formats(name, root), mode) for event in one.events]
    return hardware + [_software(event, mode) for event in everywhere() if mode in _modes(event)]


def _modes(event: Event) -> tuple[str, ...]:
    return _SOFTWARE.get(event.perf_event, ())


def _software(event: Event, mode: str) -> Attribute:
    kind, config, name = GENERIC[event.perf_event]
    return Attribute(event.quantity, name, kind, config, 0, 0, mode)


def _attribute(event: Event, number: int, formats: dict[str, str], mode: str) -> Attribute:
    if event.perf_event in GENERIC:
        kind, config = event.attribute(number)
        return Attribute(event.quantity, event.alias(mode), kind, config, 0, 0, mode)
    if event.code is None or event.umask is None:
        raise TesseraError(f"event {event.name}", "its code is not known", "choose another event")
    words = dict.fromkeys(WORDS, 0)
    for field, value in _fields(event).items():
        _place(words, event, field, value, formats)
    return Attribute(event.quantity, event.alias(mode), number, *words.values(), mode)


def _fields(event: Event) -> dict[str, int]:
    fields = {"event": event.code, "umask": event.umask, "cmask": event.cmask}
    fields |= {"inv": event.inv, "edge": event.edge, "any": event.any_thread}
    if event.msr:
        register, _, value = event.msr.partition("=")
        if register not in MSR_FIELDS or not value:
            raise TesseraError(
                f"event {event.name}: msr {event.msr}",
                "no field of perf sets this register",
                f"use one of: {', '.join(MSR_FIELDS)}",
            )
        fields[MSR_FIELDS[register]] = int(value, 16)
    return fields


def _place(words: dict[str, int], event: Event, field: str, value: int, formats: dict[str, str]) -> None:
    """Put ``value`` into the bits of ``field``; its low bits go to the first range."""
    if not value:
        return
    text = formats.get(field, "")
    match = re.fullmatch(r"(config[12]?):(\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)", text)
    if match is None:
        raise TesseraError(
            f"event {event.name}: {field} {value:#x}",
            f"the kernel's format of the PMU has {f'{field} as {text!r}' if text else f'no {field}'}",
            "use a kernel that knows this processor",
            code="pmu-format",
        )
    rest = value
    for part in match[2].split(","):
        low, _, high = part.partition("-")
        width = int(high or low) - int(low) + 1
        words[match[1]] |= (rest & ((1 << width) - 1)) << int(low)
        rest >>= width
    if rest:
        raise TesseraError(
            f"event {event.name}: {field} {value:#x}",
            f"it has more bits than the kernel's format {text}",
            "use a kernel that knows this processor",
            code="pmu-format",
        )
