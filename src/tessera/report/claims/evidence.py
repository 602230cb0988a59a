"""The inputs of evaluators: published numbers, and a results tree (docs/contracts.md).

Rows that are missing, failed or empty become :class:`Missing` with the reason, so that a claim
without its data is judged "not measurable" instead of stopping the report. A (workload, platform)
pair has one provenance: ``measured`` or ``simulated`` when runtime and TLB counters agree,
``hybrid`` when they don't (real runs with simulated counters; such pairs decide no model's error).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import pandas as pd

from tessera.core import reference
from tessera.core.results.cell_tables import MANIFEST, MODELS_OF_RUN
from tessera.core.results.loader import Loader, Pair
from tessera.core.results.schema import Table
from tessera.core.results.table_io import UnreadableTable
from tessera.report.claims.claim import Missing

Made = TypeVar("Made")


class Evidence:
    """One results folder and one folder of published numbers."""

    def __init__(self, results_dir: Path | str, reference_dir: Path | str | None = None):
        self.loader = Loader(results_dir)
        self.tree = self.loader.tree
        self.reference_dir = Path(reference_dir) if reference_dir else reference.default_dir()
        self._made: dict[tuple, object] = {}
        self._platforms: frozenset[str] | None = None

    def limited(self, platforms: Iterable[str]) -> Evidence:
        """The same evidence, of which only pairs of these platforms decide a claim.

        Both share what :meth:`once` keeps: no such table depends on which pairs decide.
        """
        other = copy(self)
        other._platforms = frozenset(platforms)
        return other

    # -- published numbers

    def number(self, spec: Mapping[str, object] | float) -> float:
        """A number, or the one that ``{table, where}`` selects."""
        if not isinstance(spec, Mapping):
            return float(spec)
        return reference.lookup(spec["table"], spec["where"], self.reference_dir)

    def rows(self, table: str, where: Mapping[str, object] | None = None) -> pd.DataFrame:
        """Rows of a published table."""
        return reference.select_published(table, where, self.reference_dir)

    # -- cells

    @cached_property
    def all_cells(self) -> pd.DataFrame:
        """Every row of ``cells.csv``."""
        try:
            return self.loader.cells
        except UnreadableTable as error:
            raise Missing(f"no readable cells: {error.found}") from None

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Rows whose status is ok."""
        if self.all_cells.empty or self.loader.good.empty:
            raise Missing("no cell of this run succeeded")
        return self.loader.good

    @property
    def averaged(self) -> pd.DataFrame:
        """These rows, repeats averaged (:func:`tessera.core.results.loader.average_repeats`)."""
        return self.loader.averaged if len(self.cells) else self.cells

    @property
    def provenances(self) -> dict[Pair, str]:
        """Each pair that has good cells and may decide -> measured, simulated or hybrid."""
        found = self.loader.provenances if len(self.cells) else {}
        if self._platforms is None:
            return found
        return {pair: kind for pair, kind in found.items() if pair.platform in self._platforms}

    @property
    def dropped(self) -> dict[Pair, str]:
        """Pairs that are not TLB-sensitive, with the reason: they decide no claim (MICRO'20 VI-A)."""
        return self.loader.dropped if len(self.cells) else {}

    def samples(self, pair: Pair) -> pd.DataFrame:
        """Good cells of ``pair``, one row a layout (repeats averaged), indexed by layout in their order."""

        def make() -> pd.DataFrame:
            table = pair.rows(self.averaged)
            if table.empty:
                raise Missing(f"{pair}: no good cell")
            table = table.set_index("layout").sort_index()
            if not table.index.is_unique:
                raise Missing(f"{pair}: cells of one layout differ in provenance or engine")
            return table

        return self.once(("samples", pair), make)

    def cell(self, pair: Pair, layout: str, column: str) -> float:
        """One number of one layout."""
        table = self.samples(pair)
        if layout not in table.index:
            raise Missing(f"{pair}: layout {layout} is missing{self._why(pair, layout)}")
        value = float(table.loc[layout, column])
        if value != value:
            raise Missing(f"{pair}: layout {layout} has no {column}")
        return value

    def _why(self, pair: Pair, layout: str) -> str:
        rows = pair.rows(self.all_cells)
        messages = [m for m in rows.loc[rows["layout"] == layout, "message"] if m]
        return f" ({messages[0]})" if messages else ""

    # -- other tables

    def table(self, table: Table, command: str | None = None) -> pd.DataFrame:
        """A table of the results tree; :class:`Missing` if it is absent, damaged or empty."""
        extra = [command] if command else []
        try:
            found = self.loader.read(table)
        except UnreadableTable as error:
            why = "does not exist in the results" if error.absent else error.found
            raise Missing(f"{table.pattern} {why}", *extra) from None
        if found.empty:
            raise Missing(f"{table.pattern} has no rows", *extra)
        return found

    def models(self, name: str) -> pd.DataFrame:
        """``models/<name>.csv``."""
        return self.table(MODELS_OF_RUN[name])

    def of_pair(self, name: str, pair: Pair, **where: object) -> pd.DataFrame:
        """Rows of a models' table for one pair; at least one."""
        places = self._places(name, pair, where)
        return self.once(("rows", name, pair, *where.items()), lambda: self.models(name).take(places))

    def records(self, name: str, pair: Pair, **where: object) -> list[dict]:
        """The same rows as dictionaries: without the costs of a table, for claims that read single numbers.

        Callers must not change the dictionaries.
        """
        places = self._places(name, pair, where)
        rows = self.once(("records", name), lambda: self.models(name).to_dict("records"))
        return [rows[place] for place in places]

    def record(self, name: str, pair: Pair, **where: object) -> dict:
        """The first of these rows."""
        return self.records(name, pair, **where)[0]

    def _places(self, name: str, pair: Pair, where: Mapping[str, object]) -> list[int]:
        """Positions of the rows of a models' table that satisfy all conditions; at least one."""
        columns = ("workload", "platform", *where)
        index = self.once(("index", name, *where), lambda: _index(self.models(name), columns))
        found = index.get((*pair, *where.values()), [])
        if not found:
            wanted = ", ".join(f"{k} {v}" for k, v in where.items())
            raise Missing(f"{pair}: models/{name}.csv has no row for {wanted or 'this pair'}")
        return found

    def once(self, key: tuple, make: Callable[[], Made]) -> Made:
        """What ``make`` returned for the first call with ``key``; many claims share few tables.

        Callers must not change it.
        """
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def _manifests(self) -> dict[Pair, pd.DataFrame]:
        pairs = [Pair(*path.parts[-3:-1]) for path in self.tree.found(MANIFEST.place(self.tree))]
        try:
            found = {pair: self.loader.read(MANIFEST, *pair) for pair in pairs}
        except UnreadableTable as error:
            raise Missing(f"{error.asked} {error.found}") from None
        return {pair: table for pair, table in found.items() if len(table)}

    def manifests(self) -> dict[Pair, pd.DataFrame]:
        """``layouts/<workload>/<platform>/manifest.csv`` of every pair that has layouts; at least one."""
        if not self._manifests:
            raise Missing("no layouts were generated")
        return self._manifests

    def manifest(self, pair: Pair) -> pd.DataFrame:
        """One manifest, indexed by layout."""
        found = self.manifests()
        if pair not in found:
            raise Missing(f"{pair}: no manifest of layouts")
        return self.once(("manifest", pair), lambda: found[pair].set_index("layout"))


def _index(table: pd.DataFrame, columns: Iterable[str]) -> dict[tuple, list[int]]:
    """Values of ``columns`` -> positions of the rows that have them, ascending."""
    found: dict[tuple, list[int]] = {}
    for place, key in enumerate(zip(*(table[column].tolist() for column in columns), strict=True)):
        found.setdefault(key, []).append(place)
    return found
