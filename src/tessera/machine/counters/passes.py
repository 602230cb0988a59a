"""Passes: sets of events that a processor counts at the same time, without multiplexing.

Each pass has R (cycles) and instructions, so that passes of one layout can be compared. H, M and C of
loads and stores come first: in one pass if they fit, else loads and stores apart. Cycles with a walk (``C
active``) join these passes if they fit there. Further events (by page size; the walker and caches,
MICRO'20 Table 7; instruction side) have passes of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.machine.counters.event import Event
from tessera.machine.counters.event_table import CounterClass

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
    def optional(self) -> str:
        """Empty for a pass of H, M or C; else what it counts: :data:`ACTIVE`, or a name of :data:`OPTIONAL`.

        A group that needs several passes has numbered ones, such as ``caches-2``.
        """
        groups = (ACTIVE, *OPTIONAL)
        return next((group for group in groups if re.fullmatch(rf"{group}(-\d+)?", self.name)), "")


@dataclass(frozen=True)
class CounterSharing:
    """What decides how many counters there are."""

    smt: bool = True
    watchdog: bool = True


def fit_on_counters(
    found: CounterClass, events: Sequence[Event], machine: CounterSharing
) -> dict[str, str] | None:
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


def base_events(found: CounterClass) -> tuple[Event, ...]:
    """Events of every pass: R, instructions, and reference cycles if they have a counter of their own."""
    wanted = [event for event in found.events if event.role == "all" and event.usable]
    return tuple(e for e in wanted if e.quantity != "R reference cycles" or "F2" in e.counters_smt_on)


def counter_passes(found: CounterClass, machine: CounterSharing) -> list[Pass]:
    """Every pass of a class, those of H, M and C first.

    Raises:
        TesseraError: R and instructions alone do not fit, so nothing does (a table with a mistake).
    """
    first = base_events(found)
    if fit_on_counters(found, first, machine) is None:
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


def _core(found: CounterClass, first, machine: CounterSharing) -> list[tuple[str, tuple[Event, ...]]]:
    """(name, events) of the passes of H, M and C."""
    required = _once(event for event in found.required() if event.usable)
    active = _once(event for event in found.active() if event.usable)
    if fit_on_counters(found, first + required, machine) is not None:
        groups = [("data", required)]
    else:
        groups = [(side, tuple(e for e in required if e.role == side)) for side in ("loads", "stores")]
        unfit = [name for name, events in groups if fit_on_counters(found, first + events, machine) is None]
        if unfit:  # keep what fits together, in the order of the table
            packed = _packed(found, first, required, machine)
            groups = [(f"data-{number}", events) for number, events in enumerate(packed, start=1)]
    placed, left = [], []
    for name, events in groups:
        mine = tuple(e for e in active if name in ("data", e.role))
        if mine and fit_on_counters(found, first + events + mine, machine) is not None:
            placed.append((name, events + mine))
        else:
            placed.append((name, events))
            left += mine
    taken = {e.quantity for _, events in placed for e in events}
    left += [e for e in active if e.quantity not in taken and e not in left]
    groups = _packed(found, first, tuple(left), machine)
    names = [ACTIVE] if len(groups) == 1 else [f"{ACTIVE}-{number}" for number in range(1, len(groups) + 1)]
    return placed + list(zip(names, groups, strict=True))


def _packed(found, first, events: tuple[Event, ...], machine: CounterSharing) -> list[tuple[Event, ...]]:
    """Events in as few groups as first fit finds; an event that fits nowhere alone is left out."""
    groups: list[tuple[Event, ...]] = []
    for event in events:
        for at, group in enumerate(groups):
            if fit_on_counters(found, first + group + (event,), machine) is not None:
                groups[at] = group + (event,)
                break
        else:
            if fit_on_counters(found, first + (event,), machine) is not None:
                groups.append((event,))
    return groups


def _once(events: Iterable[Event]) -> tuple[Event, ...]:
    """The first event of each quantity: parts of a class may count one with different codes."""
    kept: dict[str, Event] = {}
    for event in events:
        kept.setdefault(event.quantity, event)
    return tuple(kept.values())


def _made(name: str, found: CounterClass, events: tuple[Event, ...], machine: CounterSharing) -> Pass:
    return Pass(name, events, fit_on_counters(found, events, machine) or {})


# The ``perf stat`` line that records a pass, in the form that ``tessera measure import`` reads.
#
# ``-x\;`` because events contain commas; LC_ALL=C because some locales write decimal commas. All hardware
# events are one group, so that perf counts all of them or none. Each event has our name with the mode in it:
# perf shows no modifier of an event with ``name=``.

MODES = {"u": "user mode", "uk": "user mode and kernel"}
#: Counted by the kernel's software, so they need no counter: they show faults and waiting in a run.
SOFTWARE = ("task-clock", "page-faults", "context-switches", "cpu-migrations")


def perf_groups(one: Pass, mode: str, pmu: str = "") -> str:
    """The group for ``perf stat -e``.

    Raises:
        TesseraError: the mode is not ``u`` or ``uk``.
    """
    if mode not in MODES:
        raise TesseraError(f"mode '{mode}'", "no such mode", f"use one of: {', '.join(MODES)}")
    return "{" + ",".join(event.term(mode, pmu) for event in one.events) + "}"


def perf_stat(one: Pass, mode: str, pmu: str = "") -> str:
    """A line for a shell; LAYOUT and PROGRAM are for the reader to replace."""
    return (
        f"LC_ALL=C perf stat -x\\; -o LAYOUT.{one.name}.perf -e '{perf_groups(one, mode, pmu)}'"
        f" -e {','.join(SOFTWARE)} -- PROGRAM"
    )


# Which events fit on a processor's counters at the same time: a matching of events to counters.
#
# Every event lists the counters that can count it. A set of events fits if each can have a counter of its
# own (Hall's theorem; found by augmenting paths, Kuhn 1955). The sets are small, so the slow algorithm is
# enough.


def matched(allowed: Mapping[str, Sequence[str]]) -> dict[str, str] | None:
    """A counter for each name, or None if the names do not fit.

    Args:
        allowed: name -> counters that can count it, best first.
    """
    owner: dict[str, str] = {}

    def place(name: str, tried: set[str]) -> bool:
        for counter in allowed[name]:
            if counter in tried:
                continue
            tried.add(counter)
            if counter not in owner or place(owner[counter], tried):
                owner[counter] = name
                return True
        return False

    if not all(place(name, set()) for name in allowed):
        return None
    return {name: counter for counter, name in owner.items()}
