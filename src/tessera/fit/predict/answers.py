"""What a source of answers for a new design returns: an interval in cycles, or the reasons why there is none.

`bracket` and `calibrated` give these. Both refuse rather than guess, and never return a bare number: a centre
always has an interval, which is finite and above zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from tessera.fit.evaluation.cross_validation import duplicate_groups
from tessera.fit.models.samples import Samples

LEAST_LAYOUTS = 12  #: distinct (H, M, C) rows of P that a source needs


class Reason(NamedTuple):
    """Why there is no answer: ``code`` for programs and tests, ``text`` for people."""

    code: str
    text: str


@dataclass(frozen=True)
class Answer:
    """Runtime of a design in cycles: ``centre``, and ``low`` to ``high`` around it, all above zero.

    ``base`` is R_0, the runtime of P under the same layout. ``estimates`` has what the interval is made of:
    name -> cycles, before the widening.
    """

    source: str
    centre: float
    low: float
    high: float
    base: float
    estimates: dict[str, float]

    @property
    def half_width(self) -> float:
        """Half the interval, as a share of the centre."""
        return (self.high - self.low) / 2 / self.centre

    @property
    def differs(self) -> bool:
        """False if the interval contains R_0: then no difference from P can be told."""
        return not self.low <= self.base <= self.high


@dataclass(frozen=True)
class Refused:
    """No answer. ``low`` and ``high`` (cycles) are what the source would have said, NaN if it had nothing."""

    source: str
    reasons: tuple[Reason, ...]
    low: float = math.nan
    high: float = math.nan

    @property
    def codes(self) -> tuple[str, ...]:
        return tuple(reason.code for reason in self.reasons)

    def __str__(self) -> str:
        return f"{self.source}: no answer: " + "; ".join(reason.text for reason in self.reasons)


def number_reasons(code: str, what: str, value: float | None, *, above: bool = False) -> list[Reason]:
    """Reasons against a number that is absent, not finite, negative, or zero where it must be ``above`` it.

    Args:
        code: of the quantity; the reason's code is this and ``-absent``, ``-not-finite``, ``-negative``
            or ``-zero``.
    """
    if value is None:
        return [Reason(f"{code}-absent", f"{what} is absent")]
    if not math.isfinite(value):
        return [Reason(f"{code}-not-finite", f"{what} is {value}")]
    if value < 0:
        return [Reason(f"{code}-negative", f"{what} is {value:g}, and must not be negative")]
    if above and not value:
        return [Reason(f"{code}-zero", f"{what} is 0, and must be greater")]
    return []


def finite_answer(answer: Answer, widest: float) -> Answer | Refused:
    """The answer, unless its interval is not finite, reaches zero, or has a half-width above ``widest``."""
    source, low, high = answer.source, answer.low, answer.high
    if not all(map(math.isfinite, (answer.centre, low, high))):
        return Refused(source, (Reason("not-finite", "the interval is not finite: check the units"),))
    if min(low, answer.centre) <= 0:
        text = "the interval reaches down to 0 or below, and a runtime is above 0"
        return Refused(source, (Reason("not-positive", text),), low, high)
    if answer.half_width > widest:
        width = f"{answer.half_width:.1%}" if answer.half_width < 10 else f"{answer.half_width:.3g} times it"
        text = f"the half-width is {width}, more than {widest:.0%}"
        return Refused(source, (Reason("wide", text),), low, high)
    return answer


def why_not(samples: Samples) -> list[Reason]:
    """Why these samples of P cannot answer for a design, whatever the source; [] if they can."""
    for symbol, what in (("R", "runtime"), ("C", "walk cycles"), ("H", "STLB hits"), ("M", "STLB misses")):
        for layout, value in zip(samples.layouts, getattr(samples, symbol), strict=True):
            found = number_reasons(
                symbol.lower(), f"{what} of layout {layout}", float(value), above=symbol == "R"
            )
            if found:
                return found
    distinct = int(duplicate_groups(samples).max(initial=-1)) + 1
    if distinct < LEAST_LAYOUTS:
        text = f"{distinct} distinct layouts of P, and {LEAST_LAYOUTS} are needed"
        return [Reason("few-layouts", text)]
    return []
