"""What protocols may read: published numbers, and a results tree (docs/contracts.md).

Rows that are missing, failed or empty become :class:`Missing` with the reason, so that a claim
without its data is judged "not measurable" instead of stopping the report. A (workload, platform)
pair has one provenance: ``measured`` or ``simulated`` when runtime and TLB counters agree,
``hybrid`` when they don't (real runs with simulated counters; such pairs decide no model's error).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from tessera import reference
from tessera.core.errors import TesseraError
from tessera.judge.claims.model import INTEL_GENERATIONS
from tessera.judge.claims.outcome import Missing
from tessera.layouts.model import canonical_name
from tessera.results import sensitivity
from tessera.results.cells import read_cells

TEST_LAYOUT = "1gb"


class Pair(NamedTuple):
    """A workload on a platform."""

    workload: str
    platform: str

    def __str__(self) -> str:
        return f"{self.workload} on {self.platform}"

    @property
    def generation(self) -> str:
        """``broadwell`` of ``broadwell-sim`` or ``broadwell-lab``; ``unknown`` for the rest."""
        first = self.platform.split("-")[0]
        return first if first in INTEL_GENERATIONS else "unknown"


class Evidence:
    """One results folder and one folder of published numbers."""

    def __init__(self, results_dir: Path | str, reference_dir: Path | str | None = None):
        self.results = Path(results_dir)
        self.reference_dir = Path(reference_dir) if reference_dir else reference.default_dir()
        self._samples: dict[Pair, pd.DataFrame] = {}
        self._tables: dict[str, pd.DataFrame] = {}
        self._made: dict[tuple, pd.DataFrame] = {}

    # -- published numbers

    def number(self, spec: Mapping[str, object] | float) -> float:
        """A number, or the one that ``{table, where}`` selects."""
        if not isinstance(spec, Mapping):
            return float(spec)
        return reference.lookup(spec["table"], spec["where"], self.reference_dir)

    def rows(self, table: str, where: Mapping[str, object] | None = None) -> pd.DataFrame:
        """Rows of a published table."""
        return reference.select(table, where, self.reference_dir)

    # -- cells

    @cached_property
    def all_cells(self) -> pd.DataFrame:
        """Every row of ``cells.csv``, with canonical layout names."""
        try:
            table = read_cells(self.results / "cells.csv")
            return table.assign(layout=table["layout"].map(canonical_name))
        except (TesseraError, ValueError) as error:
            raise Missing(f"no readable cells: {getattr(error, 'found', error)}") from None

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Rows whose status is ok."""
        table = self.all_cells[self.all_cells["status"] == "ok"]
        if table.empty:
            raise Missing("no cell of this run succeeded")
        return table

    @cached_property
    def provenances(self) -> dict[Pair, str]:
        """Each pair that has good cells -> measured, simulated or hybrid."""
        found = {}
        for key, rows in self.cells.groupby(["workload", "platform"]):
            kinds = set(rows["runtime_provenance"]) | set(rows["tlb_provenance"])
            single = kinds.pop() if len(kinds) == 1 else "hybrid"
            found[Pair(*key)] = single if single in ("measured", "simulated") else "hybrid"
        return found

    @cached_property
    def dropped(self) -> dict[Pair, str]:
        """Pairs that are not TLB-sensitive, with the reason: they decide no claim (MICRO'20 VI-A)."""
        return {Pair(*key): why for key, why in sensitivity.dropped(self.cells).items()}

    def samples(self, pair: Pair) -> pd.DataFrame:
        """Good cells of ``pair``, one row a layout (repeats averaged), indexed by layout."""
        if pair not in self._samples:
            rows = _of(self.cells, pair)
            if rows.empty:
                raise Missing(f"{pair}: no good cell")
            self._samples[pair] = rows.groupby("layout").mean(numeric_only=True)
        return self._samples[pair]

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
        rows = _of(self.all_cells, pair)
        messages = [m for m in rows.loc[rows["layout"] == layout, "message"] if m]
        return f" ({messages[0]})" if messages else ""

    # -- tables of models, and files of layouts

    def models(self, table: str) -> pd.DataFrame:
        """``models/<table>.csv``: errors, cv, rsquared, predictions or coefficients."""
        return self.csv(f"models/{table}.csv")

    def csv(self, relative: str, command: str | None = None) -> pd.DataFrame:
        """A CSV of the results tree; :class:`Missing` if it is absent or empty."""
        if relative not in self._tables:
            self._tables[relative] = self._read(relative, command)
        return self._tables[relative]

    def _read(self, relative: str, command: str | None) -> pd.DataFrame:
        path = self.results / relative
        extra = [command] if command else []
        if not path.exists():
            raise Missing(f"{relative} is not among the results", *extra)
        try:
            table = pd.read_csv(path, keep_default_na=False, na_values=[""])
        except (ValueError, OSError) as error:
            raise Missing(f"{relative} cannot be read: {error}", *extra) from None
        if table.empty:
            raise Missing(f"{relative} has no rows", *extra)
        if "layout" in table:
            table["layout"] = table["layout"].map(canonical_name)
        return table

    def of_pair(self, table: str, pair: Pair, **where: object) -> pd.DataFrame:
        """Rows of a models' table for one pair; at least one."""
        key = (table, pair, *where.items())

        def find() -> pd.DataFrame:
            rows = self.of_pair(table, pair) if where else _of(self.models(table), pair)
            for name, wanted in where.items():
                rows = rows[rows[name] == wanted]
            return rows

        rows = self.once(key, find)
        if rows.empty:
            wanted = ", ".join(f"{k} {v}" for k, v in where.items())
            raise Missing(f"{pair}: models/{table}.csv has no row for {wanted or 'it'}")
        return rows

    def once(self, key: tuple, make: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """What ``make`` returned when ``key`` was asked for first; a hundred claims share few tables.

        Nobody may change the table.
        """
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @cached_property
    def _manifests(self) -> dict[Pair, pd.DataFrame]:
        found = {}
        for path in sorted((self.results / "layouts").glob("*/*/manifest.csv")):
            table = self.csv(str(path.relative_to(self.results))) if _has_rows(path) else None
            if table is not None:
                found[Pair(path.parent.parent.name, path.parent.name)] = table
        return found

    def manifests(self) -> dict[Pair, pd.DataFrame]:
        """``layouts/<workload>/<platform>/manifest.csv`` of every pair; at least one."""
        if not self._manifests:
            raise Missing("no layouts were generated")
        return self._manifests

    def manifest(self, pair: Pair) -> pd.DataFrame:
        """One manifest, indexed by layout."""
        found = self.manifests()
        if pair not in found:
            raise Missing(f"{pair}: no manifest of layouts")
        return found[pair].set_index("layout")


def _of(table: pd.DataFrame, pair: Pair) -> pd.DataFrame:
    return table[(table["workload"] == pair.workload) & (table["platform"] == pair.platform)]


def _has_rows(path: Path) -> bool:
    with path.open() as lines:
        return sum(1 for line in lines if line.strip()) > 1
