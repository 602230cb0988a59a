"""Calibrated simulation: R of P-bar from two simulations and R of P, if a line maps one clock to the other.

S is the runtime in cycles by a simulator with a clock, of P under each layout, of P under the layout asked
about (S_0, the base) and of P-bar there (S'). R is the runtime of P by the processor that matters, real or
simulated. Three estimates, equal if the simulator is right up to a factor and to an offset:

    ratio       R_0 S' / S_0
    difference  R_0 + S' - S_0
    line        R_0 + b (S' - S_0), b the slope of R = a + b S over the layouts of P

The line has the least squared relative error. Its largest leave-one-out error is g; layouts of equal H, M
and C are left out together. The *gate* decides whether there is an answer: g at most 2%, b from 0.67 to 1.5,
and the three estimates within 2% of their median. The answer is the median; the interval has the
extremes as ends, widened by g, but at least by 1%, to each side.

The gate rejects a simulator without a mechanism that matters on P, such as the limit of walkers. It cannot
see one that matters on P-bar only. Its limits were chosen after seeing the cases that they reject, so
they are exploratory; a later choice gets another name.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from tessera.fit.evaluation.cross_validation import duplicate_groups
from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import Samples
from tessera.fit.predict.answers import Answer, Reason, Refused, finite_answer, number_reasons, why_not

SOURCE = "calibrated"
LARGEST_ERROR = 0.02  #: of the line, leaving out one layout
LEAST_SLOPE, GREATEST_SLOPE = 0.67, 1.5
APART = 0.02  #: of the median, between the largest and the least estimate
LEAST_WIDENING = 0.01  #: of the centre, to each side
WIDEST = 0.10  #: half-width that is still an answer; the gate keeps it below 5%


@dataclass(frozen=True)
class Clocks:
    """Runtimes in cycles under the layout asked about; None is one that nobody has, and is refused by name.

    Args:
        runtime: R_0, of P by the processor that matters.
        simulated: S_0, of P by the simulator.
        design: S', of P-bar by the same simulator.
    """

    runtime: float | None
    simulated: float | None
    design: float | None


@dataclass(frozen=True)
class Calibrated:
    """A fitted calibration; :meth:`fit` makes it. R = ``intercept`` (cycles) + ``slope`` S."""

    intercept: float
    slope: float
    error: float  #: g, the largest leave-one-out error, as a share of R

    @classmethod
    def fit(cls, samples: Samples, simulated: Mapping[str, float]) -> Calibrated:
        """Learn from P under mosaics.

        Args:
            samples: at least 12 distinct layouts, with R in cycles.
            simulated: S in cycles of each of these layouts, by its name.

        Raises:
            CannotFit: with ``code``: ``few-layouts``; ``equal-s`` (one S); ``layouts-differ`` (an S without a
                sample, or a sample without S); ``s-`` or ``r-`` and what is wrong with a number.
        """
        wrong = why_not(samples) or _differences(samples, simulated)
        if wrong:
            raise CannotFit(
                SOURCE, wrong[0].text, "simulate and run the same layouts of P", code=wrong[0].code
            )
        samples = samples.in_order()
        S, R = np.array([float(simulated[name]) for name in samples.layouts]), samples.R
        groups = duplicate_groups(samples)
        # leaving out one layout must leave a line, so at least three values of S
        if len(np.unique(S)) < 3:
            found = f"S has {len(np.unique(S))} different values over {len(S)} layouts"
            raise CannotFit(SOURCE, found, "simulate layouts that differ", code="equal-s")
        intercept, slope = line(S, R)
        error = 0.0
        for group in range(int(groups.max()) + 1):
            out = groups == group
            a, b = line(S[~out], R[~out])
            error = max(error, float(np.abs((a + b * S[out]) / R[out] - 1).max()))
        return cls(intercept, slope, error)

    def estimates(self, clocks: Clocks) -> dict[str, float]:
        """The three estimates in cycles, without the gate; the clocks must be numbers above 0."""
        R, S, new = (float(cast(float, value)) for value in (clocks.runtime, clocks.simulated, clocks.design))
        return {"ratio": R * new / S, "difference": R + new - S, "line": R + self.slope * (new - S)}

    def answer(self, clocks: Clocks) -> Answer | Refused:
        """The runtime of the design.

        Codes of refusals: ``r0``, ``s0`` or ``s`` with ``-absent``, ``-not-finite``, ``-negative`` or
        ``-zero``; of the gate ``error``, ``slope``, ``apart``; ``not-finite``.
        """
        reasons = [
            *number_reasons("r0", "R_0, the runtime of P under this layout,", clocks.runtime, above=True),
            *number_reasons(
                "s0", "S_0, the simulated runtime of P under this layout,", clocks.simulated, above=True
            ),
            *number_reasons("s", "S', the simulated runtime of the design,", clocks.design, above=True),
        ]
        if reasons:
            return Refused(SOURCE, tuple(reasons))
        estimates = self.estimates(clocks)
        centre = statistics.median(estimates.values())
        least, greatest = min(estimates.values()), max(estimates.values())
        more = max(LEAST_WIDENING, self.error) * abs(centre)
        low, high = least - more, greatest + more
        reasons = self._gate(centre, greatest - least)
        if reasons:
            return Refused(SOURCE, tuple(reasons), low, high)
        base = float(cast(float, clocks.runtime))
        return finite_answer(Answer(SOURCE, centre, low, high, base, estimates), WIDEST)

    def _gate(self, centre: float, spread: float) -> list[Reason]:
        """What it rejects; ``spread`` of the estimates in cycles."""
        found = []
        if not self.error <= LARGEST_ERROR:
            text = f"R = a + b S is wrong by {self.error:.2%} on a layout of P, more than {LARGEST_ERROR:.0%}"
            found.append(Reason("error", text))
        if not LEAST_SLOPE <= self.slope <= GREATEST_SLOPE:
            text = f"the slope of R over S is {self.slope:.3g}, outside {LEAST_SLOPE} to {GREATEST_SLOPE}"
            found.append(Reason("slope", text))
        if not spread <= APART * abs(centre):
            share = spread / abs(centre) if centre else math.inf
            differ = f"by {share:.2%} of their median, " if math.isfinite(share) else ""
            text = f"the three estimates differ {differ}more than {APART:.0%}"
            found.append(Reason("apart", text))
        return found


def line(S: np.ndarray, R: np.ndarray) -> tuple[float, float]:
    """(a, b) of the R = a + b S (n,) with the least squared relative error; S not all equal."""
    x, y = S / S.mean(), R / R.mean()
    A = np.column_stack([1 / y, x / y])
    (a, b), *_ = np.linalg.lstsq(A, np.ones(len(y)), rcond=None)
    return float(a * R.mean()), float(b * R.mean() / S.mean())


def _differences(samples: Samples, simulated: Mapping[str, float]) -> list[Reason]:
    """Why S and the samples are not those of the same layouts."""
    without = sorted(set(samples.layouts) - set(simulated)), sorted(set(simulated) - set(samples.layouts))
    for names, what in zip(without, ("no S for", "no sample for"), strict=True):
        if names:
            return [Reason("layouts-differ", f"{what} {len(names)} layouts, such as {names[0]}")]
    for name in samples.layouts:
        found = number_reasons("s", f"the simulated runtime of layout {name}", simulated[name], above=True)
        if found:
            return found
    return []
