"""Where the numbers of a packed file come from, for the manifest.

``code``, ``published``, ``measured``, ``simulated`` (joined by ``+`` where a table has rows of several),
``derived from ...`` for what is computed from cells, ``input`` for what was chosen before any run (layouts,
platforms, configuration), and ``stated with each number`` for pages.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pandas as pd

KNOWN = ("measured", "simulated", "published")
_INPUTS = frozenset({"layouts", "platforms", "provenance"})
_PAGES = frozenset({"report", "notebooks"})


def of_code(path: str) -> str:
    """Of a committed file."""
    published = path.startswith("reference-results/") and path.endswith(".csv")
    return "published" if published else "code"


def of_result(path: Path, results: Path, cells: str) -> str:
    """Of a file of a results folder; ``cells`` is :func:`of_cells`."""
    inside = PurePosixPath(path.relative_to(results).as_posix())
    if stated := _stated(path):
        return stated
    if path.suffix == ".svg" and (stated := _stated(path.with_suffix(".csv"))):
        return stated
    if inside.parts[0] == "benchmarks" or inside.parts[:2] == ("host", "runs.csv"):
        return "measured"
    if inside.parts[0] in _INPUTS or path.suffix == ".yaml":
        return "input"
    if inside.parts[0] in _PAGES:
        return "stated with each number"
    return f"derived from {cells}"


def of_cells(results: Path) -> str:
    """Of the cells that models and claims are computed from: those with a runtime in cycles."""
    frame = pd.read_csv(results / "cells.csv", dtype=str, keep_default_na=False)
    if not {"runtime_cycles", "runtime_provenance", "tlb_provenance"} <= set(frame.columns):
        return "unknown"
    fitted = frame[frame["runtime_cycles"] != ""]
    return _joined(set(fitted["runtime_provenance"]) | set(fitted["tlb_provenance"])) or "unknown"


def _stated(path: Path) -> str:
    """What the provenance columns of a table say; empty if it has none, or isn't a table."""
    if path.suffix != ".csv" or not path.is_file() or path.stat().st_size == 0:
        return ""
    try:
        columns = [name for name in pd.read_csv(path, nrows=0).columns if name.endswith("provenance")]
        if not columns:
            return ""
        frame = pd.read_csv(path, usecols=columns, dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError):
        return ""
    return _joined({word for column in columns for value in frame[column].unique() for word in value.split()})


def _joined(words: set[str]) -> str:
    return "+".join(name for name in KNOWN if name in words)
