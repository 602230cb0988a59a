"""The tables of one results folder, each read once; which cells count, and how repeats are averaged.

Two users read the same data through it and handle missing data differently: claims get the verdict "not
measurable" (:mod:`tessera.judge.claims.evidence`); pages of the report state what is missing
(:mod:`tessera.show.results`).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.results import sensitivity
from tessera.results.pair import Pair, pairs_of
from tessera.results.read import read
from tessera.results.schema.cells import CELLS
from tessera.results.schema.table import COUNT, NUMBER, Table
from tessera.results.status import ok_rows, other_rows
from tessera.results.trace_notes import note_of_all
from tessera.results.tree import Tree

#: Cells that agree in all of these columns are repeats of each other.
KEYS = ["workload", "platform", "layout", "runtime_provenance", "tlb_provenance", "engine"]


class Loader:
    """A results folder. Callers must not change the tables that it returns."""

    def __init__(self, root: Path | str):
        self.tree = Tree(Path(root))
        self._tables: dict[tuple[str, ...], pd.DataFrame] = {}

    def read(self, table: Table, *names: str) -> pd.DataFrame:
        """Like :func:`tessera.results.read.read`, but reads each table only once."""
        key = (table.name, *names)
        if key not in self._tables:
            self._tables[key] = read(table, self.tree, *names)
        return self._tables[key]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """All rows of ``cells.csv``, with any status."""
        return self.read(CELLS)

    @cached_property
    def good(self) -> pd.DataFrame:
        """Cells with status ``ok``."""
        return ok_rows(self.cells)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Cells that failed or were skipped."""
        return other_rows(self.cells).reset_index(drop=True)

    @cached_property
    def trace_notes(self) -> dict[str, str]:
        """Workload -> the note of its good cells, if their traces lack a part of the program."""
        rows = self.good.groupby("workload", sort=False)["message"]
        found = {str(workload): note_of_all(messages) for workload, messages in rows}
        return {workload: note for workload, note in found.items() if note}

    @cached_property
    def averaged(self) -> pd.DataFrame:
        """Good cells, repeats averaged (:func:`average`)."""
        return average(self.good)

    @cached_property
    def simulated(self) -> pd.DataFrame:
        """Averaged cells with a runtime in cycles; models are fitted to these."""
        return self.averaged[self.averaged["runtime_cycles"].notna()].reset_index(drop=True)

    @cached_property
    def hybrid(self) -> pd.DataFrame:
        """Averaged cells with only clock time and simulated H, M, C; model errors do not use them."""
        rows = self.averaged
        return rows[rows["runtime_cycles"].isna() & rows["runtime_ns"].notna()].reset_index(drop=True)

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """Which pairs are TLB-sensitive (:func:`tessera.results.sensitivity.judge`)."""
        return sensitivity.judge(self.simulated)

    @cached_property
    def dropped(self) -> dict[Pair, str]:
        """Pairs that are not analysed, with the reason (MICRO'20 VI-A)."""
        return {Pair(*names): why for names, why in sensitivity.dropped(self.simulated).items()}

    @cached_property
    def provenances(self) -> dict[Pair, str]:
        """Pair with good cells -> measured, simulated, or hybrid if runtime and counters differ."""
        found = {}
        for pair in pairs_of(self.good):
            rows = pair.rows(self.good)
            kinds = set(rows["runtime_provenance"]) | set(rows["tlb_provenance"])
            single = kinds.pop() if len(kinds) == 1 else "hybrid"
            found[pair] = single if single in ("measured", "simulated") else "hybrid"
        return found


def average(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over the repeats of each cell (:data:`KEYS`), in the order of their first row.

    The mean ignores missing numbers. For half-widths (``*_ci95``) the result is the maximum, because the mean
    of half-widths is not the half-width of a mean.
    """
    numbers = [name for name in CELLS.of_kind(COUNT, NUMBER) if name != "repeat"]
    rows = rows[KEYS + numbers].astype(dict.fromkeys(numbers, "float64"))
    how = {c: "max" if c.endswith("_ci95") else "mean" for c in numbers}
    return rows.groupby(KEYS, as_index=False, sort=False).agg(how)
