"""The verdict of a claim, from its obtained value.

Claims of different kinds have different words, so their counts cannot be mistaken for one score:

===================  ==========================  ==========================================
claim                provenance                  verdict
===================  ==========================  ==========================================
arithmetic           published                   CONSISTENT or CONTRADICTED
arithmetic           anything else               NOT-MEASURABLE-HERE
invariant            any                         PASS or FAIL: a rule about our own data
finding              measured, claim's class     REPRODUCED or DEVIATES
finding              measured, another class     NOT-MEASURABLE-HERE
finding              measured in a guest         REPRODUCED or DEVIATES if the value counts where
                                                 page tables lie, else NOT-MEASURABLE-HERE
finding              simulated                   HOLDS-IN-SIMULATION or FAILS-IN-SIMULATION
finding              published or empty          NOT-MEASURABLE-HERE
any                  nothing obtained            NOT-MEASURABLE-HERE
===================  ==========================  ==========================================

A published number never confirms a finding, and a simulated one never reproduces it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from tessera.judge.claims.model import Claim, Value, class_matches
from tessera.judge.claims.outcome import GUEST, PLACEMENT
from tessera.judge.claims.tolerance import holds, text

CONSISTENT, CONTRADICTED = "CONSISTENT", "CONTRADICTED"
PASS, FAIL = "PASS", "FAIL"
REPRODUCED, DEVIATES = "REPRODUCED", "DEVIATES"
HOLDS, FAILS = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"
NOT_MEASURABLE = "NOT-MEASURABLE-HERE"
#: Verdicts of claims that hold, and of claims that do not.
GOOD = (CONSISTENT, PASS, REPRODUCED, HOLDS)
BAD = (CONTRADICTED, FAIL, DEVIATES, FAILS)
VERDICTS = (REPRODUCED, DEVIATES, HOLDS, FAILS, CONSISTENT, CONTRADICTED, PASS, FAIL, NOT_MEASURABLE)


class Verdict(NamedTuple):
    name: str
    reason: str


def verdict(
    claim: Claim,
    obtained: Value | None,
    provenance: str,
    hardware_class: str,
    missing: str = "no value was obtained",
    quantity: str = "",
) -> Verdict:
    """Judge ``obtained``; ``missing`` is the reason when it is None.

    Args:
        quantity: what the value counts, if a guest counted it (:mod:`tessera.judge.claims.outcome`).
    """
    if obtained is None:
        return Verdict(NOT_MEASURABLE, missing)
    if any(math.isnan(number) for number in _numbers(obtained)):
        return Verdict(NOT_MEASURABLE, f"the evaluator '{claim.evaluator}' gave no number")
    refused = _refused(claim, provenance, hardware_class, quantity)
    if refused:
        return Verdict(NOT_MEASURABLE, refused)
    good = holds(obtained, claim.published, claim.tolerance)
    return Verdict(_words(claim.kind, provenance)[not good], "" if good else deviation(claim, obtained))


def deviation(claim: Claim, obtained: Value) -> str:
    """The reason of a claim that does not hold: obtained, published and tolerance."""
    return (
        f"obtained {text(obtained)} {claim.unit}, published {text(claim.published)}, "
        f"tolerance {claim.tolerance}"
    )


def _refused(claim: Claim, provenance: str, hardware_class: str, quantity: str) -> str:
    """Why a value of this provenance cannot decide the claim; empty if it can."""
    if claim.kind == "arithmetic" and provenance != "published":
        return f"an arithmetic claim needs printed numbers, but these are '{provenance}'"
    if claim.kind != "finding" or provenance == "simulated":
        return ""
    if provenance != "measured":
        return f"a value of provenance '{provenance}' cannot decide a claim"
    if not class_matches(claim.hardware_class, hardware_class):
        machine = hardware_class or "unknown"
        return f"measured on class '{machine}', but the claim is about '{claim.hardware_class}'"
    if hardware_class == GUEST and quantity != PLACEMENT:
        return "a guest decides only where page tables lie, not cycles, times or instructions"
    return ""


def _words(kind: str, provenance: str) -> tuple[str, str]:
    """The two verdicts of a value that can decide: it holds, it does not."""
    if kind == "arithmetic":
        return CONSISTENT, CONTRADICTED
    if kind == "invariant":
        return PASS, FAIL
    return (HOLDS, FAILS) if provenance == "simulated" else (REPRODUCED, DEVIATES)


def _numbers(value: Value) -> list[float]:
    return list(value.values()) if isinstance(value, Mapping) else [value]
