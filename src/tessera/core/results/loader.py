"""The tables of one results folder, its pairs of workload and platform, and which are TLB-sensitive."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tessera.core.layouts.layout import ALL_1GB, ALL_4KB
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.outcomes import note_of_all, ok_rows, other_rows
from tessera.core.results.schema import COUNT, NUMBER, Table
from tessera.core.results.table_io import read_tree_table
from tessera.core.results.tree import ResultsTree

# The tables of one results folder, each read once; which cells count, and how repeats are averaged.
#
# Two users read the same data through it and handle missing data differently: claims get the verdict "not
# measurable" (:mod:`tessera.report.claims.evidence`); pages of the report state what is missing
# (:mod:`tessera.report.results`).

#: Cells that agree in all of these columns are repeats of each other.
REPEAT_KEYS = ["workload", "platform", "layout", "runtime_provenance", "tlb_provenance", "engine"]


class Loader:
    """A results folder. Callers must not change the tables that it returns."""

    def __init__(self, root: Path | str):
        self.tree = ResultsTree(Path(root))
        self._tables: dict[tuple[str, ...], pd.DataFrame] = {}

    def read(self, table: Table, *names: str) -> pd.DataFrame:
        """Like :func:`tessera.core.results.table_io.read_tree_table`, but reads each table only once."""
        key = (table.name, *names)
        if key not in self._tables:
            self._tables[key] = read_tree_table(table, self.tree, *names)
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
        """Good cells, repeats averaged (:func:`average_repeats`)."""
        return average_repeats(self.good)

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
        """Which pairs are TLB-sensitive (:func:`judge_sensitivity`)."""
        return judge_sensitivity(self.simulated)

    @cached_property
    def dropped(self) -> dict[Pair, str]:
        """Pairs that are not analysed, with the reason (MICRO'20 VI-A)."""
        return {Pair(*names): why for names, why in dropped_pairs(self.simulated).items()}

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


def average_repeats(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over the repeats of each cell (:data:`REPEAT_KEYS`), in the order of their first row.

    The mean ignores missing numbers. For half-widths (``*_ci95``) the result is the maximum, because the mean
    of half-widths is not the half-width of a mean.
    """
    numbers = [name for name in CELLS.of_kind(COUNT, NUMBER) if name != "repeat"]
    rows = rows[REPEAT_KEYS + numbers].astype(dict.fromkeys(numbers, "float64"))
    how = {c: "max" if c.endswith("_ci95") else "mean" for c in numbers}
    return rows.groupby(REPEAT_KEYS, as_index=False, sort=False).agg(how)


# Pairs of workload and platform (the unit of fits, figures and most claims), and their order in tables.

#: Classes of processors, those of the papers first, each family oldest first. The table of events
#: (``pmu-events.csv``) has exactly these, in this order.
GENERATIONS = (
    "sandybridge", "ivybridge", "haswell", "broadwell", "skylake", "cascadelake", "icelake", "tigerlake",
    "sapphirerapids", "emeraldrapids", "graniterapids", "goldencove", "gracemont", "redwoodcove", "lioncove",
    "crestmont", "zen1", "zen2", "zen3", "zen4", "zen5",
)  # fmt: skip


class Pair(NamedTuple):
    """A workload on a platform."""

    workload: str
    platform: str

    def __str__(self) -> str:
        return f"{self.workload} on {self.platform}"

    @property
    def generation(self) -> str:
        """``broadwell`` for ``broadwell-sim`` or ``broadwell-lab``; ``unknown`` for other names."""
        first = self.platform.split("-")[0]
        return first if first in GENERATIONS else "unknown"

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of this pair in a table with ``workload`` and ``platform``."""
        return table[(table["workload"] == self.workload) & (table["platform"] == self.platform)]


def pairs_of(table: pd.DataFrame) -> list[Pair]:
    """The distinct pairs of a table, sorted."""
    return sorted({Pair(*names) for names in zip(table["workload"], table["platform"], strict=True)})


def platform_order(names: Iterable[str]) -> list[str]:
    """Distinct platforms: by generation, then by name; those of the host last."""

    def rank(name: str) -> tuple:
        generation = name.split("-")[0]
        known = GENERATIONS.index(generation) if generation in GENERATIONS else len(GENERATIONS)
        return generation == "host", known, name

    return sorted(set(names), key=rank)


def workload_order(names: Iterable[str]) -> list[str]:
    """Distinct workloads by name; numbers in names count by value, so 8gb comes before 16gb."""
    pieces = re.compile(r"(\d+)")
    return sorted(set(names), key=lambda name: [int(x) if x.isdigit() else x for x in pieces.split(name)])


# TLB sensitivity decides which workloads are analysed on which platform (MICRO'20 section VI-A).
#
# The paper keeps a workload on a machine if 1GB pages improve its runtime by at least 5%; on Broadwell this
# drops bfs-road. Dropped pairs stay in the cells and on the pages of workloads. Model errors, claims about
# models, and figures of models do not use them. A pair without a good 4KB or 1GB cell cannot be judged and
# is kept.

#: Improvement of the runtime with 1GB pages, as a fraction of that with 4KB pages.
SENSITIVITY_THRESHOLD = 0.05
SENSITIVITY_COLUMNS = ("workload", "platform", "improvement", "sensitive", "analysed", "reason")


def judge_sensitivity(cells: pd.DataFrame) -> pd.DataFrame:
    """One row per pair of workload and platform in ``cells`` (good rows with canonical layout names).

    Columns (:data:`SENSITIVITY_COLUMNS`): ``improvement`` is a fraction (empty if unknown), ``sensitive`` is
    ``yes``, ``no`` or empty, ``analysed`` a truth value, ``reason`` says why a pair is dropped or not judged.
    """
    rows = cells[cells["runtime_cycles"].notna()]
    runtimes = rows.groupby(["workload", "platform", "layout"])["runtime_cycles"].mean()
    pairs = rows[["workload", "platform"]].drop_duplicates().itertuples(index=False, name=None)
    return pd.DataFrame(
        [_judged_pair(workload, platform, runtimes) for workload, platform in sorted(pairs)],
        columns=list(SENSITIVITY_COLUMNS),
    )


def _judged_pair(workload: str, platform: str, runtimes: pd.Series) -> tuple:
    try:
        small, large = (float(runtimes[workload, platform, layout]) for layout in (ALL_4KB, ALL_1GB))
    except KeyError:
        return workload, platform, None, "", True, f"not judged: no good {ALL_4KB} or {ALL_1GB} cell"
    gain = 1 - large / small
    if gain >= SENSITIVITY_THRESHOLD:
        return workload, platform, gain, "yes", True, ""
    reason = f"1GB pages save {100 * gain:.1f}% of the runtime, less than {100 * SENSITIVITY_THRESHOLD:.0f}%"
    return workload, platform, gain, "no", False, reason


def dropped_pairs(cells: pd.DataFrame) -> dict[tuple[str, str], str]:
    """(workload, platform) -> reason, of the pairs that are not analysed."""
    table = judge_sensitivity(cells)
    table = table[~table["analysed"].astype(bool)]
    return {(row.workload, row.platform): row.reason for row in table.itertuples()}
