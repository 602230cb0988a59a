"""Join the tables of many fits, with the columns `workload,platform` in front.

The last two parts of a fit's folder are its workload and platform: `models/<workload>/<platform>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import MODELS_OF_PAIR, MODELS_OF_RUN
from tessera.core.results.table_io import UnreadableTable, read_texts, write_table
from tessera.core.results.tree import MODEL_TABLES, NOT_FITTED
from tessera.fit.fit_folder import TABLES


def collect_fits(folders: Iterable[str | Path]) -> dict[str, pd.DataFrame]:
    """{table: frame} over all folders, in their order; numbers keep their digits (as text).

    It joins the tables of fits, and the tables of protocols and adaptive orders if the folders have them. If
    no pair could be fitted, those that the folders have are joined without rows.

    Raises:
        TesseraError: no folders, a folder without these tables or with other columns, a folder
            whose path has no workload and platform, or two folders of the same pair.
    """
    found: dict[tuple[str, str], Path] = {}
    for folder in map(Path, folders):
        parts = folder.absolute().parts
        if len(parts) < 2 or parts[-2] == folder.anchor:
            raise TesseraError(f"fit {folder}", "its path does not end in <workload>/<platform>", _WHERE)
        pair = parts[-2], parts[-1]
        if pair in found:
            raise TesseraError(
                f"fit {folder}",
                f"{found[pair]} has the same workload and platform",
                "name each pair once",
                code="pair-twice",
            )
        found[pair] = folder
    if not found:
        raise TesseraError("collect fits", "no folder is given", _WHERE)
    tables = {name: _concatenate(name, found) for name in TABLES}
    # a pair that could not be fitted cannot be judged either
    judged = {pair: f for pair, f in found.items() if not (f / f"{NOT_FITTED}.txt").exists()}
    for name in MODEL_TABLES:
        if name not in TABLES and _has(name, judged or found):
            tables[name] = _concatenate(name, judged)
    return tables


def write_collected(tables: dict[str, pd.DataFrame], out: str | Path) -> None:
    """Write `<table>.csv` for each table into ``out``."""
    for name, frame in tables.items():
        write_table(MODELS_OF_RUN[name], frame, Path(out) / MODELS_OF_RUN[name].file)


_WHERE = "pass folders like models/<workload>/<platform>, each written by: tessera models fit"


def _has(name: str, folders: Mapping[tuple[str, str], Path]) -> bool:
    return any((folder / MODELS_OF_PAIR[name].file).is_file() for folder in folders.values())


def _concatenate(name: str, folders: dict[tuple[str, str], Path]) -> pd.DataFrame:
    frames = [pd.DataFrame(columns=list(MODELS_OF_RUN[name].names))]
    for (workload, platform), folder in folders.items():
        try:
            frame = read_texts(folder / MODELS_OF_PAIR[name].file, table=MODELS_OF_PAIR[name])
        except UnreadableTable as error:
            found = f"{name}.csv does not exist" if error.absent else f"{name}.csv: {error.found}"
            raise TesseraError(f"fit {folder}", found, _WHERE) from error
        frame.insert(0, "workload", workload)
        frame.insert(1, "platform", platform)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
