"""What all runs of a measurement share, and the files of its bundle that are written before the first run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.core.layouts.layout import Layout
from tessera.machine.counters import sysfs
from tessera.machine.counters.attributes import HEADER, Attribute, attributes
from tessera.machine.counters.event_table import CounterClass, of_cpu
from tessera.machine.counters.passes import counter_passes
from tessera.machine.environment import Condition
from tessera.machine.environment.condition import DIFFERS, NOTED, OK
from tessera.measure.bundles import file_format, json_files, texts, writer
from tessera.measure.bundles.bundle import About, Bundle, CountedEvent, MeasuredMachine, MeasuredWorkload
from tessera.measure.bundles.head_checks import current_protocol
from tessera.measure.counted import host, perf_stat
from tessera.measure.counted.counted_run import RunCounters
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.plan import MeasurementPlan, load_plan, require_same
from tessera.measure.counted.request import MEASURED, PERF, MeasurementOptions, ReadyWorkload

Say = Callable[[str], None]


@dataclass(frozen=True)
class MeasurementSetting:
    """What all runs share: options, machine, class, events, working folder."""

    request: MeasurementOptions
    where: MeasurementSite
    found: CounterClass
    machine: MeasuredMachine
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

    def counted(self) -> dict[str, RunCounters]:
        """pass -> the counters of its runs; writes the events files."""
        found = {}
        for name, events in self.passes().items():
            path = self.work / f"{name}.events"
            write_events(events, path)
            words, shown = self._perf(events)
            names = tuple(event.name for event in events)
            found[name] = RunCounters(path, names, self.request.region, words, shown)
        return found

    def _perf(self, events: Sequence[CountedEvent]) -> tuple[tuple[str, ...], dict[str, str]]:
        """Words for perf, and its names of events; empty if the launcher counts."""
        if self.request.counter != PERF:
            return (), {}
        pmu, _ = sysfs.pmu_type(self.found.pmus, self.where.root)
        return perf_stat.perf_terms(events, pmu), perf_stat.shown_names(events)


def setting_of(
    request: MeasurementOptions, where: MeasurementSite, work: Path, say: Say
) -> MeasurementSetting:
    """The setting of this machine, now; raises TesseraError as :func:`counter_class` and ``attributes``."""
    found = counter_class(where, request)
    machine = host.machine_facts(where, where.processor(found))
    events = counted_events(_passes(found, where, request))
    head = bundle_about(request, found.name, machine, where.rehearsal)
    return MeasurementSetting(request, where, found, machine, head, events, work, where.binding(found), say)


def counter_class(where: MeasurementSite, request: MeasurementOptions) -> CounterClass:
    """The class of the processor.

    Raises:
        TesseraError: no row of the table is for it, or it has two types of cores and none is named.
    """
    cpu = host.cpu(where.root)
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
        f"add rows{cell} to src/tessera/machine/counters/pmu-events.csv; docs/reference/counters.md says how",
        code="class-unknown",
    )  # fmt: skip


def _passes(
    found: CounterClass, where: MeasurementSite, request: MeasurementOptions
) -> Iterator[tuple[str, list[Attribute]]]:
    """(name, attributes) of the passes of H, M and C, and of the optional ones that were asked for."""
    for one in counter_passes(found, sysfs.counting_machine(where.root)):
        if not one.optional or one.optional in request.also:
            yield one.name, attributes(one, found, where.root, mode=request.mode)


# The files of a bundle that are written before its first run.

OTHER_PROTOCOL = "other"  #: rules that are not those of a known protocol


def bundle_about(
    request: MeasurementOptions, class_name: str, machine: MeasuredMachine, rehearsal: bool
) -> About:
    """``bundle.json``. Rules of no known protocol have the name ``other``."""
    known = current_protocol()
    rule = request.rule
    same = (rule.min_repeats, rule.max_repeats) == known.rounds and rule.half_width == known.half_width
    same = same and request.region == known.region
    return About(
        schema=json_files.SCHEMA,
        protocol=known.name if same else OTHER_PROTOCOL,
        protocol_sha256=known.sha256 if same else _sha256(request),
        region=request.region,
        mode=request.mode,
        counter=request.counter,
        rehearsal=rehearsal,
        class_name=class_name,
        platform=f"{class_name}-{machine.machine_id[:8]}",
        created=datetime.now(UTC).date().isoformat(),
    )


def _sha256(request: MeasurementOptions) -> str:
    """Of the rules that ``other`` stands for."""
    rules = {key: request.described()[key] for key in ("region", "half_width", "least_rounds", "most_rounds")}
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()


def counted_events(passes: Iterable[tuple[str, Sequence[Attribute]]]) -> tuple[CountedEvent, ...]:
    """Rows of ``events.csv``."""
    return tuple(CountedEvent(name, **asdict(event)) for name, found in passes for event in found)


def write_events(events: Iterable[CountedEvent], path: Path) -> None:
    """The launcher's events file of a pass (:mod:`tessera.machine.counters.attributes`)."""
    found = []
    for event in events:
        values = asdict(event)
        del values["pass_name"]
        found.append(Attribute(**values).line())
    path.write_text("\n".join([HEADER, *found]) + "\n")


