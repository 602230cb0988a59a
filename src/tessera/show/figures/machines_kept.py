"""Bundles that took part in a results folder, as pages, figures and notebooks read them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.bundles import cells
from tessera.bundles.checks.conditions import bars
from tessera.bundles.model import Bundle
from tessera.bundles.reader import read
from tessera.bundles.store import identity
from tessera.layouts.names import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.results.pair import workload_order
from tessera.results.status import ok_rows
from tessera.results.tree import Tree


@dataclass(frozen=True)
class Kept:
    """A bundle; ``bars``: why it decides no claim. ``cells``: its table, columns of docs/results.md."""

    identity: str
    bundle: Bundle
    bars: tuple[str, ...]
    cells: pd.DataFrame

    @property
    def good(self) -> pd.DataFrame:
        """Cells with numbers."""
        return ok_rows(self.cells)

    @property
    def provenance(self) -> str:
        """``measured``, or ``simulated`` of a rehearsal."""
        return "simulated" if self.bundle.about.rehearsal else "measured"


def opened(folder: Path) -> Kept:
    """A sealed bundle by its folder or zip file; TesseraError if it can't be read."""
    bundle = read(folder)
    return Kept(identity(bundle), bundle, tuple(bars(bundle)), cells.compute(bundle))


def kept(results: Path) -> list[Kept]:
    """All bundles that took part, by id."""
    return [opened(folder) for folder in Tree(results).machines.bundles()]


def page_sizes(one: Kept) -> list[dict]:
    """A row for each workload: R and C with one page size, C / R, and what larger pages save of R.

    ``None`` stands for a number that the bundle lacks. R and C are in cycles, the rest are fractions.
    """
    rows = []
    for workload in workload_order(one.cells["workload"]):
        good = one.good[one.good["workload"] == workload].set_index("layout")
        r = {name: _number(good, name, "runtime_cycles") for name in (ALL_4KB, ALL_2MB, ALL_1GB)}
        base, walks = r[ALL_4KB], _number(good, ALL_4KB, "walk_cycles")
        saved = {name: None if not base or r[name] is None else 1 - r[name] / base for name in r}
        rows.append({
            "workload": workload, "layouts": len(good),
            "others": int((one.cells["workload"] == workload).sum()) - len(good),
            "R": base, "C": walks, "share": walks / base if base and walks is not None else None,
            "saved_2mb": saved[ALL_2MB], "saved_1gb": saved[ALL_1GB],
        })  # fmt: skip
    return rows


def _number(table: pd.DataFrame, layout: str, column: str) -> float | None:
    if layout not in table.index or pd.isna(table.at[layout, column]):
        return None
    return float(table.at[layout, column])
