"""Invariants of every simulated cell of the pipeline, checked on the results.

Each invariant is a function from the cells of one (workload, platform) to the rows that break it. The list
contains only rules that can be proved. For example, H + M need not shrink with more 2MB pages: 2MB entries
can displace 4KB entries in a shared STLB.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.platforms import Platform, changed_platform, load_platform, parse_changes
from tessera.core.results import machine_tables
from tessera.core.results.cell_tables import MANIFEST
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of, read_cells, read_tree_table
from tessera.core.results.tree import ResultsTree
from tessera.lab.chase.simulated import LATENCY_KEYS, LEVELS, WALK_KEY
from tessera.lab.study import Names, Run, study

ROUNDING = 3.0  #: counts are scaled and rounded one by one
BEGIN_KEY = "walker.begin_cycles"
MOST_LOADS = 5  #: of a walk: one for each level of the page table


@dataclass(frozen=True)
class PairCells:
    """The good cells of one workload on one platform, by layout, and what they were made from."""

    workload: str
    cells: pd.DataFrame
    platform: Platform
    manifest: pd.DataFrame
    pages_4kb: int  #: distinct 4KB pages of the trace


@dataclass(frozen=True)
class Invariant:
    """A sentence, why it must hold, and the layouts that break it."""

    sentence: str
    because: str
    broken: Callable[[PairCells], list[str]]


def _names(cells: pd.DataFrame, wrong: pd.Series) -> list[str]:
    return list(cells.index[wrong])


def _within_accesses(g: PairCells) -> list[str]:
    return _names(g.cells, g.cells["stlb_hits"] + g.cells["stlb_misses"] > 2 * g.cells["accesses"])


def _walk_sum(g: PairCells) -> list[str]:
    loads = [g.cells[f"walker_{level}_loads"] for level in LEVELS]
    served = [a - b for a, b in zip(loads, [*loads[1:], 0], strict=True)]
    cycles = sum(n * float(g.platform.values[key].value) for n, key in zip(served, LATENCY_KEYS, strict=True))
    cycles += loads[0] * float(g.platform.values[WALK_KEY].value)
    slack = ROUNDING * sum(float(g.platform.values[key].value) for key in LATENCY_KEYS)
    rest = g.cells["walk_cycles"] - cycles
    most = loads[0] * float(g.platform.values[BEGIN_KEY].value)  # a walk has at least one load
    return _names(g.cells, (rest < most / MOST_LOADS - slack) | (rest > most + slack))


def _levels(g: PairCells) -> list[str]:
    wrong = pd.Series(False, index=g.cells.index)
    for who in ("program", "walker"):
        for near, far in zip(LEVELS, LEVELS[1:], strict=False):
            wrong |= g.cells[f"{who}_{far}_loads"] > g.cells[f"{who}_{near}_loads"] + ROUNDING
    return _names(g.cells, wrong)


def _same_program(g: PairCells) -> list[str]:
    columns = ["instructions", "accesses", "timed_instructions", "program_l1d_loads"]
    return _names(g.cells, (g.cells[columns] != g.cells[columns].iloc[0]).any(axis=1))


def _width(g: PairCells) -> list[str]:
    width = float(g.platform.values["core.dispatch_width"].value)
    return _names(g.cells, g.cells["runtime_cycles"] < g.cells["instructions"] / width - ROUNDING)


def _cold(g: PairCells) -> list[str]:
    least = pd.Series(0.0, index=g.cells.index)
    least[g.cells.index == ALL_4KB] = g.pages_4kb
    return _names(g.cells, g.cells["stlb_misses"] < least)


def _duplicates(g: PairCells) -> list[str]:
    numbers = [c for c in g.cells.columns if pd.api.types.is_numeric_dtype(g.cells[c])]
    broken = []
    for row in g.manifest[g.manifest["duplicate_of"] != ""].itertuples():
        one, other = row.layout, row.duplicate_of
        if {one, other} <= set(g.cells.index):
            a, b = g.cells.loc[one, numbers].astype(float), g.cells.loc[other, numbers].astype(float)
            broken += [f"{one} and {other}"] * (not ((a == b) | (a.isna() & b.isna())).all())
    return broken


INVARIANTS = (
    Invariant("H + M <= 2 x accesses", "an access lies in one page or in two", _within_accesses),
    Invariant(
        "C = sum over levels of walker loads x load time, and what walks take before their first load",
        f"the latency of a walk is {BEGIN_KEY} and the latencies of its 1 to {MOST_LOADS} loads",
        _walk_sum,
    ),
    Invariant(
        "no level serves more than the one above it passes on", "a level passes on only its misses", _levels
    ),
    Invariant(
        "instructions, accesses and program loads are those of every other layout",
        "a layout changes the translation only, not the program",
        _same_program,
    ),
    Invariant(
        "R >= instructions / dispatch width",
        "the core dispatches at most that many instructions per cycle",
        _width,
    ),
    Invariant(f"M >= distinct 4KB pages under {ALL_4KB}", "the first access to a page misses", _cold),
    Invariant(
        "duplicate layouts have equal cells",
        "a cell depends on the layout's windows, not on its name",
        _duplicates,
    ),
)


def say_broken(table: pd.DataFrame) -> None:
    """Print how many invariants are broken, and the first cell of each."""
    broken = table[table["broken"] > 0]
    print(f"{len(table)} invariants over {table['cells'].max()} cells, {len(broken)} broken")
    for row in broken.itertuples():
        print(f"{row.invariant}: {row.broken} cells break it; the first: {row.first_broken}", file=sys.stderr)


@study(machine_tables.INVARIANTS, show=say_broken)
def invariants(run: Run, results: Path, changes: Names = ()) -> pd.DataFrame:
    """Check the rules that every simulated cell of a run must satisfy.

    `tessera report check` fails if a cell breaks one.

    Example: ./run tessera lab run invariants results=results/default --out /tmp/invariants.csv

    Args:
        results: folder of the run; every cells/<workload>/<platform>.csv below it is checked.
        changes: what the run's configuration changed on every platform, such as walker.begin_cycles=22.

    Raises:
        TesseraError: there is no cells file, so nothing would be checked.
    """
    tree = ResultsTree(results)
    files = tree.found(tree.cells_of("*", "*"))
    if not files:
        where = tree.cells_of("*", "*")
        raise TesseraError(f"invariants of {results}", f"there is no cells file ({where})", "./run reproduce")
    detected = {path.stem: path for path in tree.found(tree.platform("*"))}
    changed_keys = parse_changes(changes, "changes=")
    groups = [found for path in files if (found := _group(path, tree, detected, changed_keys))]
    rows = []
    for invariant in INVARIANTS:
        broken = [
            f"{g.workload} on {g.platform.name}: {name}" for g in groups for name in invariant.broken(g)
        ]
        rows.append(
            {
                "invariant": invariant.sentence,
                "because": invariant.because,
                "cells": sum(len(g.cells) for g in groups),
                "broken": len(broken),
                "first_broken": broken[0] if broken else "",
            }
        )
    return frame_of(machine_tables.INVARIANTS, rows)


def _group(
    path: Path, tree: ResultsTree, detected: dict[str, Path], changes: Mapping[str, int | str]
) -> PairCells | None:
    """The group of a cells file; None where no cell is good."""
    cells = ok_rows(read_cells(path))
    if cells.empty:
        return None
    workload, platform = path.parent.name, path.stem
    manifest = read_tree_table(MANIFEST, tree, workload, platform)
    info = json.loads(tree.info(workload).read_text())
    pages = int(info.get("distinct_4kb_pages") or 0)
    simulated = changed_platform(load_platform(detected.get(platform, platform)), changes)
    return PairCells(workload, cells.set_index("layout"), simulated, manifest, pages)
