"""The rounds of every workload of a plan: turns, the journal, progress and the time that is left.

After the last run: the conditions that only runs show, and what the measurement tells its user.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results.outcomes import FAILED, OK, SKIPPED
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.machine.environment import Condition, RunFacts, run_conditions, throttles
from tessera.machine.environment.preparation import Guardian
from tessera.measure.bundles.bundle import REGION, Bundle, EventCount, MeasuredRun
from tessera.measure.bundles.cell_arithmetic import R
from tessera.measure.bundles.file_format import LAYOUTS_FOLDER
from tessera.measure.bundles.writer import Writer
from tessera.measure.counted.counted_run import Ended, RunCounters
from tessera.measure.counted.host import MeasurementSite, bound
from tessera.measure.counted.plan import MeasurementPlan, duration_text
from tessera.measure.counted.request import ReadyWorkload
from tessera.measure.counted.setting import MeasurementSetting
from tessera.measure.counted.turns import Turn, TurnRun, Turns, finished, role_count
from tessera.measure.rounds import StoppingRule, relative_runtime, run_rounds


@dataclass
class Measurement:
    """Runs of a bundle, old and new. ``lacking``: why layouts with 1GB pages are skipped.

    ``spent``: minutes that this process took before its first round; with ``--minutes`` they count.
    """

    counted: dict[str, RunCounters]
    bundle: Bundle
    writer: Writer
    plan: MeasurementPlan
    rows: Sequence[ReadyWorkload]
    setting: MeasurementSetting
    guardian: Guardian | None
    lacking: str
    spent: float = 0.0
    runs: list[MeasuredRun] = field(init=False)
    counts: dict[int, Sequence[EventCount]] = field(init=False)

    def __post_init__(self) -> None:
        self.runs, self.counts = list(self.bundle.runs), dict(self.bundle.counts)
        self.passes = self.bundle.passes()
        self.began = time.monotonic()

    def run(self) -> None:
        """The rounds of each workload, one workload after the other.

        A resumed measurement goes on in the workload of its last run: the rounds of those before have ended.
        """
        last = self.runs[-1].workload if self.runs else ""
        names = [row.workload for row in self.rows]
        first = names.index(last) if last else 0
        for at, row in enumerate(self.rows):
            if at >= first:
                self._run(row, self._rule(at))

    def _run(self, row: ReadyWorkload, rule: StoppingRule) -> None:
        """The rounds of one workload; the one that an earlier process began is finished first."""
        name = row.workload
        before = [run for run in self.runs if run.workload == name]
        bad = {run.layout for run in before if not run.good}
        for layout in self.plan.rows[name].layouts:
            if self.lacking and layout not in bad and self.bundle.layouts[name, layout].pages(PAGE_1GB):
                self._skip(row, layout)
                bad.add(layout)
        active = [layout for layout in self.plan.rows[name].layouts if layout not in bad]
        earlier = finished(self.runs, self.counts, self.passes, name)
        run_rounds(
            active,
            [turn for turn in earlier if turn.layout in active],
            self._turns(row).run,
            rule,
            self.setting.request.seed,
            begun=max((run.round for run in before), default=None),
        )

    def _rule(self, at: int) -> StoppingRule:
        """The stopping rule of a workload: with ``--minutes``, its share of the time that is left."""
        request = self.setting.request
        if request.minutes is None:
            return request.rule
        costs = [row.seconds * len(row.layouts) for row in self.plan.rows.values()]
        left = max(0.0, request.minutes - self.spent - (time.monotonic() - self.began) / 60)
        return replace(request.rule, max_minutes=left * costs[at] / sum(costs[at:]))

    def _turns(self, row: ReadyWorkload) -> Turns:
        """How a workload's layouts are run in a round."""
        setting = self.setting
        folder = (setting.request.out / LAYOUTS_FOLDER / row.workload).absolute()
        return Turns(
            row,
            {layout: folder / f"{layout}.csv" for layout in self.plan.rows[row.workload].layouts},
            {
                name: TurnRun(counted, lambda ended, name=name: self._cycles(name, ended))
                for name, counted in self.counted.items()
            },
            setting.where,
            setting.work.absolute(),
            _Journal(self, row),
            setting.say,
            setting.binding,
            self.guardian.check if self.guardian is not None else lambda: None,
        )

    def _cycles(self, name: str, ended: Ended) -> int:
        return role_count([EventCount(0, *event) for event in ended.counts.events], self.passes[name], R)

    def found(self, row: ReadyWorkload, layout: str, number: int) -> dict[str, int]:
        """Passes of a turn that an earlier process ran, with their R."""
        here = (row.workload, layout, number)
        done = {r.pass_name: r for r in self.runs if (r.workload, r.layout, r.round) == here}
        return {name: role_count(self.counts[r.run], self.passes[name], R) for name, r in done.items()}

    def keep(self, row: ReadyWorkload, layout: str, number: int, name: str, ended: Ended) -> None:
        """Write one run and its counts, and show it.

        ``roi_ns`` is the program's own clock if that was counted, so that two clocks can be compared.
        """
        run = MeasuredRun(
            len(self.runs), row.workload, row.size.label, layout, number, name, FAILED, ended.message
        )
        counts: list[EventCount] = []
        if not ended.message:
            small, large, largest = (ended.pages[size] for size in (PAGE_4KB, PAGE_2MB, PAGE_1GB))
            region_ns = ended.counts.region_ns
            run = replace(
                run,
                status=OK,
                roi_ns=region_ns if ended.clock_ns is None else ended.clock_ns,
                pages_4kb=small,
                pages_2mb=large,
                pages_1gb=largest,
            )
            counts = [
                EventCount(run.run, *event) for event in (*ended.counts.events, (REGION, region_ns, 0, 0))
            ]
        self._append(run, counts)
        shown = ended.message or f"R {self._cycles(name, ended):.4g} cycles, {run.roi_ns / 1e9:.3f} s"
        self.setting.say(
            f"round {number + 1}, {row.workload}, {layout}, pass {name}: {shown}; {self._left()}"
        )

    def _skip(self, row: ReadyWorkload, layout: str) -> None:
        name = next(iter(self.passes))
        self._append(
            MeasuredRun(len(self.runs), row.workload, row.size.label, layout, 0, name, SKIPPED, self.lacking),
            [],
        )
        self.setting.say(f"{row.workload}, {layout} is skipped: {self.lacking}")

    def _append(self, run: MeasuredRun, counts: Sequence[EventCount]) -> None:
        self.writer.append(run, counts)
        self.runs.append(run)
        self.counts[run.run] = tuple(counts)

    def _left(self) -> str:
        """Time until the least number of rounds is done, by the runs of the trial."""
        rounds = self.setting.request.rule.min_repeats
        left = 0.0
        for name, row in self.plan.rows.items():
            done = sum(run.workload == name for run in self.runs)
            wanted = len(row.layouts) * len(self.passes) * rounds
            left += max(0, wanted - done) * row.seconds
        return f"about {duration_text(left)} to round {rounds}" if left else "further rounds for precision"


