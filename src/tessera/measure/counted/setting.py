"""What all runs of a measurement share: options, machine, class, events and working folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.bundles.model import About, CountedEvent, Machine
from tessera.core.errors import TesseraError
from tessera.counters import sysfs
from tessera.counters.attributes import Attribute, attributes
from tessera.counters.classes import CounterClass, of_cpu
from tessera.counters.passes import passes
from tessera.measure.counted import facts, heads, perf
from tessera.measure.counted.here import Here
from tessera.measure.counted.launched import Counted
from tessera.measure.counted.request import Request

Say = Callable[[str], None]


@dataclass(frozen=True)
class Setting:
    """What every run shares."""

    request: Request
    where: Here
    found: CounterClass
    machine: Machine
    head: About
    events: tuple[CountedEvent, ...]
    work: Path
    binding: Sequence[str]
    say: Say

    def passes(self) -> dict[str, tuple[CountedEvent, ...]]:
        named: dict[str, tuple[CountedEvent, ...]] = {}
        for event in self.events:
            named[event.pass_name] = (*named.get(event.pass_name, ()), event)
        return named

    def counted(self) -> dict[str, Counted]:
        """pass -> the counters of its runs; writes the events files."""
        found = {}
        for name, events in self.passes().items():
            path = self.work / f"{name}.events"
            heads.write_events(events, path)
            words, shown = self._perf(events)
            names = tuple(event.name for event in events)
            found[name] = Counted(path, names, self.request.region, words, shown)
        return found

    def _perf(self, events: Sequence[CountedEvent]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Words for perf, and its names of events; empty if the launcher counts."""
        if self.request.counter != perf.PERF:
            return (), {}
        pmu, _ = sysfs.pmu_type(self.found.pmus, self.where.root)
        return perf.terms(events, pmu), perf.shown_names(events)


def setting_of(request: Request, where: Here, work: Path, say: Say) -> Setting:
    """The setting of this machine, now; raises TesseraError as :func:`counter_class` and ``attributes``."""
    found = counter_class(where, request)
    machine = facts.machine(where, where.processor(found))
    events = heads.events_of(_passes(found, where, request))
    head = heads.about(request, found.name, machine, where.rehearsal)
    return Setting(request, where, found, machine, head, events, work, where.binding(found), say)


def counter_class(where: Here, request: Request) -> CounterClass:
    """The class of the processor.

    Raises:
        TesseraError: no row of the table is for it, or it has two types of cores and none is named.
    """
    cpu = facts.cpu(where.root)
    found = [one for one in of_cpu(cpu) if request.class_name in ("", one.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise TesseraError(
            f"the class of this processor ({cpu})", f"two types of cores: {', '.join(c.name for c in found)}",
            f"choose one: --class {found[0].name}", code="class-hybrid",
        )  # fmt: skip
    cell = f" with cpuid '{cpu.cell()}'" if cpu and cpu.cell() else ""
    asked = f", and --class {request.class_name}" if request.class_name else ""
    raise TesseraError(
        f"the class of this processor ({cpu}){asked}", "no row of the table of events is for it",
        f"add rows{cell} to src/tessera/counters/pmu-events.csv; docs/measure.md says how",
        code="class-unknown",
    )  # fmt: skip


def _passes(found: CounterClass, where: Here, request: Request) -> Iterator[tuple[str, list[Attribute]]]:
    """(name, attributes) of the passes of H, M and C, and of the optional ones that were asked for."""
    for one in passes(found, sysfs.machine(where.root)):
        if not one.optional or one.optional in request.also:
            yield one.name, attributes(one, found, where.root, mode=request.mode)
