"""The whole measurement: plan it or resume it, run the rounds of every workload, seal the bundle.

Trial runs before it tell time and memory of each workload, and whether its runs can be counted.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import ALL_4KB, Layout, write_layout
from tessera.machine import environment
from tessera.machine.environment import Needs
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages
from tessera.measure.bundles import read_bundle, seal, writer
from tessera.measure.bundles.bundle import Bundle
from tessera.measure.bundles.file_format import COUNTS_FILE, RUNS_FILE, SUMS_FILE
from tessera.measure.bundles.head_checks import COUNTING, measurement_protocols, why_no_evidence
from tessera.measure.counted import plan
from tessera.measure.counted.bundle_rounds import Measurement, judged_conditions
from tessera.measure.counted.counted_run import RunCounters, launched
from tessera.measure.counted.host import MeasurementSite, this_host
from tessera.measure.counted.layout_sets import layouts_of_workload
from tessera.measure.counted.plan import MeasurementPlan, WorkloadPlan
from tessera.measure.counted.request import (
    MEASURED,
    PERF,
    MeasurementOptions,
    ReadyWorkload,
    candidate_workloads,
    ready_workload,
)
from tessera.measure.counted.setting import (
    MeasurementSetting,
    Say,
    begin_bundle,
    require_same_heads,
    setting_of,
    sliding_windows_condition,
)
from tessera.measure.launch import huge_pages_needed
from tessera.record import workloads
from tessera.record.workloads.definition import Size, Workload


def measure_bundle(request: MeasurementOptions, *, fix: bool = False, say: Say = lambda text: None) -> Bundle:
    """Measure into ``request.out`` and seal it. The same request continues after an interruption.

    Raises:
        TesseraError: the processor or the environment forbids counting; the folder has another plan
            (``other-plan``) or is sealed; nothing could be measured.
    """
    out, where, began = request.out, this_host(), time.monotonic()
    if (out / SUMS_FILE).exists():
        return _sealed_before(request)
    with ExitStack() as stack:
        # A folder for each process: a launcher that outlives a killed one for a moment writes elsewhere.
        work = Path(mkdtemp(prefix="runs-", dir=stack.enter_context(plan.locked_folder(out)))).absolute()
        guardian = _settings_fixed(stack, where, request, say) if fix else None
        setting = setting_of(request, where, work, say)
        _stop(environment.examine_conditions(where.root, Needs(request.mode)), request)
        ready, kept = _begun(setting)
        appender, bundle = writer.resume_bundle(out)
        require_same_heads(out, bundle, setting.events, setting.machine, setting.head, ready)
        if bundle.runs:
            say(f"{len(bundle.runs)} finished runs of an earlier start are used again")
        else:
            for reason in _known_bars(bundle):
                say(f"the bundle decides no claim as long as this holds: {reason}")
        needs = _needs(bundle, request, where)
        conditions = environment.examine_conditions(where.root, needs)
        _stop(conditions, request)
        if bundle.runs:  # they were made under the conditions of earlier starts
            earlier = [one for one in bundle.environment if one.check in environment.CHECKS]
            conditions = environment.worse_of(earlier, conditions)
        writer.write_environment(out, [*conditions, sliding_windows_condition(kept)])
        pages, lacking = _reserved(where, needs)
        stack.enter_context(pages)
        spent = (time.monotonic() - began) / 60
        done = Measurement(
            setting.counted(), bundle, appender, kept, ready, setting, guardian, lacking, spent
        )
        done.run()
        found = judged_conditions(done, conditions, kept, where)
        writer.write_environment(out, [*found, sliding_windows_condition(kept)])
        sealed = seal(out)
    shutil.rmtree(plan.unsealed_folder(out))
    return sealed


def _sealed_before(request: MeasurementOptions) -> Bundle:
    """The bundle, if a kill of this measurement left nothing to do but to remove working files."""
    out, kept = request.out, plan.load_plan(request.out)
    if kept is None:
        raise TesseraError(
            f"measure into {out}", "this bundle is sealed",
            f"tessera measure bundle verify {out}, or --out OTHER",
            code="bundle-sealed",
        )  # fmt: skip
    plan.require_same(out, "option", kept.request, request.described())
    (out / COUNTS_FILE).unlink(missing_ok=True)  # packed already
    shutil.rmtree(plan.unsealed_folder(out))
    return read_bundle(out)


def _settings_fixed(stack: ExitStack, where: MeasurementSite, request: MeasurementOptions, say: Say):
    """Change settings until the end of ``stack``; the guardian of the changes."""
    planned = environment.plan_changes(where.root, Needs(request.mode))
    for line in planned.lines():
        say(f"--fix: {line}")
    return stack.enter_context(environment.fixed(planned))


def _known_bars(bundle: Bundle) -> list[str]:
    """Reasons, known before the first run, why the bundle will decide no claim."""
    known = bundle.about.protocol in measurement_protocols()
    return [*([] if known else ["rounds or region are not those of a protocol"]), *why_no_evidence(bundle)]


def _begun(setting: MeasurementSetting) -> tuple[list[ReadyWorkload], MeasurementPlan]:
    """The rows and the plan of this measurement, whose bundle has its heads; new ones, or those of before."""
    request, where = setting.request, setting.where
    out, kept, layouts = request.out, plan.load_plan(request.out), None
    if kept is not None:
        plan.require_same(out, "option", kept.request, request.described())
        ready = [_ready_again(name, request, where) for name in kept.rows]
        if not (out / RUNS_FILE).exists():  # killed before the heads were complete
            layouts = _layouts_again(ready, kept, setting)
    elif out.exists() and any(out.iterdir()):
        raise TesseraError(
            f"measure into {out}", "this folder has files, and no plan beside it", "name another folder",
            code="other-plan",
        )  # fmt: skip
    else:
        ready, layouts, kept = _planned(setting)
    if layouts is not None:
        conditions = [
            *environment.examine_conditions(where.root, Needs(request.mode)),
            sliding_windows_condition(kept),
        ]
        begin_bundle(out, kept, ready, layouts, setting.events, setting.machine, setting.head, conditions)
    return ready, kept


def _stop(conditions: Sequence[environment.Condition], request: MeasurementOptions) -> None:
    """Raises TesseraError (``environment``) with all conditions that forbid runs.

    Whether perf may open events, which this process may not, is seen in the trial run.
    """
    found = environment.stopping(conditions)
    if request.counter == PERF:
        found = [one for one in found if one.check != COUNTING]
    if found:
        raise TesseraError(
            "measure on this machine",
            "; ".join(f"{one.check}: wanted {one.wanted}, found {one.found}" for one in found),
            "; ".join(dict.fromkeys(one.remedy for one in found)),
            exit_code=EXIT_FAILED, code="environment",
        )  # fmt: skip


def _planned(setting: MeasurementSetting) -> tuple[list[ReadyWorkload], dict, MeasurementPlan]:
    """Trial runs, layouts, and the plan, which is written."""
    request, where, say = setting.request, setting.where, setting.say
    candidates, left_out = candidate_workloads(request)
    counted, began = setting.counted(), time.monotonic()
    tried, failed = try_all(
        candidates, request, where, setting.work, list(counted.values()), setting.binding, say
    )
    chosen = {}
    for one in list(tried):
        try:
            chosen[one.row.workload] = layouts_of_workload(
                one.row, one.used, request, where, setting.found.name
            )
        except TesseraError as error:
            if request.workloads or len(tried) == 1:
                raise
            failed.append(f"{one.row.workload}: {error.found}")
            tried.remove(one)
    for line in [*left_out, *failed]:
        say(f"left out: {line}")
    wanted = {name: [layout.name for layout in found.layouts] for name, found in chosen.items()}
    if request.minutes:
        spent = (time.monotonic() - began) / 60
        left = request.minutes * plan.TIME_MARGIN - spent
        seconds = {one.row.workload: one.seconds for one in tried}
        wanted = plan.fitting_layouts(seconds, wanted, len(counted), request.rule.min_repeats, left, spent)
    tried = [one for one in tried if one.row.workload in wanted]
    by_source = sorted((chosen[one.row.workload] for one in tried), key=lambda one: one.source == MEASURED)
    kept = MeasurementPlan(
        request.described(),
        {
            one.row.workload: WorkloadPlan(one.seconds, one.used, tuple(wanted[one.row.workload]))
            for one in tried
        },
        by_source[0].source,  # measured only if that of every workload is
        by_source[0].platform,
        environment.throttles(where.root),
        by_source[0].reason,
    )
    plan.save_plan(request.out, kept)
    layouts = {
        (name, layout.name): layout
        for name in kept.rows
        for layout in chosen[name].layouts
        if layout.name in wanted[name]
    }
    _say_eta(kept, len(counted), request, say)
    return [one.row for one in tried], layouts, kept


def _layouts_again(
    ready: Sequence[ReadyWorkload], kept: MeasurementPlan, setting: MeasurementSetting
) -> dict:
    """The layouts of a plan whose heads were not written completely."""
    return {
        (row.workload, layout.name): layout
        for row in ready
        for layout in layouts_of_workload(
            row, kept.rows[row.workload].used, setting.request, setting.where, setting.found.name
        ).layouts
        if layout.name in kept.rows[row.workload].layouts
    }


def _say_eta(kept: MeasurementPlan, count: int, request: MeasurementOptions, say: Say) -> None:
    runs = {name: (row.seconds, len(row.layouts)) for name, row in kept.rows.items()}
    least, most = (
        plan.duration_text(plan.seconds_of_runs(runs, count, rounds))
        for rounds in (min(request.rule.min_repeats, request.rule.max_repeats), request.rule.max_repeats)
    )
    total = sum(layouts for _, layouts in runs.values())
    say(
        f"{len(runs)} workloads, {total} layouts, {count} passes: {least} for {request.rule.min_repeats} "
        f"rounds, at most {most} for {request.rule.max_repeats}"
    )


def _ready_again(name: str, request: MeasurementOptions, where: MeasurementSite) -> ReadyWorkload:
    workload = workloads.load_workload(name)
    return ready_workload(workload, workload.size(request.size), where)


def _needs(bundle: Bundle, request: MeasurementOptions, where: MeasurementSite) -> Needs:
    """Huge pages of the most demanding layouts."""
    return Needs(request.mode, *huge_pages_needed(bundle.layouts.values()), where.node)


def _reserved(where: MeasurementSite, needs: Needs) -> tuple[AbstractContextManager, str]:
    """A block with the pages, and why layouts with 1GB pages are skipped (empty: they are not)."""
    if where.rehearsal:
        return nullcontext(), ""
    stack = ExitStack()
    stack.enter_context(reserve_huge_pages(needs.pages_2mb, node=needs.node))
    try:
        stack.enter_context(reserve_huge_pages(0, needs.pages_1gb, node=needs.node))
    except HugePagesUnavailable as error:
        return stack, error.sentence
    return stack, ""


# Trial runs before a measurement: time and memory of each workload, and whether its runs can be counted.

#: With ``--minutes``, trials take at most this share of the time.
TRIAL_SHARE = 0.25


@dataclass(frozen=True)
class Tried:
    """One workload: ``seconds`` of a run from start to end, and the bytes that it used of each pool."""

    row: ReadyWorkload
    seconds: float
    used: dict[str, int]


def try_all(
    candidates: Sequence[tuple[Workload, Size]],
    request: MeasurementOptions,
    where: MeasurementSite,
    work: Path,
    passes: Sequence[RunCounters],
    binding: Sequence[str],
    say: Callable[[str], None],
) -> tuple[list[Tried], list[str]]:
    """Run each workload once under 4KB pages with the first pass, the first workload with every pass.

    Returns:
        What can be measured, and why other workloads are left out.

    Raises:
        TesseraError: no workload can be measured, or a pass does not fit on the counters.
    """
    tried: list[Tried] = []
    left_out: list[str] = []
    began = time.monotonic()
    for workload, size in candidates:
        spent = time.monotonic() - began
        if tried and request.minutes and spent > TRIAL_SHARE * request.minutes * 60:
            left_out.append(f"{workload.name}: no time for a trial run within --minutes")
            continue
        try:
            row = ready_workload(workload, size, where)
            layout = work / row.workload / f"{ALL_4KB}.csv"
            write_layout(Layout(ALL_4KB, row.pool_bytes), layout)
            done = [
                _trial_run(row, layout, work, where, one, binding)
                for one in (passes[:1] if tried else passes)
            ]
        except TesseraError as error:
            left_out.append(f"{workload.name}: {error.problem}")
            say(f"trial of {workload.name} failed: {error.found}")
            continue
        tried.append(Tried(row, max(one[0] for one in done), done[0][1]))
        say(f"trial of {workload.name}: {tried[-1].seconds:.1f} s a run")
    if not tried:
        raise TesseraError(
            "trial runs", "; ".join(left_out), "run ./run doctor, and tessera measure environment",
            exit_code=EXIT_FAILED, code="no-trial",
        )  # fmt: skip
    return tried, left_out


def _trial_run(row, layout, work, where, counted, binding) -> tuple[float, dict[str, int]]:
    ended = launched(row, layout, work, where, counted, binding)
    if ended.message:
        raise TesseraError(
            f"trial of {row.workload}, events {counted.events.name}", ended.message, "correct this first",
            exit_code=EXIT_FAILED,
        )  # fmt: skip
    return ended.seconds, ended.used_bytes
