"""What a bundle says, as types. Fields have the names of the columns (docs/bundles.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property

from tessera.counters.classes import CounterClass, everywhere, of_cpu
from tessera.counters.cpuid import Cpu
from tessera.layouts.model import Layout
from tessera.machine.environment.condition import Condition
from tessera.results.status import is_ok

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
class Machine:
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
    """A row of ``events.csv``; ``role`` is a quantity of :mod:`tessera.counters` (``H loads``)."""

    pass_name: str
    role: str
    name: str
    type: int
    config: int
    config1: int
    config2: int
    modifiers: str


@dataclass(frozen=True)
class Run:
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


@dataclass(frozen=True)
class Count:
    """A row of ``counts.csv``; ``enabled_ns`` and ``running_ns`` as perf_event_open(2) defines them."""

    run: int
    event: str
    value: int
    enabled_ns: int
    running_ns: int


@dataclass(frozen=True)
class Workload:
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
    machine: Machine
    environment: tuple[Condition, ...]
    events: tuple[CountedEvent, ...]
    runs: tuple[Run, ...]
    counts: dict[int, tuple[Count, ...]]
    workloads: dict[str, Workload]
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
    def rounds(self) -> dict[tuple[str, str], dict[int, list[Run]]]:
        """(workload, layout) -> round -> its runs, in the order of the rounds and of the passes' names."""
        found: dict[tuple[str, str], dict[int, list[Run]]] = {}
        for run in sorted(self.runs, key=lambda run: (run.round, run.pass_name)):
            found.setdefault((run.workload, run.layout), {}).setdefault(run.round, []).append(run)
        return found

    def counts_by_role(self, run: Run) -> dict[str, Count]:
        """Quantity -> its count in this run."""
        mine = self.counts.get(run.run, ())
        return {self.roles[run.pass_name, c.event]: c for c in mine if c.event != REGION}

    @cached_property
    def counter_class(self) -> CounterClass | None:
        """The class that the bundle names, with the rows for its processor; None if CPUID disagrees."""
        return next((c for c in of_cpu(self.machine.cpu) if c.name == self.about.class_name), None)


@cache
def software_quantities() -> frozenset[str]:
    """Quantities that the kernel counts by itself, so that they need no counter."""
    return frozenset(e.quantity for e in everywhere() if e.perf_event.startswith("PERF_COUNT_SW_"))
