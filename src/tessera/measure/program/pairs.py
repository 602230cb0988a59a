"""Gains of variants over 4KB pages: rounds of runs in random order, and an interval of each paired ratio."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from tessera.core.errors import TesseraError
from tessera.core.stats import Interval, mean_interval, paired_ratio_interval
from tessera.measure.program.variants import Variant, base
from tessera.mosalloc.suggest.load import Load


@dataclass(frozen=True)
class Gain:
    """``seconds`` of a variant (mean, 95% interval); ``gain``: the saved share of the time of 4KB pages."""

    variant: Variant
    pages: str
    seconds: Interval
    gain: Interval

    @property
    def proven(self) -> bool:
        """Whether the interval excludes 0."""
        return abs(self.gain.value) > self.gain.half_width


def compare(
    program: Sequence[str],
    variants: Sequence[Variant],
    *,
    load: Load | None = None,
    pairs: int = 10,
    seed: int = 1,
    say: Callable[[str], None] = lambda text: None,
) -> list[Gain]:
    """Run the program under 4KB pages and each variant, ``pairs`` times each; the first of them is 4KB.

    Raises:
        TesseraError: fewer than two pairs, a run that fails, or pages that can't be had.
    """
    if pairs < 2:
        raise TesseraError(f"--pairs {pairs}", "an interval needs at least 2", "give --pairs 10")
    all_of_them = [base(), *variants]
    names = [one.name for one in all_of_them]
    if twice := [name for name in names if names.count(name) > 1]:
        raise TesseraError(f"--try {twice[0]}", "it is there twice", "name each variant once")
    order, seconds = random.Random(seed), {name: [] for name in names}
    with ExitStack() as stack:
        for one in variants:
            stack.enter_context(one.pages_reserved())
        # The first run of each warms files, clocks and memory, and shows its pages: not counted.
        pages = {one.name: one.check(one.run(program, load, watch=True)) for one in all_of_them}
        for number in range(pairs):
            for one in order.sample(all_of_them, len(all_of_them)):
                seconds[one.name].append(one.run(program, load).seconds)
            shown = ", ".join(f"{name} {values[-1]:.4g} s" for name, values in seconds.items())
            say(f"pair {number + 1} of {pairs}: {shown}")
    return [_gain(one, pages[one.name], seconds[one.name], seconds[names[0]]) for one in all_of_them]


def _gain(one: Variant, pages: str, values: Sequence[float], plain: Sequence[float]) -> Gain:
    ratio = paired_ratio_interval(values, plain)
    return Gain(one, pages, mean_interval(values), Interval(1 - ratio.value, ratio.half_width, ratio.count))
