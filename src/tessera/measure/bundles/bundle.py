"""What a bundle says, as types. Fields have the names of the columns (docs/reference/bundle-format.md)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from tessera.core.layouts.layout import Layout
from tessera.core.results.outcomes import is_ok
from tessera.machine.counters.event import Cpu
from tessera.machine.counters.event_table import CounterClass, everywhere, of_cpu
from tessera.machine.environment.condition import Condition
from tessera.measure.bundles import file_format

REGION = "region_ns"  #: the launcher's clock between start and end of the region; not an event


@dataclass(frozen=True)
class About:
    """``bundle.json``. ``class_name`` is its key ``class``."""

    schema: int
    protocol: str
    protocol_sha256: str
    region: str
    mode: str
    counter: str
    rehearsal: bool
    class_name: str
    platform: str
    created: str


@dataclass(frozen=True)
class MeasuredMachine:
    """``machine.json``. ``cpuid``: leaf, subleaf, eax, ebx, ecx, edx of the leaves of TLBs and caches."""

    vendor: str
    family: int
    model: int
    stepping: int
    microcode: str
    cpuid: tuple[tuple[int, ...], ...]
    sockets: int
    cores: int
    threads: int
    memory_bytes: int
    kernel: str
    mitigations: dict[str, str]
    machine_id: str

    @property
    def cpu(self) -> Cpu:
        return Cpu(self.vendor, self.family, self.model, self.stepping)


@dataclass(frozen=True)
class CountedEvent:
    """A row of ``events.csv``; ``role`` is a quantity of :mod:`tessera.machine.counters` (``H loads``)."""

    pass_name: str
    role: str
    name: str
    type: int
    config: int
    config1: int
    config2: int
    modifiers: str


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """A row of ``runs.csv``: one start of a program. Numbers are None unless the status is ok."""

    run: int
    workload: str
    size: str
    layout: str
    round: int
    pass_name: str
    status: str
    message: str = ""
    roi_ns: int | None = None
    pages_4kb: int | None = None
    pages_2mb: int | None = None
    pages_1gb: int | None = None

    @property
    def good(self) -> bool:
        return is_ok(self.status)


@dataclass(frozen=True, slots=True)
class EventCount:
    """A row of ``counts.csv``; ``enabled_ns`` and ``running_ns`` as perf_event_open(2) defines them."""

    run: int
    event: str
    value: int
    enabled_ns: int
    running_ns: int


class BundleCounts(Mapping[int, tuple[EventCount, ...]]):
    """Run -> its counts, in the order of the file. They are kept as columns, 28 bytes a count.

    ``runs`` has each run once, in order, and ``sizes`` how many counts it has. ``event``, ``value``,
    ``enabled_ns`` and ``running_ns`` have a number for each count, by run. ``names[event]`` is a name.

    Args:
        blocks: blocks of rows, each a list for each column of ``counts.csv``.

    Raises:
        TesseraError: more names of events than any bundle has (``bundle-size``).
    """

    def __init__(self, blocks: Iterable[Sequence[Sequence]]):
        run, value, enabled, running = (array("q") for _ in range(4))
        event, numbers = array("i"), {}
        for block in blocks:
            for column, values in zip((run, value, enabled, running), (block[0], *block[2:]), strict=True):
                column.extend(values)
            event.extend([numbers.setdefault(name, len(numbers)) for name in block[1]])
            if len(numbers) > file_format.MOST_EVENTS:
                raise file_format.too_large(
                    file_format.COUNTS_FILE, f"more than {file_format.MOST_EVENTS} names of events"
                )
        self.names = list(numbers)
        of_run, *columns = (np.frombuffer(one, one.typecode) for one in (run, event, value, enabled, running))
        if (of_run[1:] < of_run[:-1]).any():
            order = np.argsort(of_run, kind="stable")
            of_run, *columns = (column[order] for column in (of_run, *columns))
        self.event, self.value, self.enabled_ns, self.running_ns = columns
        first = np.flatnonzero(np.diff(of_run, prepend=-1))
        self.runs = array("q", of_run[first].tobytes())
        self.sizes = np.diff(first, append=len(of_run))
        self._ends = array("q", np.append(first, len(of_run)).astype(np.int64).tobytes())

    @classmethod
    def of(cls, rows: Iterable[EventCount]) -> BundleCounts:
        """From single counts."""
        found = [(c.run, c.event, c.value, c.enabled_ns, c.running_ns) for c in rows]
        return cls([list(zip(*found, strict=True))] if found else [])

    def __getitem__(self, run: int) -> tuple[EventCount, ...]:
        here = self._here(run)
        if here.start == here.stop:
            raise KeyError(run)
        return tuple(self.row(run, at) for at in range(here.start, here.stop))

    def __iter__(self) -> Iterator[int]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def values_of(self, run: int) -> Iterable[tuple[int, int]]:
        """(number of the event, value) of each count of a run; nothing for a run without counts."""
        here = self._here(run)
        return zip(self.event[here].tolist(), self.value[here].tolist(), strict=True)

    def events_of(self, run: int, most: int) -> list[str]:
        """Names of the first events of a run, at most ``most``."""
        return [self.names[event] for event in self.event[self._here(run)][:most].tolist()]

    def row(self, run: int, at: int) -> EventCount:
        """The count in row ``at`` of the columns, which is one of ``run``."""
        value, enabled, running = (int(one[at]) for one in (self.value, self.enabled_ns, self.running_ns))
        return EventCount(run, self.names[self.event[at]], value, enabled, running)

    def _here(self, run: int) -> slice:
        """The rows of a run; none if it has no counts."""
        at = bisect_left(self.runs, run)
        known = at < len(self.runs) and self.runs[at] == run
        return slice(self._ends[at], self._ends[at + 1]) if known else slice(0, 0)


@dataclass(frozen=True)
class MeasuredWorkload:
    """An entry of ``workloads.json``; ``verified``: the program's results were checked in every ok run."""

    name: str
    size: str
    arguments: tuple[str, ...]
    program_sha256: str
    verified: bool


