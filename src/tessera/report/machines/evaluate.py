"""All claims of a results folder, findings by machine if machines measured.

Without measured cells, the table is that of :func:`tessera.report.claims.evaluate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from tessera.core.results.report_tables import CLAIMS, ELSEWHERE
from tessera.core.results.table_io import frame_of
from tessera.core.results.tree import ResultsTree
from tessera.report import claims
from tessera.report.claims.claim import Missing
from tessera.report.claims.evaluate import claim_row, judge_claim, undecided_numbers
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.load import load_claims
from tessera.report.machines import verdicts
from tessera.report.machines.groups import Machines, known_machines

FINDING = "finding"
UNAVAILABLE = "unavailable"  #: evaluator of findings that no cells decide


@dataclass(frozen=True)
class Judged:
    """``claims.csv``, ``claims_elsewhere.csv``, and by id what each group of machines gave for a finding."""

    claims: pd.DataFrame
    elsewhere: pd.DataFrame
    measured: Mapping[str, list[verdicts.JudgedGroup]] = field(default_factory=dict)


def judge_machines(
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
        row = claim_row(claim, *judge_claim(claim, rest), undecided_numbers(claim, rest))
        if here and claim.kind == FINDING:
            groups = verdicts.all_measured(claim, counted, here)
            row = verdicts.finding_row(claim, groups, row)
            others += verdicts.elsewhere_rows(claim, counted, here)
            measured |= {claim.id: groups} if groups else {}
        rows.append(row)
    return Judged(frame_of(CLAIMS, rows), frame_of(ELSEWHERE, others), measured)


def judge_results(
    results_dir: Path | str,
    claims_path: Path | str | None = None,
    reference_dir: Path | str | None = None,
) -> Judged:
    """Judge each claim, with the machines whose bundles took part in this results folder.

    Raises:
        TesseraError: as :func:`judge_machines`.
    """
    tree = ResultsTree(results_dir).machines
    if tree.cells.exists():
        return judge_machines(results_dir, claims_path, reference_dir, tree.root)
    return Judged(claims.judged_claims(results_dir, claims_path, reference_dir), frame_of(ELSEWHERE, []))


def _machines(evidence: Evidence) -> Machines:
    try:
        return known_machines(evidence)
    except Missing:
        return {}


def _platforms(evidence: Evidence) -> set[str]:
    return {pair.platform for pair in evidence.provenances}
