"""Invariants of the generated layouts (``layouts/<workload>/<platform>/``).

Their provenance is ``simulated``: hot regions come from simulated misses.
"""

from __future__ import annotations

import csv

import pandas as pd

from tessera.judge.claims.evidence import Evidence
from tessera.judge.claims.outcome import Outcome
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.pair import Pair

LARGE_PAGES = (2097152, 1073741824)


def _simulated(value: float) -> Outcome:
    return Outcome(value, "simulated")


def _mosaics(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["layout"] != ALL_1GB]


def layout_count(claim, evidence) -> Outcome:
    """Smallest number of layouts of a pair, 1GB not counted."""
    return _simulated(min(len(_mosaics(table)) for table in evidence.manifests().values()))


def unexplained_duplicates(claim, evidence, enough: int) -> Outcome:
    """Pairs with fewer than ``enough`` distinct layouts and no ``note.txt`` that says why."""
    unexplained = 0
    for pair, table in evidence.manifests().items():
        distinct = int((_mosaics(table)["duplicate_of"] == "").sum())
        unexplained += distinct < enough and not _note(evidence, pair)
    return _simulated(unexplained)


def _note(evidence: Evidence, pair: Pair) -> str:
    path = evidence.tree.layouts_note(*pair)
    return path.read_text().strip() if path.exists() else ""


def growing_ends_wrong(claim, evidence) -> Outcome:
    """Pairs where growing-0 has 2MB pages, or growing-8 not the most of them."""
    wrong = 0
    for table in evidence.manifests().values():
        pages = _mosaics(table).set_index("layout")["pages_2mb"]
        wrong += pages.get(ALL_4KB) != 0 or pages.get(ALL_2MB) != pages.max()
    return _simulated(int(wrong))


def file_pool_windows(claim, evidence) -> Outcome:
    """Windows of large pages in the file pool, over all layout files."""
    count = 0
    for pair, table in evidence.manifests().items():
        for name in table["layout"]:
            path = evidence.tree.layout(*pair, name)
            if path.exists():
                with path.open(newline="") as lines:  # 3000 small files: pandas would take ten times as long
                    count += sum(
                        row["type"] == "file" and int(row["pageSize"]) in LARGE_PAGES
                        for row in csv.DictReader(lines)
                    )
    return _simulated(count)


EVALUATORS = {
    "layout_count": layout_count,
    "unexplained_duplicates": unexplained_duplicates,
    "growing_ends_wrong": growing_ends_wrong,
    "file_pool_windows": file_pool_windows,
}
