"""A results tree as tables; whatever is missing is an empty table with a note, never a crash.

The tree and the columns are those of docs/contracts.md. Every figure and page reads through
:class:`Results`, so "which rows count" is decided once, here.
"""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.layouts.model import canonical_name
from tessera.results import sensitivity
from tessera.results.cells import COLUMNS, read_cells

MODEL_COLUMNS: dict[str, tuple[str, ...]] = {
    "errors": (
        "workload",
        "platform",
        "model",
        "protocol",
        "samples",
        "max_error",
        "geomean_error",
        "zero_errors",
        "dropped_zero_errors",
    ),
    "cv": ("workload", "platform", "model", "folds", "seed", "max_error", "geomean_error"),
    "rsquared": ("workload", "platform", "input", "r_squared"),
    "predictions": ("workload", "platform", "layout", "model", "predicted_runtime_cycles"),
    "coefficients": ("workload", "platform", "model", "term", "coefficient"),
}

COMPARISON_COLUMNS = ("layout", "measured_delta", "measured_ci95", "simulated_delta", "pairs")
ALLOCATOR_COLUMNS = ("workload", "allocator", "pair", "memory_bytes", "cpu_ns", "provenance")
ANCHORS = {"growing-0": "4KB", "growing-8": "2MB", "1gb": "1GB"}
#: oldest first; others follow by name, the host last
GENERATIONS = ("sandybridge", "ivybridge", "haswell", "broadwell", "skylake")
RUN_HINT = "./run reproduce"


def platform_order(names) -> list[str]:
    """Platforms each once: by generation, then by name, the host's last."""

    def rank(name: str) -> tuple:
        generation = name.split("-")[0]
        known = GENERATIONS.index(generation) if generation in GENERATIONS else len(GENERATIONS)
        return generation == "host", known, name

    return sorted(set(names), key=rank)


def workload_order(names) -> list[str]:
    """Workloads each once, by name; numbers in names by value, so that 8gb comes before 16gb."""
    pieces = re.compile(r"(\d+)")
    return sorted(set(names), key=lambda name: [int(x) if x.isdigit() else x for x in pieces.split(name)])


class NotDrawn(TesseraError):
    """A figure whose inputs are missing; the report prints the reason in its place."""

    def __init__(self, what: str, reason: str, remedy: str = RUN_HINT):
        super().__init__(what, reason, remedy, exit_code=1)


