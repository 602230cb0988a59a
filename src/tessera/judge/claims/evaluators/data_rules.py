"""Invariants of the cells, over every good row of the run."""

from __future__ import annotations

import pandas as pd

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Missing, Outcome
from tessera.results.status import ok_rows, other_rows

LEVELS = ("l1d", "l2", "l3", "dram")


def _judged(value: float, rows: pd.DataFrame) -> Outcome:
    kinds = set(rows["tlb_provenance"])
    return Outcome(value, "measured" if kinds == {"measured"} else "simulated", "any")


def _with(evidence: Evidence, *columns: str) -> pd.DataFrame:
    rows = evidence.cells.dropna(subset=list(columns))
    if rows.empty:
        raise Missing(f"no cell has {', '.join(columns)}")
    return rows


def translations_per_access(claim, evidence) -> Outcome:
    """Largest (H + M) / accesses."""
    rows = _with(evidence, "stlb_hits", "stlb_misses", "accesses")
    rows = rows[rows["accesses"] > 0]
    if rows.empty:
        raise Missing("no cell has a number of accesses")
    share = (rows["stlb_hits"] + rows["stlb_misses"]) / rows["accesses"]
    return _judged(float(share.max()), rows)


def smallest_walk_cycles(claim, evidence) -> Outcome:
    """Smallest number of walk cycles of any cell."""
    rows = _with(evidence, "walk_cycles")
    return _judged(float(rows["walk_cycles"].min()), rows)


def walk_references(claim, evidence, layout: str) -> Outcome:
    """Most references per walk that the walker makes to the caches under one layout."""
    rows = _with(evidence, "walker_l1d_loads", "stlb_misses")
    rows = rows[(rows["layout"] == layout) & (rows["stlb_misses"] > 0)]
    if rows.empty:
        raise Missing(f"no cell of layout {layout} has misses and walker references")
    return _judged(float((rows["walker_l1d_loads"] / rows["stlb_misses"]).max()), rows)


def cache_levels_not_nested(claim, evidence) -> Outcome:
    """Cells where a level sees more references than the one in front of it."""
    names = [f"{agent}_{level}_loads" for agent in ("program", "walker") for level in LEVELS]
    rows = _with(evidence, *names)
    wrong = pd.Series(False, index=rows.index)
    for front, behind in zip(names, names[1:], strict=False):
        if front.split("_")[0] == behind.split("_")[0]:
            wrong |= rows[behind] > rows[front] * (1 + 1e-9)
    return _judged(int(wrong.sum()), rows)


def unexplained_cells(claim, evidence) -> Outcome:
    """Cells that failed or were skipped without a message."""
    rows = evidence.all_cells
    if rows.empty:
        raise Missing("cells.csv has no rows")
    silent = other_rows(rows)["message"].str.strip() == ""
    return _judged(int(silent.sum()), ok_rows(rows))


EVALUATORS = {
    "translations_per_access": translations_per_access,
    "smallest_walk_cycles": smallest_walk_cycles,
    "walk_references": walk_references,
    "cache_levels_not_nested": cache_levels_not_nested,
    "unexplained_cells": unexplained_cells,
}
