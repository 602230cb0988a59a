"""The anchored bracket: an interval for a new TLB, walk cache or page table, from samples of P alone.

A design P-bar changes what translation costs, not the processor. So its runtime is R_0, that of P under the
same layout (the *base*), and the effect of its walk cycles: R_0 + f(C') - f(C_0). Functions f that fit P's
samples about equally well differ where P has no samples; their extremes are the interval. In the inputs, C
is *busy* time (the walks' cycles and those of background walks, C + B), and H is *latency*: the hits'
cycles divided by the hit time of P.

Members, each a function of C:

- `cubic`, `minimax`: poly3 and minimax; beyond the samples' C, straight on along the tangent there, its
  slope clipped to [0, 1.25]. Bare cubics explode outside their samples.
- `free`, `convex`: continuous piecewise lines with three knots, at the quartiles of C. Slopes are in
  [0, 1.25], for `convex` they never fall. Least squares of the relative error, with a weak ridge towards
  the slope of the straight line, and an intercept that is not negative.

If C' > C_0, three lines through the base stand beside them: slope 1 (each cycle of a walk delays the
program by one), the tangent of `free` at C_0 clipped to [0, 1], and the slope between P's 4KB and 2MB runs.
Page sizes and slower walks have different slopes: measured changes of the walk's cost lie between the last
slope and 1. Look-ups move both ends: they add between nothing and their extra cycles. A walker is not busy
for longer than the run, so no end is below C' / walkers. The interval is widened on both sides by the
in-sample error of the best member, but at least 1%.

Not modelled: whatever changes R at equal C (number of walkers, queues, the core). The caller must not ask
about those; `walkers` is for the floor only. Members, slopes and widening were chosen on three simulated
workloads, so they are exploratory; a later choice gets another name.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.polynomials import Minimax, Poly3
from tessera.fit.models.samples import Samples
from tessera.fit.predict.answers import Answer, Reason, Refused, finite_answer, number_reasons, why_not

SOURCE = "bracket"
STEEPEST = 1.25  #: cycles of runtime per busy cycle, of every member
KNOTS = (0.25, 0.5, 0.75)  #: quantiles of C
RIDGE = 1e-3  #: weight of the ridge, beside the mean squared relative error
TANGENT = 0.02  #: the tangent at the base spans this share of the largest C to both sides
LEAST_WIDENING = 0.01  #: of the centre, to each side
LEAST_DIFFERENT = 4  #: values of C, for the cubics
WIDEST = 0.10  #: half-width that is still an answer
FARTHEST = 4.0  #: largest C' that is answered, in largest C of P


@dataclass(frozen=True)
class ProcessorCounts:
    """P under the layout that is asked about: R_0 (cycles), H_0 (hits, by latency), C_0 (busy cycles).

    None is a count that nobody has; it is refused by name.
    """

    runtime: float | None
    hits: float | None
    walk_cycles: float | None


@dataclass(frozen=True)
class ChangedCounts:
    """P-bar under this layout.

    Args:
        hits: H', by latency (hits x their cycles / hit time of P).
        walk_cycles: C', busy cycles of all walkers.
        walkers: of P-bar.
        miss_cycles: cycles that the look-ups of misses take more than on P, in total (negative: less). 0
            for a design whose STLB, on a miss, answers as fast as P's.
    """

    hits: float | None
    walk_cycles: float | None
    walkers: int | None = 1
    miss_cycles: float | None = 0.0


@dataclass(frozen=True)
class PiecewiseLine:
    """A continuous function of C: ``slopes[k]`` (cycles per cycle) up to ``knots[k]``, the last beyond."""

    intercept: float
    knots: np.ndarray
    slopes: np.ndarray

    def __call__(self, C) -> np.ndarray:
        return self.intercept + lengths(C, self.knots) @ self.slopes


@dataclass(frozen=True)
class StraightEnds:
    """A polynomial in C between ``low`` and ``high``; outside, its tangent there with a clipped slope."""

    model: RuntimeModel
    low: float
    high: float

    def __call__(self, C) -> np.ndarray:
        C = np.asarray(C, dtype=float)
        inside = self.model.evaluate(0.0, 0.0, np.clip(C, self.low, self.high))
        ends = self.model.gradient(0.0, 0.0, np.array([self.low, self.high]))["C"]
        first, last = np.clip(ends, 0.0, STEEPEST)
        return inside + first * np.minimum(C - self.low, 0) + last * np.maximum(C - self.high, 0)


def lengths(C, knots: np.ndarray) -> np.ndarray:
    """How much of [0, C] lies in each segment that ``knots`` (k,) cut: (..., k + 1)."""
    edges = np.concatenate([[0.0], knots, [np.inf]])
    C = np.asarray(C, dtype=float)[..., None]
    return np.clip(C, edges[:-1], edges[1:]) - edges[:-1]


def fit_lines(C: np.ndarray, R: np.ndarray, *, convex: bool) -> PiecewiseLine:
    """The piecewise lines of the text above; C, R (n,) in cycles, C not all equal.

    In units of the largest C and the mean R, it minimises, over the intercept b and slopes s (k + 1,),
    mean((b + lengths s) / R - 1)^2 + RIDGE mean(s - line)^2 with b >= 0, 0 <= s <= STEEPEST.
    """
    extent, mean = float(C.max()), float(R.mean())
    x, y = C / extent, R / mean
    steepest = STEEPEST * extent / mean
    line = float(np.clip(np.polyfit(x, y, 1)[0], 0.0, steepest))
    knots = np.unique(np.quantile(x, KNOTS))
    knots = knots[knots > 0]
    k, n = len(knots) + 1, len(C)
    ridge = np.sqrt(RIDGE * n / k)
    data = np.column_stack([np.ones(n), lengths(x, knots)]) / y[:, None]
    A = np.vstack([data, ridge * np.eye(k + 1)[1:]])
    b = np.concatenate([np.ones(n), np.full(k, ridge * line)])
    least = np.eye(k + 1)
    if convex:  # the first slope and each step up from there are not negative
        least[2:, 1:-1] -= np.eye(k - 1)
    G = np.vstack([least, -np.eye(k + 1)[1:]])
    found = bounded_least_squares(A, b, G, np.append(np.zeros(k + 1), np.full(k, -steepest)))
    slopes = np.clip(found[1:], 0.0, steepest)  # rounding only
    return PiecewiseLine(float(max(found[0], 0.0)) * mean, knots * extent, slopes * mean / extent)


def bounded_least_squares(A: np.ndarray, b: np.ndarray, G: np.ndarray, h: np.ndarray) -> np.ndarray:
    """The x (p,) of least |A x - b| with G x >= h; A (n, p) of full rank, and some x is allowed.

    Lawson and Hanson's reduction to least distance, and of that to non-negative least squares ("Solving Least
    Squares Problems", chapter 23): exact up to rounding, without a tolerance or a start.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import nnls  # 0.3 s to import

    Q, upper = np.linalg.qr(A)
    target = Q.T @ b
    # z = upper x - target: least |z| with distance z >= rest
    distance = solve_triangular(upper, G.T, trans="T").T
    rest = h - distance @ target
    E = np.vstack([distance.T, rest])
    weights = nnls(E, np.append(np.zeros(A.shape[1]), 1.0))[0]
    residual = E @ weights
    residual[-1] -= 1.0
    return solve_triangular(upper, target - residual[:-1] / residual[-1])


