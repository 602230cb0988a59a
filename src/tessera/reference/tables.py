"""Read the published tables; each file is checked as it is read.

A table is a CSV of ``reference-results/`` with the columns :data:`COMMON_COLUMNS` around its own
keys. ``value`` is numeric (NaN where only a name is printed); every key is text.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.paths import repo_root

#: In front of the keys, and behind them.
LEADING_COLUMNS = ("paper", "location", "section")
TRAILING_COLUMNS = ("value", "unit", "provenance", "note")
COMMON_COLUMNS = LEADING_COLUMNS + TRAILING_COLUMNS


def default_dir() -> Path:
    """``reference-results/`` of this checkout."""
    return repo_root() / "reference-results"


def names(reference_dir: Path | str | None = None) -> list[str]:
    """Names of all tables, sorted."""
    return sorted(path.stem for path in _folder(reference_dir).glob("*.csv"))


def load(table: str, reference_dir: Path | str | None = None) -> pd.DataFrame:
    """One published table.

    Raises:
        TesseraError: no such table, or a file that breaks the column contract.
    """
    valid = names(reference_dir)
    if table not in valid:
        raise unknown_name("reference table", table, valid)
    path = _folder(reference_dir) / f"{table}.csv"
    stamp = path.stat()
    return _checked(path, stamp.st_mtime_ns, stamp.st_size).copy()


@lru_cache(maxsize=64)
def _checked(path: Path, modified_ns: int, size: int) -> pd.DataFrame:
    """The parsed table; read again when the file changes (claims look up hundreds of numbers)."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COMMON_COLUMNS if name not in frame.columns]
    if missing:
        raise TesseraError(
            f"reference table {path}",
            f"columns missing: {', '.join(missing)}",
            "see reference-results/README.md for the columns of every table",
        )
    foreign = sorted(set(frame["provenance"]) - {"published"})
    if foreign:
        raise TesseraError(
            f"reference table {path}",
            f"provenance {', '.join(map(repr, foreign))}; every row must be 'published'",
            "keep your own results under results/",
        )
    frame["value"] = _numbers(frame["value"], path)
    return frame


def _numbers(column: pd.Series, path: Path) -> pd.Series:
    try:
        return pd.to_numeric(column.replace("", None)).astype(float)
    except (ValueError, TypeError) as error:
        raise TesseraError(
            f"reference table {path}, column 'value'",
            f"{error}; a value must be a number or empty",
            "move text to a key column or to the column 'note'",
        ) from None


def _folder(reference_dir: Path | str | None) -> Path:
    folder = Path(reference_dir) if reference_dir is not None else default_dir()
    if not folder.is_dir():
        raise TesseraError(
            f"reference results {folder}",
            "the folder does not exist",
            "give the folder reference-results/",
            code="no-folder",
        )
    return folder
