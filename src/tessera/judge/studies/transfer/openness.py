"""Whether a class of designs is *open* for the bracket: may an answer for a new workload be relied on?

The rule is part of the protocol (config/claims-changes.md): fixed before the run with 12 workloads. Only
judged points count, and the workload that is asked about never does. A refusal is unanswered: it counts for
neither side.

An answer needs more than an open class: `family_openness` asks the same of the design's family (larger
STLBs, coalescing, ...). This was added after the run, because larger STLBs are most of K1, and coalescing
designs are covered far less (docs/predict.md).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

LEAST_WORKLOADS = 9  #: other workloads with judged answers
COVERED = 0.9  #: share of a workload's answers whose interval contains R
COVERED_WORKLOADS = 0.9  #: share of the workloads that reach it
PASSING = 0.5  #: share of the informative answers that pass
ANSWERED, REFUSED = "answered", "refused"
#: 9 of 10 must count as 90%, whatever rounding says
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Openness:
    """``reason``: one clause with the numbers; ``workloads``: others that have judged answers."""

    open: bool
    reason: str
    workloads: int


def openness(answered: pd.DataFrame, platform: str, group: str, without: str) -> Openness:
    """Is ``group`` (K0 to K5) open on ``platform`` for the workload ``without``?

    Args:
        answered: the table :data:`~tessera.results.schema.transfer.ANSWERED` of a run; any row order. A
            workload that the study lacks may be asked about, too: then all of its workloads count.
    """
    return _judge(_others(answered, platform, group, without), f"class {group}")


def family_openness(
    answered: pd.DataFrame, platform: str, group: str, without: str, families: Iterable[str]
) -> Openness:
    """Is ``group`` open, and each of ``families`` in it, by the same rule? The first that is not says why.

    A design of several classes has families of each; at least one must have judged answers in this class. A
    design without a family (K0) needs the class alone.
    """
    found, families = openness(answered, platform, group, without), set(families)
    rows = _others(answered, platform, group, without)
    known = sorted(families & set(rows["family"]))
    if found.open and families and not known:
        why = f"class {group}: no judged answer of other workloads is of {', '.join(sorted(families))}"
        return Openness(False, why, 0)
    for family in known if found.open else ():
        found = _judge(rows[rows["family"] == family], f"class {group}, {family}")
        if not found.open:
            break
    return found


def _others(answered: pd.DataFrame, platform: str, group: str, without: str) -> pd.DataFrame:
    """Judged answers of the class, of the other workloads."""
    rows = judged_answers(answered)
    return rows[(rows["platform"] == platform) & (rows["group"] == group) & (rows["workload"] != without)]


def _judge(rows: pd.DataFrame, what: str) -> Openness:
    covered = rows["covered"].astype(bool).groupby(rows["workload"]).mean()
    workloads, reached = len(covered), int((covered >= COVERED - _ROUNDING).sum())
    informative = rows[rows["informative"].astype(bool)]
    passing = int(informative["passes"].astype(bool).sum())
    if workloads < LEAST_WORKLOADS:
        why = f"the study has judged answers of {workloads} other workloads, and {LEAST_WORKLOADS} are needed"
        return Openness(False, f"{what}: {why}", workloads)
    wrong = []
    if reached < COVERED_WORKLOADS * workloads - _ROUNDING:
        wrong.append(
            f"intervals cover {COVERED:.0%} of the answers in {reached} of {workloads} other workloads, "
            f"fewer than {COVERED_WORKLOADS:.0%} of them"
        )
    if passing < PASSING * len(informative):
        wrong.append(f"{passing} of {len(informative)} informative answers pass, fewer than half")
    if wrong:
        return Openness(False, f"{what}: {'; '.join(wrong)}", workloads)
    reason = (
        f"{what}: intervals cover {COVERED:.0%} of the answers in {reached} of {workloads} other "
        f"workloads, and {passing} of {len(informative)} informative answers pass"
    )
    return Openness(True, reason, workloads)


def judged_answers(answered: pd.DataFrame) -> pd.DataFrame:
    """Rows with an answer, of points that are judged."""
    return answered[(answered["status"] == ANSWERED) & answered["judged"].eq(True)]
