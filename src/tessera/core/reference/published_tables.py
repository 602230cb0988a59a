"""Read the published tables, each checked as it is read, and pick numbers out of one by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.files import repo_root

# A table is a CSV of ``reference-results/`` with the columns :data:`COMMON_COLUMNS` around its own
# keys. ``value`` is numeric (NaN where only a name is printed); every key is text.

#: In front of the keys, and behind them.
LEADING_COLUMNS = ("paper", "location", "section")
TRAILING_COLUMNS = ("value", "unit", "provenance", "note")
COMMON_COLUMNS = LEADING_COLUMNS + TRAILING_COLUMNS


def default_dir() -> Path:
    """``reference-results/`` of this checkout."""
    return repo_root() / "reference-results"


def published_names(reference_dir: Path | str | None = None) -> list[str]:
    """Names of all tables, sorted."""
    return sorted(path.stem for path in _folder(reference_dir).glob("*.csv"))


def load_published(table: str, reference_dir: Path | str | None = None) -> pd.DataFrame:
    """One published table.

    Raises:
        TesseraError: no such table, or a file that breaks the column contract.
    """
    valid = published_names(reference_dir)
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


# Pick numbers out of a published table by the values of its keys.
#
# ``select_published`` returns rows, ``lookup`` exactly one number. A condition is a text, or a list of texts
# of which one must match.


def select_published(
    table: str, where: Mapping[str, object] | None = None, reference_dir: Path | str | None = None
) -> pd.DataFrame:
    """Rows of ``table`` that satisfy every condition of ``where``; at least one.

    Raises:
        TesseraError: an unknown key, or conditions that no row satisfies.
    """
    frame = load_published(table, reference_dir)
    rows = frame
    for key, wanted in (where or {}).items():
        if key not in frame.columns:
            raise TesseraError(
                f"key '{key}' of reference table '{table}'",
                "the table has no such column",
                f"use one of: {', '.join(frame.columns)}",
                code="no-column",
            )
        options = [str(item) for item in wanted] if isinstance(wanted, list) else [str(wanted)]
        rows = rows[rows[key].isin(options)]
    if rows.empty:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            "no row matches these conditions",
            f"read reference-results/{table}.csv and change the conditions",
            code="no-row",
        )
    return rows


def lookup(
    table: str, where: Mapping[str, object] | None = None, reference_dir: Path | str | None = None
) -> float:
    """The one number that ``where`` selects.

    Raises:
        TesseraError: no row, several rows, or a row without a number.
    """
    rows = select_published(table, where, reference_dir)
    if len(rows) != 1:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            f"{len(rows)} rows match, but exactly one must",
            "add conditions",
            code="several-rows",
        )
    value = float(rows["value"].iloc[0])
    if value != value:
        raise TesseraError(
            f"reference table '{table}' where {dict(where or {})}",
            "the column 'value' of this row is empty",
            "choose a row with a value",
            code="no-number",
        )
    return value


#: Our region of memory -> the one that Table 5 prints in its place: the largest that fits in the guest.
PRINTED_REGION = {"1GB": "4GB"}
