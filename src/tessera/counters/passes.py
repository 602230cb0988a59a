"""Passes: sets of events that a processor counts at the same time, without multiplexing.

Each pass has R (cycles) and instructions, so that passes of one layout can be compared. H, M and C of loads
and stores come first: in one pass if they fit, else loads and stores apart. Cycles with a walk (``C
active``) join these passes if they fit there. Further events (by page size; the walker and caches, MICRO'20
Table 7; instruction side) have passes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.counters.classes import CounterClass
from tessera.counters.event import Event
from tessera.counters.matching import matched

#: Further groups of events: name -> roles.
OPTIONAL = {"by-size": ("by-size",), "caches": ("walker", "caches"), "code": ("code",)}
ACTIVE = "active"  #: passes that count only cycles with a walk, which no cell needs
_WATCHDOG = "NMI watchdog"


@dataclass(frozen=True)
class Pass:
    """``counters``: quantity -> counter of one assignment that works; the kernel may choose another."""

    name: str
    events: tuple[Event, ...]
    counters: dict[str, str]

    @property
    def general_used(self) -> int:
        return sum(not counter.startswith("F") for counter in self.counters.values())

    @property
    def optional(self) -> str:
        """Empty for a pass of H, M or C; else what it counts: :data:`ACTIVE`, or a name of :data:`OPTIONAL`.

        A group that needs several passes has numbered ones, such as ``caches-2``.
        """
        groups = (ACTIVE, *OPTIONAL)
        return next((group for group in groups if re.fullmatch(rf"{group}(-\d+)?", self.name)), "")


@dataclass(frozen=True)
class Machine:
    """What decides how many counters there are."""

    smt: bool = True
    watchdog: bool = True


def fit(found: CounterClass, events: Sequence[Event], machine: Machine) -> dict[str, str] | None:
    """Counters for the events beside R and instructions; None if they do not fit.

    The NMI watchdog counts cycles, so it takes a counter that could count R.
    """
    general = [str(number) for number in range(found.general(machine.smt))]
    allowed = {}
    for event in events:
        own = sorted(event.counters(machine.smt))
        fixed = own[0].startswith("F")
        allowed[event.quantity] = own + general if fixed and event.quantity != "R reference cycles" else own
    if machine.watchdog:
        allowed[_WATCHDOG] = allowed["R cycles"]
    done = matched(allowed)
    return done and {name: counter for name, counter in done.items() if name != _WATCHDOG}


def base(found: CounterClass) -> tuple[Event, ...]:
    """Events of every pass: R, instructions, and reference cycles if they have a counter of their own."""
    wanted = [event for event in found.events if event.role == "all" and event.usable]
    return tuple(e for e in wanted if e.quantity != "R reference cycles" or "F2" in e.counters_smt_on)


def passes(found: CounterClass, machine: Machine) -> list[Pass]:
    """Every pass of a class, those of H, M and C first.

    Raises:
        TesseraError: R and instructions alone do not fit, so nothing does (a table with a mistake).
    """
    first = base(found)
    if fit(found, first, machine) is None:
        raise TesseraError(
            f"passes of {found.name}",
            "no counter is left for R and instructions",
            "correct the table of events",
        )
    core = _core(found, first, machine)
    done = [_made(name, found, first + events, machine) for name, events in core]
    for name, roles in OPTIONAL.items():
        events = _once(e for e in found.events if e.role in roles and e.usable)
        groups = _packed(found, first, events, machine)
        for number, group in enumerate(groups, start=1):
            label = name if len(groups) == 1 else f"{name}-{number}"
            done.append(_made(label, found, first + group, machine))
    return done


def _core(found: CounterClass, first, machine: Machine) -> list[tuple[str, tuple[Event, ...]]]:
    """(name, events) of the passes of H, M and C."""
    required = _once(event for event in found.required() if event.usable)
    active = _once(event for event in found.active() if event.usable)
    if fit(found, first + required, machine) is not None:
        groups = [("data", required)]
    else:
        groups = [(side, tuple(e for e in required if e.role == side)) for side in ("loads", "stores")]
        unfit = [name for name, events in groups if fit(found, first + events, machine) is None]
        if unfit:  # keep what fits together, in the order of the table
            packed = _packed(found, first, required, machine)
            groups = [(f"data-{number}", events) for number, events in enumerate(packed, start=1)]
    placed, left = [], []
    for name, events in groups:
        mine = tuple(e for e in active if name in ("data", e.role))
        if mine and fit(found, first + events + mine, machine) is not None:
            placed.append((name, events + mine))
        else:
            placed.append((name, events))
            left += mine
    taken = {e.quantity for _, events in placed for e in events}
    left += [e for e in active if e.quantity not in taken and e not in left]
    groups = _packed(found, first, tuple(left), machine)
    names = [ACTIVE] if len(groups) == 1 else [f"{ACTIVE}-{number}" for number in range(1, len(groups) + 1)]
    return placed + list(zip(names, groups, strict=True))


def _packed(found, first, events: tuple[Event, ...], machine: Machine) -> list[tuple[Event, ...]]:
    """Events in as few groups as first fit finds; an event that fits nowhere alone is left out."""
    groups: list[tuple[Event, ...]] = []
    for event in events:
        for at, group in enumerate(groups):
            if fit(found, first + group + (event,), machine) is not None:
                groups[at] = group + (event,)
                break
        else:
            if fit(found, first + (event,), machine) is not None:
                groups.append((event,))
    return groups


def _once(events: Iterable[Event]) -> tuple[Event, ...]:
    """The first event of each quantity: parts of a class may count one with different codes."""
    kept: dict[str, Event] = {}
    for event in events:
        kept.setdefault(event.quantity, event)
    return tuple(kept.values())


def _made(name: str, found: CounterClass, events: tuple[Event, ...], machine: Machine) -> Pass:
    return Pass(name, events, fit(found, events, machine) or {})
