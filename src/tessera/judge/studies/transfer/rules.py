"""The rules S1, S2 and S3, informative points, and the verdict (docs/transfer.md, Verdicts)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from math import isnan

BOUND = 0.03  #: S1: Mosmodel's bound on P (MICRO'20, abstract)
LEAST_GAIN, GAIN_SLACK = 0.05, 0.25  #: S2, as shares of R_0 and of the gain
LEAST_DIFFERENCE = 0.02  #: S3, as a share of R_0
MATTERS = 0.05  #: least R_0 - R_ideal, as a share of R_0, of a point that is judged
SURVIVES, LEAST_WORKLOAD, FAILS = 0.9, 2 / 3, 0.5
SURVIVED, FAILED, MIXED, NOT_JUDGED = "survives", "fails", "mixed", "not judged"
LEAST_INFORMATIVE = 20  #: judged points; a class with fewer is trivial
TRIVIAL, USELESS = "trivial", "useless"
#: 2/3 of 54 must count as two thirds, whatever rounding says
_ROUNDING = 1e-12


def matters(base: float, ideal: float) -> bool:
    """Is the point judged? Without R_ideal it is not."""
    return not isnan(ideal) and base - ideal >= MATTERS * base


def informative(base: float, runtime: float) -> bool:
    """Does R differ from R_0 by more than 3% of R_0? Then `constant` is wrong by S1, or nearly so."""
    return abs(runtime - base) > BOUND * base


def worth(informative: int, passing: int, constant_passing: int) -> str:
    """What passing says about a model: TRIVIAL, USELESS, or "".

    Args:
        informative: judged points of the class that are informative; with few of them, any model passes.
        passing, constant_passing: judged points that the model and R_0 pass.
    """
    if informative < LEAST_INFORMATIVE:
        return TRIVIAL
    return USELESS if passing <= constant_passing else ""


def bound_holds(runtime: float, predicted: float) -> bool:
    """S1; a model that gives no number does not hold."""
    return not isnan(predicted) and abs(predicted - runtime) <= BOUND * runtime


def gain_holds(base: float, runtime: float, predicted: float) -> bool | None:
    """S2; None if the gain or loss is below 5% of R_0."""
    gain = base - runtime
    if abs(gain) < LEAST_GAIN * base:
        return None
    return not isnan(predicted) and abs((base - predicted) - gain) <= GAIN_SLACK * abs(gain)


def passes(bound: bool, gain: bool | None) -> bool:
    """S1, and S2 where it applies. Numpy's False counts as False, too."""
    return bool(bound and (gain is None or gain))


def constant_passes(base: float, runtime: float) -> bool:
    """Does the prediction R_0 pass?"""
    return passes(bound_holds(runtime, base), gain_holds(base, runtime, base))


def orders(points: Iterable[tuple[float, float, float]], base: float) -> tuple[int, int]:
    """S3: (pairs, inversions) of variants under one layout.

    ``points``: (R, half-width of its difference to R_0, predicted R). Pairs that differ by at most 2% of R_0,
    or by at most the sum of the half-widths, have no order.
    """
    pairs = inversions = 0
    for (a, width_a, guess_a), (b, width_b, guess_b) in combinations(list(points), 2):
        if abs(a - b) <= max(LEAST_DIFFERENCE * base, width_a + width_b):
            continue
        pairs += 1
        inversions += not (a - b) * (guess_a - guess_b) > 0
    return pairs, inversions


def verdict(shares: Iterable[float], pass_share: float) -> str:
    """From the share of passing points, and that of each workload."""
    shares = list(shares)
    if not shares:
        return NOT_JUDGED
    if pass_share >= SURVIVES - _ROUNDING and min(shares) >= LEAST_WORKLOAD - _ROUNDING:
        return SURVIVED
    return FAILED if pass_share <= FAILS else MIXED
