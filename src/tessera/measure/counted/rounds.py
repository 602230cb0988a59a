"""The rounds of every workload of a plan: turns, the journal, progress and the time that is left."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tessera.bundles.model import REGION, Bundle, Count, Run
from tessera.bundles.names import LAYOUTS
from tessera.bundles.numbers import R
from tessera.bundles.writer import Writer
from tessera.core.units import PAGE_1GB, PAGE_2MB, PAGE_4KB
from tessera.machine.environment.fix import Guardian
from tessera.measure.counted import choice, turns
from tessera.measure.counted.launched import Counted, Ended
from tessera.measure.counted.plan import Plan
from tessera.measure.counted.rows import Row
from tessera.measure.counted.setting import Setting
from tessera.measure.counted.turns import Pass, Turns
from tessera.measure.rounds import Rule, run_rounds
from tessera.results.status import FAILED, OK, SKIPPED


@dataclass
class Measurement:
    """Runs of a bundle, old and new. ``lacking``: why layouts with 1GB pages are skipped.

    ``spent``: minutes that this process took before its first round; with ``--minutes`` they count.
    """

    counted: dict[str, Counted]
    bundle: Bundle
    writer: Writer
    plan: Plan
    rows: Sequence[Row]
    setting: Setting
    guardian: Guardian | None
    lacking: str
    spent: float = 0.0
    runs: list[Run] = field(init=False)
    counts: dict[int, Sequence[Count]] = field(init=False)

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

    def _run(self, row: Row, rule: Rule) -> None:
        """The rounds of one workload; the one that an earlier process began is finished first."""
        name = row.workload
        before = [run for run in self.runs if run.workload == name]
        bad = {run.layout for run in before if not run.good}
        for layout in self.plan.rows[name].layouts:
            if self.lacking and layout not in bad and self.bundle.layouts[name, layout].pages(PAGE_1GB):
                self._skip(row, layout)
                bad.add(layout)
        active = [layout for layout in self.plan.rows[name].layouts if layout not in bad]
        earlier = turns.finished(self.runs, self.counts, self.passes, name)
        run_rounds(
            active,
            [turn for turn in earlier if turn.layout in active],
            self._turns(row).run,
            rule,
            self.setting.request.seed,
            begun=max((run.round for run in before), default=None),
        )

    def _rule(self, at: int) -> Rule:
        """The stopping rule of a workload: with ``--minutes``, its share of the time that is left."""
        request = self.setting.request
        if request.minutes is None:
            return request.rule
        costs = [row.seconds * len(row.layouts) for row in self.plan.rows.values()]
        left = max(0.0, request.minutes - self.spent - (time.monotonic() - self.began) / 60)
        return replace(request.rule, max_minutes=left * costs[at] / sum(costs[at:]))

    def _turns(self, row: Row) -> Turns:
        """How a workload's layouts are run in a round."""
        setting = self.setting
        folder = (setting.request.out / LAYOUTS / row.workload).absolute()
        return Turns(
            row,
            {layout: folder / f"{layout}.csv" for layout in self.plan.rows[row.workload].layouts},
            {
                name: Pass(counted, lambda ended, name=name: self._cycles(name, ended))
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
        return turns.value([Count(0, *event) for event in ended.counts.events], self.passes[name], R)

    def found(self, row: Row, layout: str, number: int) -> dict[str, int]:
        """Passes of a turn that an earlier process ran, with their R."""
        here = (row.workload, layout, number)
        done = {r.pass_name: r for r in self.runs if (r.workload, r.layout, r.round) == here}
        return {name: turns.value(self.counts[r.run], self.passes[name], R) for name, r in done.items()}

    def keep(self, row: Row, layout: str, number: int, name: str, ended: Ended) -> None:
        """Write one run and its counts, and show it.

        ``roi_ns`` is the program's own clock if that was counted, so that two clocks can be compared.
        """
        run = Run(len(self.runs), row.workload, row.size.label, layout, number, name, FAILED, ended.message)
        counts: list[Count] = []
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
            counts = [Count(run.run, *event) for event in (*ended.counts.events, (REGION, region_ns, 0, 0))]
        self._append(run, counts)
        shown = ended.message or f"R {self._cycles(name, ended):.4g} cycles, {run.roi_ns / 1e9:.3f} s"
        self.setting.say(
            f"round {number + 1}, {row.workload}, {layout}, pass {name}: {shown}; {self._left()}"
        )

    def _skip(self, row: Row, layout: str) -> None:
        name = next(iter(self.passes))
        self._append(
            Run(len(self.runs), row.workload, row.size.label, layout, 0, name, SKIPPED, self.lacking), []
        )
        self.setting.say(f"{row.workload}, {layout} is skipped: {self.lacking}")

    def _append(self, run: Run, counts: Sequence[Count]) -> None:
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
        return f"about {choice.hours(left)} to round {rounds}" if left else "further rounds for precision"


@dataclass(frozen=True)
class _Journal:
    """The runs of one workload in the bundle: a :class:`tessera.measure.counted.turns.Journal`."""

    done: Measurement
    row: Row

    def found(self, layout: str, number: int) -> dict[str, int]:
        return self.done.found(self.row, layout, number)

    def keep(self, layout: str, number: int, name: str, ended: Ended) -> None:
        self.done.keep(self.row, layout, number, name, ended)
