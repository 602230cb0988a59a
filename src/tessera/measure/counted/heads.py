"""The files of a bundle that are written before its first run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tessera.bundles import documents, names, private, writer
from tessera.bundles.model import About, Bundle, CountedEvent, Machine, Workload
from tessera.bundles.protocol import current
from tessera.core.errors import TesseraError
from tessera.core.paths import repo_root
from tessera.counters.attributes import HEADER, Attribute
from tessera.layouts.model import Layout
from tessera.machine.environment import Condition
from tessera.machine.environment.condition import DIFFERS, NOTED, OK
from tessera.measure.counted import plan as plans
from tessera.measure.counted.plan import Plan
from tessera.measure.counted.request import MEASURED, Request
from tessera.measure.counted.rows import Row

OTHER_PROTOCOL = "other"  #: rules that are not those of a known protocol


def about(request: Request, class_name: str, machine: Machine, rehearsal: bool) -> About:
    """``bundle.json``. Rules of no known protocol have the name ``other``."""
    known = current()
    rule = request.rule
    same = (rule.min_repeats, rule.max_repeats) == known.rounds and rule.half_width == known.half_width
    same = same and request.region == known.region
    return About(
        schema=documents.SCHEMA,
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


def _sha256(request: Request) -> str:
    """Of the rules that ``other`` stands for."""
    rules = {key: request.described()[key] for key in ("region", "half_width", "least_rounds", "most_rounds")}
    return hashlib.sha256(json.dumps(rules, sort_keys=True).encode()).hexdigest()


def events_of(passes: Iterable[tuple[str, Sequence[Attribute]]]) -> tuple[CountedEvent, ...]:
    """Rows of ``events.csv``."""
    return tuple(CountedEvent(name, **asdict(event)) for name, found in passes for event in found)


def write_events(events: Iterable[CountedEvent], path: Path) -> None:
    """The launcher's events file of a pass (:mod:`tessera.counters.attributes`)."""
    found = []
    for event in events:
        values = asdict(event)
        del values["pass_name"]
        found.append(Attribute(**values).line())
    path.write_text("\n".join([HEADER, *found]) + "\n")


def sliding_windows(plan: Plan) -> Condition:
    """A row of ``environment.csv``: which misses the sliding windows follow."""
    wanted = "a profile measured on this machine"
    if plan.source == MEASURED:
        return Condition(names.SLIDING_WINDOWS, NOTED, wanted, "measured", OK)
    if not plan.source:
        return Condition(names.SLIDING_WINDOWS, NOTED, wanted, "no sliding windows", OK)
    remedy = "install perf on a processor whose samples of TLB misses have addresses"
    found = f"simulated on {plan.platform}" + (f": {plan.reason}" if plan.reason else "")
    return Condition(names.SLIDING_WINDOWS, NOTED, wanted, found, DIFFERS, remedy)


def begin(
    out: Path,
    plan: Plan,
    rows: Sequence[Row],
    layouts: dict[tuple[str, str], Layout],
    events: Sequence[CountedEvent],
    machine: Machine,
    head: About,
    environment: Sequence[object],
) -> None:
    """Write the heads. A folder whose heads a kill left incomplete is written again."""
    if out.exists() and not (out / names.RUNS).exists() and plans.load(out) is not None:
        shutil.rmtree(out)
    known = {}
    for row in rows:
        label, arguments = row.size.label, _arguments(row)
        known[row.workload] = Workload(row.workload, label, arguments, row.sha256, verified=True)
    writer.create(out, head, machine, environment, events, known, layouts)


def _arguments(row: Row) -> tuple[str, ...]:
    """As in the workload's file. Files of this checkout are relative to it; other paths stand for themselves.

    Raises:
        TesseraError: an argument has a path or a name of this machine, which a bundle must not have.
    """
    root = f"{repo_root()}/"
    found = tuple(word.replace(root, "") for word in row.size.args)
    if private_ones := [word for word in found if any(private.problems([("", word)]))]:
        raise TesseraError(
            f"measure {row.workload}",
            f"its argument {private_ones[0]} has a path or a name of this machine, and a bundle has none",
            "choose another workload, or give its file a relative name",
            code="workload-unfit",
        )
    return found


def require_same_heads(
    out: Path,
    bundle: Bundle,
    events: Sequence[CountedEvent],
    machine: Machine,
    head: About,
    rows: Sequence[Row],
) -> None:
    """Raises TesseraError (``other-plan``) if machine, counters or programs changed since the first start."""
    before, now = asdict(bundle.about), asdict(head)
    before.pop("created"), now.pop("created")
    plans.require_same(out, "bundle.json", before, now)
    plans.require_same(out, "machine.json", asdict(bundle.machine), asdict(machine))
    plans.require_same(out, "events.csv", _by_place(bundle.events), _by_place(events))
    programs = {name: one.program_sha256 for name, one in bundle.workloads.items()}
    plans.require_same(out, "program of", programs, {row.workload: row.sha256 for row in rows})


def _by_place(events: Iterable[CountedEvent]) -> dict[str, object]:
    return {f"{event.pass_name}, {event.name}": event for event in events}
