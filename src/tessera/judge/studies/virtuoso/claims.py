"""What Virtuoso's sections 1 to 7 print about page faults, and the rule by which each number is judged.

The rules were fixed before the first result (config/claims-changes.md). Programs, sizes and machine differ
from the paper's, so a mean agrees within half of its value; directions and bounds are taken as printed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

NEAR, AT_MOST, AT_LEAST, ELSEWHERE = "near", "at-most", "at-least", "elsewhere"
TOLERANCE = 0.5  #: of the printed value, for NEAR


@dataclass(frozen=True)
class Claim:
    """One printed number.

    Attributes:
        id: also the key of its obtained value (:mod:`judged`).
        published: the printed number as a fraction or ratio.
        rule: how it is judged; ELSEWHERE cannot be measured on this machine.
        why: the reason for the rule, or what is missing.
    """

    id: str
    figure: str
    statement: str
    published: float
    rule: str
    why: str


CLAIMS = (
    Claim(
        "faults-short", "1", "short programs spend this share of their time in page faults, on average",
        0.32, NEAR, "other programs on a simulated machine",
    ),
    Claim(
        "translation-short", "1", "short programs spend less than this share in address translation",
        0.01, AT_MOST, "the paper states a bound",
    ),
    Claim(
        "faults-long", "1", "programs of more than 100 s spend this share in page faults, on average",
        0.049, ELSEWHERE, "a recording has less than a second; needs counters on a machine: ./run measure",
    ),
    Claim(
        "translation-long", "1", "programs of more than 100 s spend this share in address translation",
        0.25, ELSEWHERE, "a recording has less than a second; needs counters on a machine: ./run measure",
    ),
    Claim(
        "walk-latency", "3", "largest over smallest mean latency of a page walk, of 45 programs",
        180 / 39, AT_LEAST, "fewer programs, so half of the printed ratio is enough",
    ),
    Claim(
        "accuracy-ipc", "8", "accuracy of simulated IPC", 0.80, ELSEWHERE,
        "needs a Xeon with a PMU and the paper's programs",
    ),
    Claim(
        "accuracy-walks", "10", "accuracy of simulated latency of page walks", 0.85, ELSEWHERE,
        "needs a Xeon with a PMU and the paper's programs",
    ),
)  # fmt: skip
#: Part of the printed value that is enough, by claim; 1 for others.
ENOUGH = {"walk-latency": 0.5}


def holds(claim: Claim, obtained: float) -> bool | None:
    """Whether an obtained value agrees; None if the claim has no verdict here or there is no value."""
    if claim.rule == ELSEWHERE or math.isnan(obtained):
        return None
    if claim.rule == NEAR:
        return abs(obtained - claim.published) <= TOLERANCE * claim.published
    if claim.rule == AT_MOST:
        return obtained <= claim.published
    return obtained >= ENOUGH.get(claim.id, 1.0) * claim.published
