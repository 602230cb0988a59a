"""How a part of a synthetic tree is written."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from tessera.core.results.schema import Table
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.tree import ResultsTree


def put(root: Path, table: Table, rows: pd.DataFrame | list, *of: str) -> None:
    """Write a table to its place in a tree; ``of``: workload and platform, if there is a file of each."""
    write_table(table, frame_of(table, rows), table.place(ResultsTree(root), *of))


def put_info(root: Path, workload: str, status: str = "ok", **facts: object) -> None:
    """Write what a recording says about itself."""
    path = ResultsTree(root).info(workload)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"workload": workload, "status": status} | facts))