@dataclass(frozen=True)
class _Journal:
    """The runs of one workload in the bundle: a :class:`tessera.measure.counted.turns.Journal`."""

    done: Measurement
    row: ReadyWorkload

    def found(self, layout: str, number: int) -> dict[str, int]:
        return self.done.found(self.row, layout, number)

    def keep(self, layout: str, number: int, name: str, ended: Ended) -> None:
        self.done.keep(self.row, layout, number, name, ended)


# The conditions after the last run: those of before, and those that only runs show.

#: Quantity -> field of the facts of a run.
_FACT_FIELDS = {
    "R time": "task_clock_ns", "page faults": "page_faults", "migrations": "migrations",
    R: "cycles", "R reference cycles": "ref_cycles",
}  # fmt: skip


def judged_conditions(
    done: Measurement, before: Sequence[Condition], kept: MeasurementPlan, where: MeasurementSite
) -> list[Condition]:
    """Rows of ``environment.csv``. A launcher confirms the pages of every run that is ok."""
    found = [run_facts(done, run) for run in done.runs if run.good]
    return [*before, *run_conditions(found, kept.throttles, throttles(where.root))]


def run_facts(done: Measurement, run) -> RunFacts:
    """A run's numbers by role. A program that is bound to one processor does not migrate."""
    events = done.passes[run.pass_name]
    numbers = {name: role_count(done.counts[run.run], events, role) for role, name in _FACT_FIELDS.items()}
    if numbers["migrations"] is None and bound(done.setting.binding):
        numbers["migrations"] = 0
    return RunFacts(
        str(run.run), run.workload, run.layout, roi_ns=run.roi_ns, pages_confirmed=True, **numbers
    )


# What its user is told: R of each layout, and its precision.

#: Largest standard deviation of R over its mean (MICRO'20 section VI).
LARGEST_SD = 0.05
SUMMARY_HEADS = (
    "workload",
    "layout",
    "rounds",
    f"{R} (mean)",
    f"R / R of {ALL_4KB}",
    "95% half-width",
    "sd/mean",
)


def summary_rows(bundle: Bundle) -> Iterator[tuple[str, ...]]:
    """A row of text for each workload and layout; a failed one has its message."""
    passes = bundle.passes()
    for workload in bundle.workloads:
        turns = finished(bundle.runs, bundle.counts, passes, workload)
        bad = {run.layout: run for run in bundle.runs if run.workload == workload and not run.good}
        for name in (layout for one, layout in bundle.layouts if one == workload):
            if name in bad:
                yield workload, name, "-", f"{bad[name].status}: {bad[name].message}", "-", "-", "-"
            else:
                yield (workload, name, *_summary_numbers(turns, name))


def _summary_numbers(turns: list[Turn], layout: str) -> tuple[str, ...]:
    values = [turn.runtime for turn in turns if turn.layout == layout]
    ratio = relative_runtime(turns, layout)
    shown = ("-", "-") if ratio is None else (f"{ratio.value:.4f}", f"{ratio.half_width:.2%}")
    return str(len(values)), f"{statistics.fmean(values):.4g}", *shown, spread(values)


def spread(values: list[float]) -> str:
    """Standard deviation over mean, marked if it exceeds the paper's 5%."""
    if len(values) < 2:
        return "-"
    share = statistics.stdev(values) / statistics.fmean(values)
    return f"{share:.2%}" + (f" (above {LARGEST_SD:.0%})" if share > LARGEST_SD else "")
