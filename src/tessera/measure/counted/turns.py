"""A layout's turn in a round: one run of each pass. R of the passes must agree.

All real runs in rounds are made here. Those of bundles (:mod:`tessera.measure.counted.bundle_rounds`) have
passes of events. Those of the pipeline (:mod:`tessera.measure.hybrid_cells`) have one pass, :data:`CLOCK`,
without events. They differ in the passes, in the attempts of a pass, and in the journal.

The first pass changes from round to round, so that no pass always runs on a colder machine. A run that fails
is tried again at once; only the last failure is recorded, because a failed run leaves its layout without
numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tessera.core.results.outcomes import FAILED, OK
from tessera.measure.bundles.bundle import CountedEvent, EventCount, MeasuredRun
from tessera.measure.bundles.cell_arithmetic import LARGEST_SPREAD, R
from tessera.measure.counted.counted_run import Ended, RunCounters, launched
from tessera.measure.counted.host import MeasurementSite
from tessera.measure.counted.request import ReadyWorkload

ATTEMPTS = 3
CLOCK = "clock"


@dataclass(frozen=True)
class Turn:
    """All passes of a layout in a round; ``runtime`` is their mean, None if one failed.

    Its unit is that of the passes: cycles of R, or ns of a clock pass.
    """

    layout: str
    round: int
    status: str
    runtime: float | None


@dataclass(frozen=True)
class TurnRun:
    """One run of a turn: what is counted (None: only the clock), and the ``runtime`` of a run that counts."""

    counted: RunCounters | None
    runtime: Callable[[Ended], int]


def clock_pass() -> dict[str, TurnRun]:
    """The one pass of runs without counters: the clock time of the region of interest, in ns."""
    return {CLOCK: TurnRun(None, lambda ended: ended.counts.region_ns)}


class Journal(Protocol):
    """Where runs are kept.

    Contract: when ``keep`` returns, the run is on the disk. ``found`` gives the passes of a turn that an
    earlier process kept, with their runtimes; these are not run again. It is empty if turns are never
    continued.
    """

    def found(self, layout: str, number: int) -> dict[str, int]: ...
    def keep(self, layout: str, number: int, name: str, ended: Ended) -> None: ...


@dataclass(frozen=True)
class Turns:
    """The turns of one workload.

    Attributes:
        files: layout -> its file, absolute.
        work: folder for the launcher's files, absolute.
        binding: words before the launcher's.
        before: called before each pass; may raise to end the measurement.
        attempts: of a pass.
    """

    row: ReadyWorkload
    files: Mapping[str, Path]
    passes: Mapping[str, TurnRun]
    where: MeasurementSite
    work: Path
    journal: Journal
    say: Callable[[str], None]
    binding: Sequence[str] = ()
    before: Callable[[], None] = lambda: None
    attempts: int = ATTEMPTS

    def run(self, layout: str, number: int) -> Turn:
        """The passes of ``layout`` in round ``number``. A failure is in the result, and ends the turn."""
        found = self.journal.found(layout, number)
        for name in order(list(self.passes), number):
            if name in found:
                continue
            self.before()
            one = self.passes[name]
            ended = run_until_it_counts(
                lambda one=one: self._launched(layout, one),
                list(found.values()),
                one.runtime,
                self.say,
                self.attempts,
            )
            self.journal.keep(layout, number, name, ended)
            if ended.message:
                return Turn(layout, number, FAILED, None)
            found[name] = one.runtime(ended)
        return Turn(layout, number, OK, sum(found.values()) / len(found))

    def _launched(self, layout: str, one: TurnRun) -> Ended:
        return launched(self.row, self.files[layout], self.work, self.where, one.counted, self.binding)


def order(passes: Sequence[str], number: int) -> list[str]:
    """The passes of round ``number``, rotated."""
    first = number % len(passes)
    return [*passes[first:], *passes[:first]]


def role_count(counts: Sequence[EventCount], events: Sequence[CountedEvent], role: str) -> int | None:
    """The count of a role in a run; None if its pass does not count it."""
    names = [event.name for event in events if event.role == role]
    return next((count.value for count in counts if count.event in names), None)


def why_runs_differ(found: Sequence[int]) -> str:
    """Why these R are not those of one program; empty if they agree."""
    mean = sum(found) / len(found)
    spread = (max(found) - min(found)) / mean if mean else 0.0
    if mean and spread <= LARGEST_SPREAD:
        return ""
    return f"R is {min(found)} to {max(found)} cycles in the passes of this round: {spread:.1%} apart"


def run_until_it_counts(
    run_pass: Callable[[], Ended], others: Sequence[int], runtime: Callable[[Ended], int],
    say: Callable[[str], None], attempts: int = ATTEMPTS,
) -> Ended:  # fmt: skip
    """One pass, tried until it counts and agrees with the ``others``' R; at most ``attempts`` times."""
    for number in range(1, attempts + 1):
        ended = run_pass()
        message = ended.message or why_runs_differ([*others, runtime(ended)])
        if not message:
            return ended
        if number < attempts:
            say(f"attempt {number} of {attempts} failed: {message}")
    return Ended(message if attempts == 1 else f"{attempts} attempts, the last: {message}", ended.seconds)


def finished(
    runs: Sequence[MeasuredRun],
    counts: dict[int, Sequence[EventCount]],
    passes: dict[str, Sequence[CountedEvent]],
    workload: str,
) -> list[Turn]:
    """Complete turns of a workload among earlier runs, in the order of their rounds."""
    found: dict[tuple[int, str], dict[str, int]] = {}
    for run in runs:
        if run.workload == workload and run.good:
            cycles = role_count(counts[run.run], passes[run.pass_name], R)
            found.setdefault((run.round, run.layout), {})[run.pass_name] = cycles
    whole = {key: values for key, values in found.items() if values.keys() == passes.keys()}
    return [
        Turn(layout, number, "ok", sum(values.values()) / len(values))
        for (number, layout), values in sorted(whole.items())
    ]
