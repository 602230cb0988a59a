"""The verdict of a claim, from its obtained value.

The possible verdicts depend on the provenance of the value:

===================  ==========================  ==========================================
claim                provenance                  verdict
===================  ==========================  ==========================================
arithmetic           published                   REPRODUCED or DEVIATES
arithmetic           anything else               NOT-MEASURABLE-HERE
invariant            any                         REPRODUCED or DEVIATES: a rule about our own data
finding              measured, claim's class     REPRODUCED or DEVIATES
finding              measured, another class     NOT-MEASURABLE-HERE
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
from tessera.judge.claims.tolerance import holds, text

REPRODUCED = "REPRODUCED"
DEVIATES = "DEVIATES"
HOLDS = "HOLDS-IN-SIMULATION"
FAILS = "FAILS-IN-SIMULATION"
NOT_MEASURABLE = "NOT-MEASURABLE-HERE"
VERDICTS = (REPRODUCED, DEVIATES, HOLDS, FAILS, NOT_MEASURABLE)


class Verdict(NamedTuple):
    name: str
    reason: str


def verdict(
    claim: Claim,
    obtained: Value | None,
    provenance: str,
    hardware_class: str,
    missing: str = "no value was obtained",
) -> Verdict:
    """Judge ``obtained``; ``missing`` is the reason when it is None."""
    if obtained is None:
        return Verdict(NOT_MEASURABLE, missing)
    if any(math.isnan(number) for number in _numbers(obtained)):
        return Verdict(NOT_MEASURABLE, f"the evaluator '{claim.evaluator}' gave no number")
    if claim.kind == "arithmetic" and provenance != "published":
        return Verdict(
            NOT_MEASURABLE, f"an arithmetic claim needs printed numbers, but these are '{provenance}'"
        )
    if claim.kind == "finding":
        if provenance not in ("measured", "simulated"):
            return Verdict(NOT_MEASURABLE, f"a value of provenance '{provenance}' cannot decide a claim")
        if provenance == "measured" and not class_matches(claim.hardware_class, hardware_class):
            machine = hardware_class or "unknown"
            reason = f"measured on class '{machine}', but the claim is about '{claim.hardware_class}'"
            return Verdict(NOT_MEASURABLE, reason)
    good = holds(obtained, claim.published, claim.tolerance)
    reason = "" if good else deviation(claim, obtained)
    if claim.kind == "finding" and provenance == "simulated":
        return Verdict(HOLDS if good else FAILS, reason)
    return Verdict(REPRODUCED if good else DEVIATES, reason)


def deviation(claim: Claim, obtained: Value) -> str:
    """The reason of a claim that does not hold: obtained, published and tolerance."""
    return (
        f"obtained {text(obtained)} {claim.unit}, published {text(claim.published)}, "
        f"tolerance {claim.tolerance}"
    )


def _numbers(value: Value) -> list[float]:
    return list(value.values()) if isinstance(value, Mapping) else [value]
