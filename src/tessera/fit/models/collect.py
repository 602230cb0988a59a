"""Put the tables of many fits together, with `workload,platform` in front.

The last two parts of a fit's folder are its workload and platform: `models/<workload>/<platform>`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.models.tables import JUDGED, TABLES, write_table


def collect(folders: Iterable[str | Path]) -> dict[str, pd.DataFrame]:
    """{table: frame} over all folders, in their order; numbers keep their digits (as text).

    The tables of a fit always; those of protocols and adaptive orders if the folders have them.

    Raises:
        TesseraError: no folders, a folder without these tables or with other columns, a folder
            whose path has no workload and platform, or two folders of the same pair.
    """
    found: dict[tuple[str, str], Path] = {}
    for folder in map(Path, folders):
        pair = folder.absolute().parts[-2:]
        if len(pair) < 2 or pair[0] == folder.anchor:
            raise TesseraError(f"fit {folder}", "its path has no workload and platform", _WHERE)
        if pair in found:
            raise TesseraError(
                f"fit {folder}", f"same workload and platform as {found[pair]}", "name each pair once"
            )
        found[pair] = folder
    if not found:
        raise TesseraError("collect fits", "no folders named", _WHERE)
    tables = {table: _concatenate(table, found, TABLES[table]) for table in TABLES}
    for table in JUDGED:
        # a pair that could not be fitted (not_fitted.txt) cannot be judged either
        judged = {pair: f for pair, f in found.items() if not (f / "not_fitted.txt").exists()}
        if any((folder / f"{table}.csv").is_file() for folder in judged.values()):
            tables[table] = _concatenate(table, judged)
    return tables


def write_collected(tables: dict[str, pd.DataFrame], out: str | Path) -> None:
    """Write `<table>.csv` for each table into ``out``."""
    Path(out).mkdir(parents=True, exist_ok=True)
    for name, frame in tables.items():
        write_table(frame, Path(out) / f"{name}.csv")


_WHERE = "pass folders like models/<workload>/<platform>, each written by: tessera models fit"


def _concatenate(
    table: str, folders: dict[tuple[str, str], Path], columns: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """``columns`` that every file must have; those of the first file by default."""
    frames = []
    for (workload, platform), folder in folders.items():
        path = folder / f"{table}.csv"
        if not path.is_file():
            raise TesseraError(f"fit {folder}", f"no {path.name} there", _WHERE)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        columns = columns or tuple(frame.columns)
        if tuple(frame.columns) != columns:
            raise TesseraError(
                f"{path}",
                f"columns {','.join(frame)}; expected {','.join(columns)}",
                "fit again with this version",
            )
        frame.insert(0, "workload", workload)
        frame.insert(1, "platform", platform)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
