"""Rounds of runs: one run per layout in a new random order, until the differences are known well enough.

The quantity of interest is the runtime of a layout relative to the all-4KB layout, and the whole effect is a
few percent. So the stopping rule uses the ratios of runs of the same round (:mod:`tessera.core.statistics`):
drift between rounds cancels. Without a 4KB run it uses the mean of each layout.

A layout that fails is not run again in this experiment; the others go on.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tessera.core.layouts.layout import ALL_4KB
from tessera.core.results.outcomes import is_ok
from tessera.core.statistics import Interval, mean_interval, paired_ratio_interval


class Timed(Protocol):
    """One layout's turn in a round: ``runtime`` in any unit, None if it failed."""

    @property
    def layout(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def runtime(self) -> float | None: ...


_Turn = TypeVar("_Turn", bound=Timed)


@dataclass(frozen=True)
class StoppingRule:
    """When to stop.

    Attributes:
        half_width: 95% half-width asked for, as a fraction.
        min_repeats: rounds before the rule is looked at; few values give accidental zeros.
        max_repeats: rounds after which a layout that isn't known well enough is flagged.
        max_minutes: no new round starts later than this; ``None`` is no limit.
    """

    half_width: float = 0.005
    min_repeats: int = 5
    max_repeats: int = 20
    max_minutes: float | None = None


def times(runs: Sequence[Timed], layout: str) -> dict[int, float]:
    """Round -> runtime of a layout's successful runs."""
    return {r.round: r.runtime for r in runs if r.layout == layout and r.runtime is not None}


def relative_runtime(runs: Sequence[Timed], layout: str) -> Interval | None:
    """Runtime of a layout relative to the base of the same rounds; ``None`` without such pairs."""
    here, base = times(runs, layout), times(runs, ALL_4KB)
    rounds = sorted(here.keys() & base.keys())
    if not rounds:
        return None
    return paired_ratio_interval([here[r] for r in rounds], [base[r] for r in rounds])


def precision(runs: Sequence[Timed], layout: str, based: bool) -> Interval | None:
    """The interval that the stopping rule looks at; ``None`` while there are no values."""
    if based and layout != ALL_4KB:
        return relative_runtime(runs, layout)
    values = list(times(runs, layout).values())
    return mean_interval(values) if values else None


def known(runs: Sequence[Timed], layout: str, based: bool, rule: StoppingRule) -> bool:
    """Whether a layout needs no more rounds. The base has no difference to itself: only a count."""
    interval = precision(runs, layout, based)
    least = min(rule.min_repeats, rule.max_repeats)
    if interval is None or interval.count < least:
        return False
    return (based and layout == ALL_4KB) or fraction(interval, based) <= rule.half_width


def fraction(interval: Interval, based: bool) -> float:
    """Half-width: of a difference as a share of the base's runtime (as printed); of a mean, of the mean."""
    return interval.half_width if based else interval.relative


def run_rounds(
    layouts: list[str],
    runs: Sequence[_Turn],
    run_once: Callable[[str, int], _Turn],
    rule: StoppingRule,
    seed: int,
    clock: Callable[[], float] = time.monotonic,
    *,
    begun: int | None = None,
) -> list[_Turn]:
    """All successful runs so far plus the new ones; ``runs`` are those of earlier processes.

    ``run_once(layout, round)`` runs, records and returns one run.

    Args:
        begun: the last round of an earlier process. What it lacks is run first, also if the time is up.
            None: a new round begins.
    """
    runs, failed = list(runs), set()
    start, number = clock(), max((r.round for r in runs), default=-1) + 1 if begun is None else begun
    while True:
        active = [layout for layout in layouts if layout not in failed]
        based = ALL_4KB in active
        here = {r.layout for r in runs if r.round == number}
        done = [len(times(runs, layout)) for layout in active]
        cut = number == begun and not here.issuperset(active)  # a killed process did not finish this round
        if not active or (min(done) >= rule.max_repeats and not cut):
            return runs
        if all(known(runs, layout, based, rule) for layout in active) and not cut:
            return runs
        late = rule.max_minutes is not None and clock() - start > rule.max_minutes * 60
        if late and min(done) > 0 and not cut:
            return runs
        # The order depends on the seed and the round's number only, so that a resumed run shuffles alike.
        order = random.Random(f"{seed}/{number}").sample(active, len(active))
        for layout in (name for name in order if name not in here):
            run = run_once(layout, number)
            runs.append(run)
            if not is_ok(run.status):
                failed.add(layout)
        number += 1
