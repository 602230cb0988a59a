"""Mitosis sections 3.2 and 8.2 on the computed GUPS of 64GB (``studies/numa/placements.csv``).

One platform decides, that of the paper. Where loads wait behind a hog, the rows with its assumed number of
lines decide; rows with other numbers are for the page only.
"""

from __future__ import annotations

import pandas as pd

from tessera.core.results.kernel_tables import PLACEMENTS
from tessera.core.results.outcomes import ok_rows
from tessera.lab.numa.placement_costs import HOG_SWEEP, LOCAL, MIGRATED, PLATFORM
from tessera.report.claims.claim import REPRODUCE, Missing, Outcome
from tessera.report.claims.registry import evaluator

DECIDING = ("", HOG_SWEEP[1.0])  #: assumptions of the rows that decide
PROVENANCE = "simulated"
WORKLOAD = "gups-64gb"  #: the size of the paper's table


@evaluator
def placement_slowdown(claim, evidence, page_size: str, configurations: list) -> Outcome:
    """The greatest runtime over that of LP-LD among these configurations."""
    rows = _rows(evidence, page_size)
    return Outcome(max(_ratio(rows, name) for name in configurations), PROVENANCE)


@evaluator
def placement_speedup(claim, evidence, page_size: str, configuration: str) -> Outcome:
    """Runtime of a configuration over that with its page tables moved to the program's socket."""
    rows = _rows(evidence, page_size)
    moved = _one(rows, configuration + MIGRATED)
    ratio = _ratio(rows, configuration) / float(moved["runtime_ratio"])
    return Outcome(ratio, PROVENANCE)


@evaluator
def placements_faster_than_local(claim, evidence, page_size: str) -> Outcome:
    """Configurations that run faster than LP-LD."""
    rows = _rows(evidence, page_size)
    return Outcome(float((rows["runtime_ratio"] < 1).sum()), PROVENANCE)


@evaluator
def placements_slower_than(claim, evidence, page_size: str, configuration: str) -> Outcome:
    """Configurations that run slower than this one."""
    rows = _rows(evidence, page_size)
    return Outcome(
        float((rows["runtime_ratio"] > _one(rows, configuration)["runtime_ratio"]).sum()), PROVENANCE
    )


@evaluator
def walks_an_update(claim, evidence, page_size: str) -> Outcome:
    """STLB misses of an update, with everything local."""
    row = _one(_rows(evidence, page_size), LOCAL)
    return Outcome(float(row["stlb_misses"]) / float(row["updates"]), PROVENANCE)


@evaluator
def walk_formula_error(claim, evidence) -> Outcome:
    """Greatest relative difference between simulated walk cycles and the formula, over all rows."""
    rows = simulated_rows(evidence)
    found = (rows["formula_walk_cycles"] / rows["walk_cycles"] - 1).abs()
    return Outcome(float(found.max()), PROVENANCE)


def simulated_rows(evidence) -> pd.DataFrame:
    """Rows of the paper's table size on the paper's machine that succeeded."""
    rows = evidence.table(PLACEMENTS, REPRODUCE)
    rows = ok_rows(rows[(rows["platform"] == PLATFORM) & (rows["workload"] == WORKLOAD)])
    if rows.empty:
        raise Missing(f"no row of {WORKLOAD} on {PLATFORM} in {PLACEMENTS.pattern} succeeded")
    return rows


def _rows(evidence, page_size: str) -> pd.DataFrame:
    """Rows of a page size that decide; all of them have a runtime."""
    rows = simulated_rows(evidence)
    rows = rows[(rows["page_size"] == page_size) & rows["assumption"].fillna("").isin(DECIDING)]
    if rows.empty or rows["runtime_ratio"].isna().any():
        raise Missing(f"{PLACEMENTS.pattern} has no runtimes with {page_size} pages")
    return rows


def _one(rows: pd.DataFrame, configuration: str) -> pd.Series:
    found = rows[rows["configuration"] == configuration]
    if len(found) != 1:
        raise Missing(f"{PLACEMENTS.pattern} has {len(found)} rows of {configuration} in place of one")
    return found.iloc[0]


def _ratio(rows: pd.DataFrame, configuration: str) -> float:
    """Runtime over that of LP-LD; an effect whose interval reaches 1 is none."""
    row = _one(rows, configuration)
    ratio, spread = float(row["runtime_ratio"]), float(row["runtime_ratio_ci95"])
    return 1.0 if abs(ratio - 1) <= spread else ratio
