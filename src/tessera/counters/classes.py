"""Classes of processors whose counters count the same: the rows of the table by ``class``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tessera.core.errors import unknown_name
from tessera.counters.cpuid import Cpu, rules
from tessera.counters.event import Event
from tessera.counters.table import ANY, read_events

#: The inputs of the models, with the roles that count them (loads and stores, or both together).
INPUTS = ("H", "M", "C")
SIDES = ("loads", "stores", "any")


@dataclass(frozen=True)
class CounterClass:
    """``events`` are the class's own rows; software events are those of :func:`everywhere`."""

    name: str
    events: tuple[Event, ...]

    @property
    def cpuid(self) -> str:
        """Processors of the class, as the table writes them."""
        return self.events[0].cpuid

    @property
    def pmus(self) -> tuple[str, ...]:
        """PMUs of a core of the class: ``cpu``, ``cpu_core`` or ``cpu_atom``."""
        return self.events[0].pmus

    @property
    def walkers(self) -> int | None:
        """Page walkers, each of which adds to C in every cycle of its walk; None if unknown."""
        return self.events[0].walkers

    @property
    def intel(self) -> bool:
        return rules(self.cpuid)[0].vendor == "GenuineIntel"

    def general(self, smt: bool) -> int:
        """General counters of a logical processor, with SMT on or off."""
        return self.events[0].general[0 if smt else 1]

    def of_quantity(self, quantity: str) -> tuple[Event, ...]:
        return tuple(event for event in self.events if event.quantity == quantity)

    def required(self) -> tuple[Event, ...]:
        """Events of H, M and C, in the order of the table."""
        return tuple(e for e in self.events if e.role in SIDES and not e.quantity.startswith("C active"))

    def active(self) -> tuple[Event, ...]:
        """Cycles with a walk: kept apart, never C."""
        return tuple(e for e in self.events if e.role in SIDES and e.quantity.startswith("C active"))

    def sides(self, symbol: str) -> tuple[str, ...]:
        """How H, M or C is counted: ("loads", "stores"), ("any",), or () if the class does not count it."""
        return tuple(e.role for e in self.required() if e.quantity.split()[0] == symbol)

    def of(self, cpu: Cpu) -> CounterClass:
        """The class with those rows only that hold for this processor."""
        return CounterClass(self.name, tuple(e for e in self.events if _is_for(e.cpuid, cpu)))


def _is_for(text: str, cpu: Cpu) -> bool:
    return any(rule.names(cpu) or rule.takes_the_rest(cpu) for rule in rules(text))


@cache
def classes() -> dict[str, CounterClass]:
    """Every class by name, in the order of the table."""
    found: dict[str, list[Event]] = {}
    for event in read_events():
        if event.class_name != ANY:
            found.setdefault(event.class_name, []).append(event)
    return {name: CounterClass(name, tuple(events)) for name, events in found.items()}


def everywhere() -> tuple[Event, ...]:
    """Events of every Linux machine: software events, msr, power."""
    return tuple(event for event in read_events() if event.class_name == ANY)


def named(name: str) -> CounterClass:
    """A class by name; TesseraError with the valid names if there is none."""
    if name not in classes():
        raise unknown_name("class of processors", name, list(classes()))
    return classes()[name]


def of_cpu(cpu: Cpu | None) -> tuple[CounterClass, ...]:
    """Classes of a processor: none if unknown, two if it has two types of cores; rows for it only."""
    if cpu is None:
        return ()
    by_rule = {c: rules(c.cpuid) for c in classes().values()}
    exact = [c for c, found in by_rule.items() if any(rule.names(cpu) for rule in found)]
    rest = [c for c, found in by_rule.items() if any(rule.takes_the_rest(cpu) for rule in found)]
    return tuple(c.of(cpu) for c in exact or rest)
