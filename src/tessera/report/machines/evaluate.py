"""All claims of a results folder, findings by machine if machines measured.

Without measured cells, the table is that of :func:`tessera.report.claims.evaluate`. A measurement that is
only planned is judged by the same rules: what can it decide?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.results.report_tables import CLAIMS, ELSEWHERE
from tessera.core.results.table_io import frame_of
from tessera.core.results.tree import Tree
from tessera.report import claims
from tessera.report.claims.claim import Claim, Missing
from tessera.report.claims.evaluate import BROKEN, beside, judge, row_of
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.load import load_claims
from tessera.report.machines import verdicts
from tessera.report.machines.groups import (
    CONFIRMS,
    REFUTES,
    Machines,
    is_about,
    machines,
    part_groups,
    way_of_part,
    whole_groups,
)
from tessera.report.machines.verdicts import all_measured

FINDING = "finding"


@dataclass(frozen=True)
class Judged:
    """``claims.csv``, ``claims_elsewhere.csv``, and by id what each group of machines gave for a finding."""

    claims: pd.DataFrame
    elsewhere: pd.DataFrame
    measured: Mapping[str, list[verdicts.Measured]] = field(default_factory=dict)


def evaluate(
    results_dir: Path | str,
    claims_path: Path | str | None = None,
    reference_dir: Path | str | None = None,
    machines_dir: Path | str | None = None,
) -> Judged:
    """Judge each claim; findings by machine.

    Args:
        machines_dir: the results tree of the measured cells; ``results_dir`` itself if it is None.

    Raises:
        TesseraError: a broken claims file or published table; never because of results.
    """
    evidence = Evidence(results_dir, reference_dir)
    counted = evidence if machines_dir is None else Evidence(machines_dir, reference_dir)
    here = _machines(counted)
    mixed = here and counted is evidence
    rest = evidence.limited(_platforms(evidence) - set(here)) if mixed else evidence
    rows, others, measured = [], [], {}
    for claim in load_claims(claims_path, reference_dir):
        row = row_of(claim, *judge(claim, rest), beside(claim, rest))
        if here and claim.kind == FINDING:
            groups = verdicts.all_measured(claim, counted, here)
            row = verdicts.finding_row(claim, groups, row)
            others += verdicts.elsewhere_rows(claim, counted, here)
            measured |= {claim.id: groups} if groups else {}
        rows.append(row)
    return Judged(frame_of(CLAIMS, rows), frame_of(ELSEWHERE, others), measured)


def of_results(
    results_dir: Path | str,
    claims_path: Path | str | None = None,
    reference_dir: Path | str | None = None,
) -> Judged:
    """Judge each claim, with the machines whose bundles took part in this results folder.

    Raises:
        TesseraError: as :func:`evaluate`.
    """
    tree = Tree(results_dir).machines
    if tree.cells.exists():
        return evaluate(results_dir, claims_path, reference_dir, tree.root)
    return Judged(claims.evaluate(results_dir, claims_path, reference_dir), frame_of(ELSEWHERE, []))


def _machines(evidence: Evidence) -> Machines:
    try:
        return machines(evidence)
    except Missing:
        return {}


def _platforms(evidence: Evidence) -> set[str]:
    return {pair.platform for pair in evidence.provenances}


# What a measurement that is only planned can decide, by the rules that judge finished ones.
#
# The caller writes a results folder with made-up numbers in the place of the planned ones
# (:mod:`tessera.measure.counted.plan`). A finding that has a value there has one after the measurement,
# too. Whether it then holds is unknown: a part of a scope that decides one way only *may* decide.

WHOLE = "decides"  #: the planned runs cover the scope
WAYS = (WHOLE, REFUTES, CONFIRMS)
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
    found = [
        _prospect_of(claim, evidence, here) for claim in claims or load_claims() if claim.kind == FINDING
    ]
    return [one for one in found if one.way or one.claim.hardware_class != "any"]


def _prospect_of(claim: Claim, evidence: Evidence, here: Machines) -> Prospect:
    found = all_measured(claim, evidence, here)
    if any(one.group.whole for one in found):
        return Prospect(claim, WHOLE)
    for one in found:
        if way := way_of_part(one.outcome.over_pairs, claim.tolerance.rule):
            return Prospect(claim, way, detail=one.group.coverage)
    if found:
        return Prospect(claim, "", WORKLOADS, found[0].group.coverage)
    return Prospect(claim, "", *_cause_of(claim, evidence, here))


def _cause_of(claim: Claim, evidence: Evidence, here: Machines) -> tuple[str, str]:
    """Why no group of machines gives this finding a value."""
    if not any(is_about(claim, pairs[0].generation) for pairs in here.values()):
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