def sliding_windows_condition(plan: MeasurementPlan) -> Condition:
    """A row of ``environment.csv``: which misses the sliding windows follow."""
    wanted = "a profile measured on this machine"
    if plan.source == MEASURED:
        return Condition(file_format.SLIDING_WINDOWS, NOTED, wanted, "measured", OK)
    if not plan.source:
        return Condition(file_format.SLIDING_WINDOWS, NOTED, wanted, "no sliding windows", OK)
    remedy = "install perf on a processor whose samples of TLB misses have addresses"
    found = f"simulated on {plan.platform}" + (f": {plan.reason}" if plan.reason else "")
    return Condition(file_format.SLIDING_WINDOWS, NOTED, wanted, found, DIFFERS, remedy)


def begin_bundle(
    out: Path,
    plan: MeasurementPlan,
    rows: Sequence[ReadyWorkload],
    layouts: dict[tuple[str, str], Layout],
    events: Sequence[CountedEvent],
    machine: MeasuredMachine,
    head: About,
    environment: Sequence[object],
) -> None:
    """Write the heads. A folder whose heads a kill left incomplete is written again."""
    if out.exists() and not (out / file_format.RUNS_FILE).exists() and load_plan(out) is not None:
        shutil.rmtree(out)
    known = {}
    for row in rows:
        label, arguments = row.size.label, _arguments(row)
        known[row.workload] = MeasuredWorkload(row.workload, label, arguments, row.sha256, verified=True)
    writer.create_bundle(out, head, machine, environment, events, known, layouts)


def _arguments(row: ReadyWorkload) -> tuple[str, ...]:
    """As in the workload's file. Files of this checkout are relative to it; other paths stand for themselves.

    Raises:
        TesseraError: the arguments have something private, which a bundle must not have.
    """
    root = f"{repo_root()}/"
    found = tuple(word.replace(root, "") for word in row.size.args)
    if private_ones := [text[2:] for text in texts.private_texts([("", " ".join(found))])]:
        raise TesseraError(
            f"measure {row.workload}",
            f"its arguments `{' '.join(found)}` have {private_ones[0]}, and a bundle has none",
            "choose another workload, or give its file a relative name",
            code="workload-unfit",
        )
    return found


def require_same_heads(
    out: Path,
    bundle: Bundle,
    events: Sequence[CountedEvent],
    machine: MeasuredMachine,
    head: About,
    rows: Sequence[ReadyWorkload],
) -> None:
    """Raises TesseraError (``other-plan``) if machine, counters or programs changed since the first start."""
    before, now = asdict(bundle.about), asdict(head)
    before.pop("created"), now.pop("created")
    require_same(out, "bundle.json", before, now)
    require_same(out, "machine.json", asdict(bundle.machine), asdict(machine))
    require_same(out, "events.csv", _by_place(bundle.events), _by_place(events))
    programs = {name: one.program_sha256 for name, one in bundle.workloads.items()}
    require_same(out, "program of", programs, {row.workload: row.sha256 for row in rows})


def _by_place(events: Iterable[CountedEvent]) -> dict[str, object]:
    return {f"{event.pass_name}, {event.name}": event for event in events}
