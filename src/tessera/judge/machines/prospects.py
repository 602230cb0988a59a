"""What a measurement that is only planned can decide, by the rules that judge finished ones.

The caller writes a results folder with made-up numbers in the place of the planned ones
(:mod:`tessera.measure.counted.stand_in`). A finding that has a value there has one after the measurement,
too. Whether it then holds is unknown: a part of a scope that decides one way only *may* decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tessera.judge.claims.evaluate import BROKEN, judge
from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.load import load_claims
from tessera.judge.claims.model import Claim
from tessera.judge.machines import parts
from tessera.judge.machines.evaluate import FINDING
from tessera.judge.machines.groups import Machines, about, machines, part_groups, whole_groups
from tessera.judge.machines.verdicts import all_measured

WHOLE = "decides"  #: the planned runs cover the scope
WAYS = (WHOLE, parts.REFUTES, parts.CONFIRMS)
#: Why a finding is not decided; NUMBERS: everything it needs is planned, but the numbers may allow no value.
CLASS, WORKLOADS, LAYOUTS, NUMBERS, OTHER = CAUSES = ("class", "workloads", "layouts", "numbers", "other")

UNAVAILABLE = "unavailable"  #: evaluator of findings that no cells decide
MISSING = "is missing"  #: in the reason of an evaluator that lacks a layout
MODELS = "models/"  #: in the reason of an evaluator that lacks the tables of models


@dataclass(frozen=True)
class Prospect:
    """One finding. ``way`` is one of :data:`WAYS`; empty if nothing is decided, and ``cause`` says why.

    ``detail`` is the coverage of a part, or the evaluator's reason.
    """

    claim: Claim
    way: str
    cause: str = ""
    detail: str = ""


def prospects(results_dir: Path, claims: Sequence[Claim] | None = None) -> list[Prospect]:
    """Each finding that needs counters, and each other one that the planned cells give a value.

    Args:
        results_dir: a results folder with the planned pairs as measured ones.
        claims: default: those of ``config/claims.yaml``.
    """
    evidence = Evidence(results_dir)
    here = machines(evidence)
    found = [_of(claim, evidence, here) for claim in claims or load_claims() if claim.kind == FINDING]
    return [one for one in found if one.way or one.claim.hardware_class != "any"]


def _of(claim: Claim, evidence: Evidence, here: Machines) -> Prospect:
    found = all_measured(claim, evidence, here)
    if any(one.group.whole for one in found):
        return Prospect(claim, WHOLE)
    for one in found:
        if way := parts.way(one.outcome.over_pairs, claim.tolerance.rule):
            return Prospect(claim, way, detail=one.group.coverage)
    if found:
        return Prospect(claim, "", WORKLOADS, found[0].group.coverage)
    return Prospect(claim, "", *_cause(claim, evidence, here))


def _cause(claim: Claim, evidence: Evidence, here: Machines) -> tuple[str, str]:
    """Why no group of machines gives this finding a value."""
    if not any(about(claim, pairs[0].generation) for pairs in here.values()):
        return CLASS, claim.hardware_class
    if claim.evaluator == UNAVAILABLE:
        return OTHER, judge(claim, evidence)[1].reason
    groups = whole_groups(claim, here)
    usable = groups or part_groups(claim, here, ())
    if not usable:
        return WORKLOADS, f"it is about {', '.join(claim.scope.workloads)}"
    _, judged = judge(usable[0].claim, evidence.limited(usable[0].machines))
    if judged.reason.startswith(BROKEN):  # the report of a run shows it; a plan does not stop at it
        return OTHER, judged.reason
    if MODELS in judged.reason:
        return LAYOUTS, judged.reason
    if not groups:
        return WORKLOADS, judged.reason
    fitted = evidence.tree.models("errors").exists()
    return (NUMBERS if fitted and MISSING not in judged.reason else LAYOUTS), judged.reason
