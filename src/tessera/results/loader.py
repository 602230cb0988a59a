"""The tables of one results folder, each read once; which cells count, and how repeats are averaged.

Two policies stand on it: a claim without its data is judged "not measurable"
(:mod:`tessera.judge.claims.evidence`), a page without its data says so (:mod:`tessera.show.results`). What
they read is the same.
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
from tessera.results.tree import Tree

#: What tells cells apart that are no repeats of each other.
KEYS = ["workload", "platform", "layout", "runtime_provenance", "tlb_provenance", "engine"]


class Loader:
    """A results folder. Nobody may change a table that it returns."""

    def __init__(self, root: Path | str):
        self.tree = Tree(Path(root))
        self._tables: dict[tuple[str, ...], pd.DataFrame] = {}

    def read(self, table: Table, *names: str) -> pd.DataFrame:
        """As :func:`tessera.results.read.read`, once."""
        key = (table.name, *names)
        if key not in self._tables:
            self._tables[key] = read(table, self.tree, *names)
        return self._tables[key]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Every row of ``cells.csv`` whatever its status."""
        return self.read(CELLS)

    @cached_property
    def good(self) -> pd.DataFrame:
        """The cells that count."""
        return ok_rows(self.cells)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Cells that failed or were skipped."""
        return other_rows(self.cells).reset_index(drop=True)

    @cached_property
    def averaged(self) -> pd.DataFrame:
        """Good cells, repeats averaged (:func:`average`)."""
        return average(self.good)

    @cached_property
    def simulated(self) -> pd.DataFrame:
        """Those with a runtime in cycles: what models are fitted to."""
        return self.averaged[self.averaged["runtime_cycles"].notna()].reset_index(drop=True)

    @cached_property
    def hybrid(self) -> pd.DataFrame:
        """Those with clock time alone and simulated H, M, C; they decide no model's error."""
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
        """Pairs with good cells -> measured, simulated, or hybrid where runtime and counters differ."""
        found = {}
        for pair in pairs_of(self.good):
            rows = pair.rows(self.good)
            kinds = set(rows["runtime_provenance"]) | set(rows["tlb_provenance"])
            single = kinds.pop() if len(kinds) == 1 else "hybrid"
            found[pair] = single if single in ("measured", "simulated") else "hybrid"
        return found


def average(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over the repeats of each cell (:data:`KEYS`), in the order of their first row.

    Numbers that a repeat lacks are left out of the mean. Of half-widths (``*_ci95``) the widest stays: their
    mean is not the half-width of a mean.
    """
    numbers = [name for name in CELLS.of_kind(COUNT, NUMBER) if name != "repeat"]
    rows = rows[KEYS + numbers].astype(dict.fromkeys(numbers, "float64"))
    how = {c: "max" if c.endswith("_ci95") else "mean" for c in numbers}
    return rows.groupby(KEYS, as_index=False, sort=False).agg(how)