@dataclass(frozen=True, eq=False)
class Bundle:
    """Everything in a bundle. ``layouts``: (workload, layout) -> layout; ``cells`` is the file's text.

    ``name`` is the folder or file that it was read from. ``cells`` is None in a folder that is not sealed.
    """

    name: str
    about: About
    machine: MeasuredMachine
    environment: tuple[Condition, ...]
    events: tuple[CountedEvent, ...]
    runs: tuple[MeasuredRun, ...]
    counts: BundleCounts
    workloads: dict[str, MeasuredWorkload]
    layouts: dict[tuple[str, str], Layout]
    cells: str | None = None
    sums: str = field(default="", repr=False)

    @property
    def sealed(self) -> bool:
        return self.cells is not None

    def passes(self) -> dict[str, tuple[CountedEvent, ...]]:
        """Events of each pass, in the order of the file."""
        found: dict[str, list[CountedEvent]] = {}
        for event in self.events:
            found.setdefault(event.pass_name, []).append(event)
        return {name: tuple(events) for name, events in found.items()}

    @cached_property
    def passes_by_name(self) -> dict[str, list[str]]:
        """Names of the events of each pass."""
        return {name: [event.name for event in events] for name, events in self.passes().items()}

    @cached_property
    def roles(self) -> dict[tuple[str, str], str]:
        """(pass, name of an event) -> its quantity."""
        return {(event.pass_name, event.name): event.role for event in self.events}

    @cached_property
    def rounds(self) -> dict[tuple[str, str], dict[int, list[MeasuredRun]]]:
        """(workload, layout) -> round -> its runs, in the order of the rounds and of the passes' names."""
        found: dict[tuple[str, str], dict[int, list[MeasuredRun]]] = {}
        for run in sorted(self.runs, key=lambda run: (run.round, run.pass_name)):
            found.setdefault((run.workload, run.layout), {}).setdefault(run.round, []).append(run)
        return found

    @cached_property
    def by_workload(self) -> dict[str, dict[str, dict[int, list[MeasuredRun]]]]:
        """workload -> layout -> round -> its runs, as in :attr:`rounds`."""
        found: dict[str, dict[str, dict[int, list[MeasuredRun]]]] = {name: {} for name in self.workloads}
        for (workload, layout), by_round in self.rounds.items():
            found.setdefault(workload, {})[layout] = by_round
        return found

    @cached_property
    def layouts_by_workload(self) -> dict[str, dict[str, Layout]]:
        """workload -> name of a layout -> layout."""
        found: dict[str, dict[str, Layout]] = {name: {} for name in self.workloads}
        for (workload, name), layout in self.layouts.items():
            found.setdefault(workload, {})[name] = layout
        return found

    def values_by_role(self, run: MeasuredRun) -> dict[str, int]:
        """Quantity -> its count in this run."""
        known = self.counts.names
        found = {(run.pass_name, known[event]): value for event, value in self.counts.values_of(run.run)}
        return {self.roles[place]: value for place, value in found.items() if place[1] != REGION}

    def column(self, role: str) -> np.ndarray:
        """The counts of a quantity, one for each of ``runs``; -1 where its pass does not count it."""
        place, quantity = self._quantities
        found = np.full(len(self.runs), -1, np.int64)
        if role in self._roles:
            mine = quantity == self._roles.index(role)
            found[place[mine]] = self.counts.value[mine]
        return found

    @cached_property
    def roi_ns(self) -> np.ndarray:
        """``roi_ns`` of each of ``runs``; -1 for those that are not ok."""
        return np.array([-1 if run.roi_ns is None else run.roi_ns for run in self.runs], np.int64)

    @cached_property
    def place_of_count(self) -> np.ndarray:
        """For each count, the place of its run in ``runs``."""
        return self._quantities[0]

    @cached_property
    def _roles(self) -> list[str]:
        return sorted(set(self.roles.values()))

    @cached_property
    def _quantities(self) -> tuple[np.ndarray, np.ndarray]:
        """For each count: the place of its run in ``runs``, and of its quantity in ``_roles`` (or -1)."""
        passes = list(self.passes_by_name)
        numbers = {name: at for at, name in enumerate(self._roles)}
        table = [[numbers.get(self.roles.get((p, name)), -1) for name in self.counts.names] for p in passes]
        at = {run.run: place for place, run in enumerate(self.runs)}
        places = np.array([at[run] for run in self.counts.runs], np.int32)
        number = {name: at for at, name in enumerate(passes)}
        kinds = np.array([number[self.runs[place].pass_name] for place in places.tolist()], np.int16)
        rows, sizes = np.array(table, np.int16).reshape(len(passes), -1), self.counts.sizes
        return np.repeat(places, sizes), rows[np.repeat(kinds, sizes), self.counts.event]

    @cached_property
    def counter_class(self) -> CounterClass | None:
        """The class that the bundle names, with the rows for its processor; None if CPUID disagrees."""
        return next((c for c in of_cpu(self.machine.cpu) if c.name == self.about.class_name), None)


@cache
def software_quantities() -> frozenset[str]:
    """Quantities that the kernel counts by itself, so that they need no counter."""
    return frozenset(e.quantity for e in everywhere() if e.perf_event.startswith("PERF_COUNT_SW_"))
