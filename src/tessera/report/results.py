"""A results folder as pages and figures read it: a missing table is an empty table with a note.

Also what claims and figures compute alike from it: what a layout loses against one with fewer 2MB pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB
from tessera.core.results.catalogue import TABLES
from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.loader import Loader, Pair, pairs_of
from tessera.core.results.schema import Table
from tessera.core.results.table_io import UnreadableTable, counting_rows, empty_table, read_undeclared

RUN_HINT = "./run reproduce"


class NotDrawn(TesseraError):
    """A figure whose inputs are missing; the report prints the reason instead."""

    def __init__(self, what: str, reason: str, remedy: str = RUN_HINT):
        super().__init__(what, reason, remedy, exit_code=1)


class Results(Loader):
    """The tables of ``results/<config>``."""

    def __init__(self, directory: Path | str):
        super().__init__(directory)
        self.notes: list[str] = []  #: missing or unreadable tables, in the order of reading

    @classmethod
    def of(cls, source: Results | Path | str) -> Results:
        """``source`` itself, or the results of that folder (figures accept both)."""
        return source if isinstance(source, Results) else cls(source)

    @property
    def directory(self) -> Path:
        return self.tree.root

    def read(self, table: Table, *names: str, expected: bool = True) -> pd.DataFrame:
        """A table; without rows if it is damaged or missing, and then noted unless it is not ``expected``."""
        try:
            return self.strict(table, *names)
        except UnreadableTable as error:
            note = f"{error.asked}: {error.found}"
            if note not in self.notes and (expected or not error.absent):
                self.notes.append(note)
            return empty_table(table)

    def at(self, path: Path) -> pd.DataFrame:
        """The table at a path: as its schema declares it, or unchanged if no schema does."""
        name = self.tree.relative(path)
        declared = [table for table in TABLES.values() if table.pattern == name]
        return self.read(declared[0]) if declared else read_undeclared(path, name)

    def strict(self, table: Table, *names: str) -> pd.DataFrame:
        """A table; :class:`UnreadableTable` if it is missing or damaged."""
        return super().read(table, *names)

    def needed(self, table: Table, figure: str, remedy: str = RUN_HINT, why: str = "") -> pd.DataFrame:
        """The rows of a table that count; ``why`` is the reason to state if there are none.

        Raises:
            NotDrawn: the table is missing or damaged, or no row counts.
        """
        try:
            found = counting_rows(table, self.strict(table))
        except UnreadableTable as error:
            reason = why if why and error.absent else f"{error.asked}: {error.found}"
            raise NotDrawn(f"figure {figure}", reason, remedy) from None
        if found.empty:
            raise NotDrawn(f"figure {figure}", why or f"{table.pattern} has no row that counts", remedy)
        return found

    def models(self, name: str, analysed: bool = True) -> pd.DataFrame:
        """Rows that count of ``models/<name>.csv``; of the analysed pairs, or of all that were fitted."""
        table = counting_rows(MODELS_OF_RUN[name], self.read(MODELS_OF_RUN[name]))
        return self.analysed(table) if analysed else table

    def analysed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of the pairs that are TLB-sensitive (or whose sensitivity is unknown)."""
        pairs = zip(table["workload"], table["platform"], strict=True)
        stays = [pair not in self.dropped for pair in pairs]
        return table[pd.Series(stays, index=table.index, dtype=bool)]

    def why_absent(self, workload: str, platform: str) -> str:
        """The text that a figure shows for a pair without numbers."""
        return "not sensitive" if (workload, platform) in self.dropped else "no cells"

    def pairs(self) -> list[Pair]:
        """Those with at least one good simulated row, sorted."""
        return pairs_of(self.simulated)

    def analysed_pairs(self) -> list[Pair]:
        """Those of :meth:`pairs` that are analysed."""
        return [pair for pair in self.pairs() if pair not in self.dropped]

    def samples(self, workload: str, platform: str) -> pd.DataFrame:
        """Averaged good rows of one pair, by walk cycles."""
        rows = Pair(workload, platform).rows(self.simulated)
        return rows.sort_values("walk_cycles").reset_index(drop=True)


# Layouts that are faster with fewer huge pages (OPERA 2.5.3): a layout and the fastest with fewer.


class FewerPages(NamedTuple):
    """Loss of a layout against the fastest one with fewer 2MB pages; below 0 if all of those are slower."""

    loss: float  #: fraction of the other's runtime
    fastest: str  #: name of that layout
    fastest_pages: int
    pages: int  #: 2MB pages of the layout itself


def against_fewer_pages(runtimes: pd.Series, pages: pd.Series, layout: str = ALL_2MB) -> FewerPages | None:
    """None if ``layout`` did not run, or no layout with fewer pages did. The 1GB layout is left out.

    Args:
        runtimes: runtime by layout.
        pages: 2MB pages by layout (``pages_2mb`` of the manifest).
    """
    both = pd.DataFrame({"runtime": runtimes, "pages": pages}).dropna().drop(index=ALL_1GB, errors="ignore")
    if layout not in both.index:
        return None
    mine = both.loc[layout]
    fewer = both[both["pages"] < mine["pages"]]
    if fewer.empty:
        return None
    best = fewer["runtime"].idxmin()
    lost = mine["runtime"] / fewer.at[best, "runtime"] - 1
    return FewerPages(float(lost), best, int(fewer.at[best, "pages"]), int(mine["pages"]))
