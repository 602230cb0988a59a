"""Tables of the pipeline that pages read: missing or damaged ones are empty, and what is missing is noted."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def read(path: Path) -> pd.DataFrame:
    """A CSV file, or an empty table."""
    try:
        return pd.read_csv(path)
    except (FileNotFoundError, pd.errors.EmptyDataError, pd.errors.ParserError):
        return pd.DataFrame()


def of_models(results: Path, name: str) -> pd.DataFrame:
    """``models/<name>.csv`` with ``workload`` and ``platform``; else the pairs' own tables."""
    found = read(results / "models" / f"{name}.csv")
    if len(found) and {"workload", "platform"} <= set(found.columns):
        return found
    parts = []
    for path in sorted((results / "models").glob(f"*/*/{name}.csv")):
        table = read(path)
        if len(table):
            workload, platform = path.parts[-3:-1]
            parts.append(table.assign(workload=workload, platform=platform))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def rows(table: pd.DataFrame) -> list[dict]:
    """Rows for a template; what is missing is None."""
    return table.astype(object).where(table.notna(), None).to_dict("records")
