"""The readers of tables under test, each with what the slow reader says about the same bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from tessera.core.mapping.mapping_file import parse_mapping
from tessera.core.mapping.page_mapping import POOLS, SIZE_NAMES
from tessera.core.results.cell_tables import CELLS
from tessera.core.results.table_io import read_cells
from tessera.fit.models.samples import read_samples
from tessera.fit.predict.prediction import read_design
from tessera.lab.energy.thread_runs import read_runs
from tessera.measure.perf_log_import import logs_from_table

from . import slow
from .slow import Refused


@dataclass(frozen=True)
class Reader:
    """``fast``: path -> values, or TesseraError. ``slow``: (bytes, folder) -> values, or Refused."""

    fast: object
    slow: object


def fast_samples(path: Path) -> dict:
    table = read_samples(path)
    parts = [table.fitted, *([table.test] if table.test else [])]
    return {
        name: tuple(float(getattr(part, symbol)[at]) for symbol in "RHMC")
        for part in parts
        for at, name in enumerate(part.layouts)
    }


def fast_design(path: Path) -> dict:
    found = read_design(path)
    return {
        name: tuple(map(float, one))
        for name, *one in zip(found.names, found.H, found.M, found.C, strict=True)
    }


def fast_logs(path: Path) -> list:
    return [(str(log.path.relative_to(path.parent)), log.layout, log.repeat) for log in logs_from_table(path)]


def slow_logs(data: bytes, folder: Path) -> list:
    found = slow.logs(data)
    for file, _, _ in found:
        try:
            there = (folder / file).is_file()
        except (OSError, ValueError):
            there = False
        if not there:
            raise Refused("no such file")
    return [(str((folder / file).relative_to(folder)), layout, repeat) for file, layout, repeat in found]


def fast_runs(path: Path) -> list:
    return [tuple(map(float, one)) for one in read_runs(path)[list(slow.RUNS)].itertuples(index=False)]


def fast_mapping(path: Path) -> list:
    epochs, rows = parse_mapping(path, path.read_bytes())
    return [(int(epoch), *row) for epoch, row in zip(epochs, _mapping_rows(rows), strict=True)]


def _mapping_rows(rows) -> list:
    pools, pages, frames, counts, sizes = (column.tolist() for column in rows.columns())
    return [
        (POOLS[pool], page, max(frame, -1), count, SIZE_NAMES[size])
        for pool, page, frame, count, size in zip(pools, pages, frames, counts, sizes, strict=True)
    ]


COUNTS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles")


def fast_cells(path: Path) -> list:
    table = read_cells(path)
    cells = zip(*(table[name] for name in ("workload", "layout", "status", *COUNTS)), strict=True)
    return [(*(text.strip() for text in one[:3]), *(_rounded(value) for value in one[3:])) for one in cells]


def slow_cells(data: bytes, folder: Path) -> list:
    names, body = slow.table(data, (), strict=True)
    if not set(CELLS.names) - set(CELLS.added) <= set(names):
        raise Refused("columns")
    found = []
    for cells in body:
        row = dict(zip(names, cells, strict=True))
        values = [None if row[name] == "" else slow.number(row[name]) for name in COUNTS]
        found.append(
            (
                row["workload"].strip(),
                slow.layout(row["layout"]),
                row["status"].strip(),
                *map(_rounded, values),
            )
        )
    return found


def _rounded(value) -> str:
    """15 digits: pandas reads the last bit of a double in its own way."""
    return "" if value is None or value != value else f"{float(value):.14e}"


READERS = {
    "samples": Reader(fast_samples, lambda data, folder: slow.samples(data)),
    "design": Reader(fast_design, lambda data, folder: slow.design(data)),
    "logs": Reader(fast_logs, slow_logs),
    "runs": Reader(fast_runs, lambda data, folder: slow.runs(data)),
    "cells": Reader(fast_cells, slow_cells),
    "mapping": Reader(fast_mapping, lambda data, folder: slow.mapping(data)),
}


def same(one, other) -> bool:
    """Equal names and equal doubles."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(one[k], other[k]) for k in one)
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other and not (isinstance(one, float) and math.isnan(one))


def make_logs(folder: Path) -> None:
    """The files that tables of logs name."""
    (folder / "logs").mkdir(exist_ok=True)
    for number in range(10):
        (folder / "logs" / f"{number}.perf").touch()
