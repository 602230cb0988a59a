"""What Virtuoso's sections 1 to 7 print about page faults, and a verdict for each number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from tessera.core.results.outcomes import ok_rows

# The printed numbers, and the rule by which each is judged.
#
# The rules were fixed before the first result (config/claims-changes.md). Programs, sizes and machine differ
# from the paper's, so a mean agrees within half of its value; directions and bounds are taken as printed.

NEAR, AT_MOST, AT_LEAST, ELSEWHERE = "near", "at-most", "at-least", "elsewhere"
TOLERANCE = 0.5  #: of the printed value, for NEAR


@dataclass(frozen=True)
class PrintedNumber:
    """One printed number.

    Attributes:
        id: also the key of its obtained value (:func:`judge_claims`).
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
    PrintedNumber(
        "faults-short", "1", "short programs spend this share of their time in page faults, on average",
        0.32, NEAR, "other programs on a simulated machine",
    ),
    PrintedNumber(
        "translation-short", "1", "short programs spend less than this share in address translation",
        0.01, AT_MOST, "the paper states a bound",
    ),
    PrintedNumber(
        "faults-long", "1", "programs of more than 100 s spend this share in page faults, on average",
        0.049, ELSEWHERE, "a recording has less than a second; needs counters on a machine: ./run measure",
    ),
    PrintedNumber(
        "translation-long", "1", "programs of more than 100 s spend this share in address translation",
        0.25, ELSEWHERE, "a recording has less than a second; needs counters on a machine: ./run measure",
    ),
    PrintedNumber(
        "walk-latency", "3", "largest over smallest mean latency of a page walk, of 45 programs",
        180 / 39, AT_LEAST, "fewer programs, so half of the printed ratio is enough",
    ),
    PrintedNumber(
        "accuracy-ipc", "8", "accuracy of simulated IPC", 0.80, ELSEWHERE,
        "needs a Xeon with a PMU and the paper's programs",
    ),
    PrintedNumber(
        "accuracy-walks", "10", "accuracy of simulated latency of page walks", 0.85, ELSEWHERE,
        "needs a Xeon with a PMU and the paper's programs",
    ),
)  # fmt: skip
#: Part of the printed value that is enough, by claim; 1 for others.
ENOUGH = {"walk-latency": 0.5}


def claim_holds(claim: PrintedNumber, obtained: float) -> bool | None:
    """Whether an obtained value agrees; None if the claim has no verdict here or there is no value."""
    if claim.rule == ELSEWHERE or math.isnan(obtained):
        return None
    if claim.rule == NEAR:
        return abs(obtained - claim.published) <= TOLERANCE * claim.published
    if claim.rule == AT_MOST:
        return obtained <= claim.published
    return obtained >= ENOUGH.get(claim.id, 1.0) * claim.published


# What was obtained, and a verdict for each number.
#
# Numbers are means over programs under one scenario. The scenario with huge pages decides; the value with
# 4KB pages only is beside it.

HOLDS, FAILS, NOWHERE = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "NOT-MEASURABLE-HERE"
#: Huge pages for stores and loads: the huge zero page, which loads get otherwise, has no recorded fault.
LARGE = "thp-no-zero-page"
SMALL = "thp-never"  #: 4KB pages only
VERDICT_COLUMNS = (
    "id", "figure", "statement", "published", "obtained", "with_4kb_pages", "programs", "verdict", "note",
    "provenance",
)  # fmt: skip


def judge_claims(shares: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim; columns are :data:`VERDICT_COLUMNS`.

    Args:
        shares: tables of the study ``virtuoso``, of one or several programs. Only programs that have
            both scenarios count.
    """
    good = ok_rows(shares)
    by_name = {name: good[good["scenario"] == name] for name in (LARGE, SMALL)}
    programs = sorted(set(by_name[LARGE]["workload"]) & set(by_name[SMALL]["workload"]))
    values = {name: _values(rows[rows["workload"].isin(programs)]) for name, rows in by_name.items()}
    return pd.DataFrame(
        [_row(claim, values, len(programs)) for claim in CLAIMS], columns=list(VERDICT_COLUMNS)
    )


def _values(shares: pd.DataFrame) -> dict[str, float]:
    """Claim -> value under one scenario; nan where there is none."""
    walks = shares["cycles_per_walk"].dropna()
    return {
        "faults-short": shares["fault_share"].mean(),
        "translation-short": shares["translation_share"].mean(),
        "walk-latency": walks.max() / walks.min() if len(walks) > 1 else math.nan,
    }


def _row(claim: PrintedNumber, values: dict[str, dict[str, float]], programs: int) -> dict:
    obtained, small = (float(values[name].get(claim.id, math.nan)) for name in (LARGE, SMALL))
    verdict = {True: HOLDS, False: FAILS, None: ""}[claim_holds(claim, obtained)]
    return {
        "id": f"virtuoso-{claim.id}", "figure": claim.figure, "statement": claim.statement,
        "published": claim.published, "obtained": obtained, "with_4kb_pages": small, "programs": programs,
        "verdict": NOWHERE if claim.rule == ELSEWHERE else verdict, "note": claim.why,
        "provenance": "simulated",
    }  # fmt: skip
