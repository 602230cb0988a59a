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

A finding can have several readings (:class:`tessera.report.claims.claim.Outcome`). It holds if each of them
is within the tolerance, and fails if none is. If they disagree it is UNDECIDED, which counts as neither. The
reason of an UNDECIDED finding starts with its kind, one of :data:`KINDS_OF_DOUBT`, and a colon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from tessera.report.claims.claim import (
    GUEST,
    PLACEMENT,
    Claim,
    Value,
    class_matches,
    holds,
    readings_text,
    value_text,
)

CONSISTENT, CONTRADICTED = "CONSISTENT", "CONTRADICTED"
PASS, FAIL = "PASS", "FAIL"
REPRODUCED, DEVIATES = "REPRODUCED", "DEVIATES"
HOLDS, FAILS = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION"
UNDECIDED = "UNDECIDED"
NOT_MEASURABLE = "NOT-MEASURABLE-HERE"
READING = "reading"  #: kind of doubt: the readings of the sentence disagree
KINDS_OF_DOUBT = (READING,)
#: Verdicts of claims that hold, and of claims that do not; UNDECIDED and NOT_MEASURABLE are neither.
GOOD = (CONSISTENT, PASS, REPRODUCED, HOLDS)
BAD = (CONTRADICTED, FAIL, DEVIATES, FAILS)
VERDICTS = (
    *(REPRODUCED, DEVIATES, HOLDS, FAILS, UNDECIDED),
    *(CONSISTENT, CONTRADICTED, PASS, FAIL, NOT_MEASURABLE),
)


class Verdict(NamedTuple):
    name: str
    reason: str


def judge_value(
    claim: Claim,
    obtained: Value | None,
    provenance: str,
    hardware_class: str,
    missing: str = "no value was obtained",
    quantity: str = "",
    readings: Mapping[str, Value] | None = None,
) -> Verdict:
    """Judge ``obtained``; ``missing`` is the reason when it is None.

    Args:
        quantity: what the value counts, if a guest counted it (:mod:`tessera.report.claims.claim`).
        readings: values of several readings, of which ``obtained`` is the first; each is judged.

    Raises:
        ValueError: readings of a claim that is no finding (a mistake in the claims file).
    """
    if obtained is None:
        return Verdict(NOT_MEASURABLE, missing)
    if readings and claim.kind != "finding":
        raise ValueError(f"claim '{claim.id}' is {claim.kind}, so it has one reading")
    values = readings or {"": obtained}
    for name, value in values.items():
        if any(math.isnan(number) for number in _numbers(value)):
            of = f" for the reading '{name}'" if name else ""
            return Verdict(NOT_MEASURABLE, f"the evaluator '{claim.evaluator}' gave no number{of}")
    refused = _refused(claim, provenance, hardware_class, quantity)
    if refused:
        return Verdict(NOT_MEASURABLE, refused)
    good = {name: holds(value, claim.published, claim.tolerance) for name, value in values.items()}
    if len(set(good.values())) > 1:
        return Verdict(UNDECIDED, f"{READING}: {_split(claim, values, good)}")
    every = all(good.values())
    return Verdict(_words(claim.kind, provenance)[not every], "" if every else deviation(claim, values))


def doubt(reason: str) -> str:
    """The kind of an UNDECIDED finding, from its reason; empty if the reason begins with none."""
    kind, colon, _ = reason.partition(":")
    return kind if colon and kind in KINDS_OF_DOUBT else ""


def deviation(claim: Claim, values: Mapping[str, Value]) -> str:
    """The reason of a claim that does not hold: obtained (by reading), published and tolerance."""
    obtained = readings_text(values) if len(values) > 1 else value_text(next(iter(values.values())))
    return f"obtained {obtained} {claim.unit}, {_wanted(claim)}"


def _split(claim: Claim, values: Mapping[str, Value], good: Mapping[str, bool]) -> str:
    """Which readings hold and which do not, each with its value."""
    by_side = {side: {name: values[name] for name in values if good[name] is side} for side in (True, False)}
    sides = [f"{'holds' if side else 'fails'} by {readings_text(those)}" for side, those in by_side.items()]
    return f"it {' and '.join(sides)} {claim.unit}, {_wanted(claim)}"


def _wanted(claim: Claim) -> str:
    return f"published {value_text(claim.published)}, tolerance {claim.tolerance}"


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