@dataclass(frozen=True)
class Bracket:
    """A fitted bracket; :meth:`fit` makes it."""

    members: dict[str, Callable[[np.ndarray], np.ndarray]]  #: busy cycles -> runtime in cycles
    widening: float  #: share of the centre, to each side
    page_slope: float  #: cycles of runtime per busy cycle, between the 4KB and the 2MB run
    largest: float  #: C of P, in busy cycles
    hit_cycles: float  #: hit time of P's STLB

    @classmethod
    def fit(cls, samples: Samples, *, hit_cycles: float | None) -> Bracket:
        """Learn from samples of P under mosaics.

        Args:
            samples: of at least 12 distinct layouts, with the 4KB and 2MB runs; C in busy cycles.
            hit_cycles: hit time of P's STLB.

        Raises:
            CannotFit: with ``code``: too few distinct layouts, a count that is absent, not finite or
                negative, one C (in all layouts, or in the 4KB and the 2MB run), or too few for a cubic.
            TesseraError: there is no 4KB or no 2MB run.
        """
        wrong = number_reasons("hit-cycles", "the hit time of P's STLB", hit_cycles, above=True) or why_not(
            samples
        )
        if wrong:
            raise CannotFit(SOURCE, wrong[0].text, "give counts of more mosaics of P", code=wrong[0].code)
        samples = samples.in_order()
        (_, _, slow, of_4kb), (_, _, fast, of_2mb) = samples.anchor(ALL_4KB), samples.anchor(ALL_2MB)
        different = len(np.unique(samples.C))
        if different < LEAST_DIFFERENT or slow == fast:
            found = f"the 4KB and the 2MB run have the same C, {slow:g} busy cycles"
            if different < LEAST_DIFFERENT:
                found = f"{different} different values of C, and a cubic needs {LEAST_DIFFERENT}"
            raise CannotFit(SOURCE, found, "add layouts whose walks cost more or less", code="equal-c")
        low, high = float(samples.C.min()), float(samples.C.max())
        try:
            cubics = Poly3().fit(samples), Minimax().fit(samples)
        except CannotFit as error:
            raise CannotFit(SOURCE, error.problem, error.remedy, code="no-cubic") from error
        members: dict[str, Callable[[np.ndarray], np.ndarray]] = {
            "cubic": StraightEnds(cubics[0], low, high),
            "minimax": StraightEnds(cubics[1], low, high),
            "free": fit_lines(samples.C, samples.R, convex=False),
            "convex": fit_lines(samples.C, samples.R, convex=True),
        }
        errors = [np.abs(member(samples.C) / samples.R - 1).max() for member in members.values()]
        widening = max(LEAST_WIDENING, float(min(errors)))
        return cls(members, widening, (of_4kb - of_2mb) / (slow - fast), high, float(cast(float, hit_cycles)))

    def answer(self, base: ProcessorCounts, design: ChangedCounts) -> Answer | Refused:
        """The runtime of ``design`` under the layout of ``base``.

        Codes of refusals: ``r0``, ``h0``, ``c0``, ``h``, ``c``, ``walkers`` or ``miss-cycles`` with
        ``-absent``, ``-not-finite``, ``-negative`` or ``-zero``; ``no-walks`` (C' = 0), ``far`` (C' above
        4 times P's largest), ``wide`` (half-width above 10%), ``not-finite``; ``walkers-fraction``.
        """
        reasons = _wrong(base, design) or self._outside(cast(float, design.walk_cycles))
        if reasons:
            return Refused(SOURCE, tuple(reasons))
        # nothing is absent from here on
        R, C, C0 = (
            float(cast(float, value)) for value in (base.runtime, design.walk_cycles, base.walk_cycles)
        )
        estimates = {name: R + _effect(member, C0, C) for name, member in self.members.items()}
        centre = statistics.median(estimates.values())
        rise = C - C0
        if rise > 0:
            estimates |= {
                "slope 1": R + rise,
                "tangent": R + self.tangent(C0) * rise,
                "page sizes": R + self.page_slope * rise,
            }
        more_hits = cast(float, design.hits) - cast(float, base.hits)
        lookups = float(self.hit_cycles * more_hits + cast(float, design.miss_cycles))
        floor = C / float(cast(int, design.walkers))
        low = max(min(estimates.values()) + min(0.0, lookups), floor)
        high = max(max(estimates.values()) + max(0.0, lookups), floor)
        centre = (low + high) / 2 if rise > 0 else max(centre, floor)
        more = self.widening * centre
        return finite_answer(
            Answer(SOURCE, centre, max(low - more, floor), high + more, R, estimates), WIDEST
        )

    def tangent(self, C: float) -> float:
        """Slope of `free` around C, clipped to [0, 1]."""
        span = np.array([max(C - TANGENT * self.largest, 0.0), C + TANGENT * self.largest])
        below, above = self.members["free"](span)
        return float(np.clip((above - below) / np.ptp(span), 0.0, 1.0))

    def _outside(self, C: float) -> list[Reason]:
        """Why C' is too far from the samples."""
        if C == 0:
            return [
                Reason("no-walks", "C' is 0, and no sample tells how long the program runs without walks")
            ]
        if C > FARTHEST * self.largest:
            times = C / self.largest
            return [Reason("far", f"C' is {times:.4g} times the largest C of P, more than {FARTHEST:g}")]
        return []


def _effect(member: Callable, before: float, after: float) -> float:
    """f(after) - f(before), in cycles."""
    first, last = member(np.array([before, after]))
    return float(last - first)


def _wrong(base: ProcessorCounts, design: ChangedCounts) -> list[Reason]:
    """What a question lacks, or has wrong."""
    miss = design.miss_cycles  # may be negative
    found = [
        *number_reasons("r0", "R_0, the runtime of P under this layout,", base.runtime, above=True),
        *number_reasons("h0", "H_0, the STLB hits of P under this layout,", base.hits),
        *number_reasons("c0", "C_0, the busy walk cycles of P under this layout,", base.walk_cycles),
        *number_reasons("h", "H', the STLB hits of the design,", design.hits),
        *number_reasons("c", "C', the busy walk cycles of the design,", design.walk_cycles),
        *number_reasons("walkers", "the number of walkers", design.walkers, above=True),
        *number_reasons(
            "miss-cycles", "the extra cycles of misses' look-ups", miss if miss is None else abs(miss)
        ),
    ]
    if design.walkers is not None and math.isfinite(design.walkers) and design.walkers % 1:
        found.append(Reason("walkers-fraction", f"{design.walkers} walkers: the number must be whole"))
    return found
