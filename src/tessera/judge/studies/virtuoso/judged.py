"""Obtained values of :mod:`claims`, and a verdict for each.

Numbers are means over programs under one scenario. The scenario with huge pages decides; the value with 4KB
pages only is beside it.
"""

from __future__ import annotations

import math

import pandas as pd

from tessera.judge.studies.virtuoso.claims import CLAIMS, ELSEWHERE, Claim, holds
from tessera.results.status import ok_rows

HOLDS, FAILS, NOWHERE = "HOLDS-IN-SIMULATION", "FAILS-IN-SIMULATION", "NOT-MEASURABLE-HERE"
#: Huge pages for stores and loads: the huge zero page, which loads get otherwise, has no recorded fault.
LARGE = "thp-no-zero-page"
SMALL = "thp-never"  #: 4KB pages only
COLUMNS = (
    "id", "figure", "statement", "published", "obtained", "with_4kb_pages", "programs", "verdict", "note",
    "provenance",
)  # fmt: skip


def judge(shares: pd.DataFrame) -> pd.DataFrame:
    """A row for each claim; columns are :data:`COLUMNS`.

    Args:
        shares: tables of ``tessera virtuoso program``, of one or several programs. Only programs that have
            both scenarios count.
    """
    good = ok_rows(shares)
    by_name = {name: good[good["scenario"] == name] for name in (LARGE, SMALL)}
    programs = sorted(set(by_name[LARGE]["workload"]) & set(by_name[SMALL]["workload"]))
    values = {name: _values(rows[rows["workload"].isin(programs)]) for name, rows in by_name.items()}
    return pd.DataFrame([_row(claim, values, len(programs)) for claim in CLAIMS], columns=list(COLUMNS))


def _values(shares: pd.DataFrame) -> dict[str, float]:
    """Claim -> value under one scenario; nan where there is none."""
    walks = shares["cycles_per_walk"].dropna()
    return {
        "faults-short": shares["fault_share"].mean(),
        "translation-short": shares["translation_share"].mean(),
        "walk-latency": walks.max() / walks.min() if len(walks) > 1 else math.nan,
    }


def _row(claim: Claim, values: dict[str, dict[str, float]], programs: int) -> dict:
    obtained, small = (float(values[name].get(claim.id, math.nan)) for name in (LARGE, SMALL))
    verdict = {True: HOLDS, False: FAILS, None: ""}[holds(claim, obtained)]
    return {
        "id": f"virtuoso-{claim.id}", "figure": claim.figure, "statement": claim.statement,
        "published": claim.published, "obtained": obtained, "with_4kb_pages": small, "programs": programs,
        "verdict": NOWHERE if claim.rule == ELSEWHERE else verdict, "note": claim.why,
        "provenance": "simulated",
    }  # fmt: skip