class Results:
    """The tables of ``results/<config>``."""

    def __init__(self, directory: Path | str):
        self.directory = Path(directory)
        self.notes: list[str] = []  #: what was missing or unreadable, in the order it was noticed

    @classmethod
    def of(cls, source: Results | Path | str) -> Results:
        """``source`` itself, or the results of that folder (figures accept both)."""
        return source if isinstance(source, Results) else cls(source)

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Every row of ``cells.csv`` whatever its status; layout names in their canonical form."""
        table = self._read_cells(self.directory / "cells.csv")
        extra = self.directory / "host" / "cells.csv"
        if extra.exists() and not (table["engine"] == "host").any():
            table = pd.concat([table, self._read_cells(extra)], ignore_index=True)
        table["layout"] = table["layout"].map(canonical_name)
        return table

    def _read_cells(self, path: Path) -> pd.DataFrame:
        try:
            return read_cells(path)
        except (TesseraError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            self._note(f"{path.name}: {getattr(error, 'found', error)}")
            return pd.DataFrame({name: pd.Series(dtype="object") for name in COLUMNS})

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    @cached_property
    def simulated(self) -> pd.DataFrame:
        """Good rows with a runtime in cycles, repeats averaged (the rows that models are fitted to)."""
        rows = self.cells[(self.cells["status"] == "ok") & self.cells["runtime_cycles"].notna()]
        return _average(rows)

    @cached_property
    def hybrid(self) -> pd.DataFrame:
        """Good rows with measured clock time and simulated H, M, C; never used for model errors."""
        ok = self.cells["status"] == "ok"
        rows = self.cells[ok & self.cells["runtime_cycles"].isna() & self.cells["runtime_ns"].notna()]
        return _average(rows)

    @cached_property
    def gaps(self) -> pd.DataFrame:
        """Rows that failed or were skipped."""
        return self.cells[self.cells["status"] != "ok"].reset_index(drop=True)

    def model_table(self, name: str) -> pd.DataFrame:
        """One of :data:`MODEL_COLUMNS`, from ``models/<name>.csv``."""
        return self._csv(f"models/{name}.csv", MODEL_COLUMNS[name])

    def _csv(self, name: str, columns: tuple[str, ...], expected: bool = True) -> pd.DataFrame:
        """A table of the tree; empty with a note if it is missing (and was ``expected``) or damaged."""
        problem = ""
        try:
            table = pd.read_csv(self.directory / name)
            missing = [column for column in columns if column not in table.columns]
            problem = f"columns missing: {', '.join(missing)}" if missing else ""
        except FileNotFoundError:
            problem = "no such file" if expected else "absent"
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            problem = str(error)
        if problem:
            if problem != "absent":
                self._note(f"{name}: {problem}")
            return pd.DataFrame({column: pd.Series(dtype="object") for column in columns})
        if "layout" in table.columns:
            table["layout"] = table["layout"].map(canonical_name)
        return table

    @cached_property
    def comparison(self) -> pd.DataFrame:
        """``host/comparison.csv``: paired differences of real runs to the all-4KB layout."""
        return self._csv("host/comparison.csv", COMPARISON_COLUMNS, expected=not self.hybrid.empty)

    @cached_property
    def allocator_runs(self) -> pd.DataFrame:
        """``host/allocator.csv``: runs of programs with the allocator and with glibc."""
        return self._csv("host/allocator.csv", ALLOCATOR_COLUMNS, expected=False)

    @cached_property
    def errors_raw(self) -> pd.DataFrame:
        """Errors with the rows of models that could not be fitted (their numbers are empty)."""
        return self.model_table("errors")

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """Which pairs are TLB-sensitive (:func:`tessera.results.sensitivity.judge`)."""
        return sensitivity.judge(self.simulated)

    @cached_property
    def dropped(self) -> dict[tuple[str, str], str]:
        """(workload, platform) -> why it is not analysed."""
        return sensitivity.dropped(self.simulated)

    def why_absent(self, workload: str, platform: str) -> str:
        """What a figure writes in the place of a pair that it has no numbers of."""
        return "not sensitive" if (workload, platform) in self.dropped else "no cells"

    def _analysed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of the pairs that are analysed."""
        pairs = zip(table["workload"], table["platform"], strict=True)
        stays = [pair not in self.dropped for pair in pairs]
        return table[pd.Series(stays, index=table.index, dtype=bool)]

    @cached_property
    def errors_of_all(self) -> pd.DataFrame:
        """Errors of every pair that was fitted, TLB-sensitive or not."""
        return self.errors_raw[self.errors_raw["max_error"].notna()]

    @cached_property
    def errors(self) -> pd.DataFrame:
        """Errors of the analysed pairs."""
        return self._analysed(self.errors_of_all)

    @cached_property
    def cv(self) -> pd.DataFrame:
        """Cross-validation of the analysed pairs."""
        table = self.model_table("cv")
        return self._analysed(table[table["max_error"].notna()])

    @cached_property
    def rsquared_of_all(self) -> pd.DataFrame:
        table = self.model_table("rsquared")
        return table[table["r_squared"].notna()]

    @cached_property
    def rsquared(self) -> pd.DataFrame:
        """R squared of the analysed pairs."""
        return self._analysed(self.rsquared_of_all)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        return self.model_table("predictions")

    @cached_property
    def coefficients(self) -> pd.DataFrame:
        return self.model_table("coefficients")

    def pairs(self) -> list[tuple[str, str]]:
        """(workload, platform) with at least one good simulated row, sorted."""
        found = self.simulated[["workload", "platform"]].drop_duplicates()
        return sorted(found.itertuples(index=False, name=None))

    def analysed_pairs(self) -> list[tuple[str, str]]:
        """Those of :meth:`pairs` that are TLB-sensitive (or can't be judged)."""
        return [pair for pair in self.pairs() if pair not in self.dropped]

    def samples(self, workload: str, platform: str) -> pd.DataFrame:
        """Averaged good rows of one pair, by walk cycles."""
        rows = self.simulated
        rows = rows[(rows["workload"] == workload) & (rows["platform"] == platform)]
        return rows.sort_values("walk_cycles").reset_index(drop=True)


def _average(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean over repeats; the widest confidence half-width is kept, not averaged."""
    keys = ["workload", "platform", "layout", "runtime_provenance", "tlb_provenance", "engine"]
    numbers = [c for c in COLUMNS if c not in {*keys, "repeat", "status", "message"}]
    rows = rows[keys + numbers].copy()
    rows[numbers] = rows[numbers].apply(pd.to_numeric, errors="coerce")
    how = {c: "max" if c.endswith("_ci95") else "mean" for c in numbers}
    return rows.groupby(keys, as_index=False, sort=False).agg(how)
