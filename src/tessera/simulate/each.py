"""``--each KEY=V1,V2,...``: the variants of a platform that one command simulates together."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import writing
from tessera.platforms.change import parse
from tessera.results import cells
from tessera.results.schema.cells import CELLS
from tessera.results.write import frame_of, with_whole_counts

OPTION = "--each"


@dataclass(frozen=True)
class Variant:
    """One choice of values for the keys of ``--each``, in the order of the command line."""

    values: Mapping[str, int | str]

    def texts(self) -> list[str]:
        """``key=value`` of each, as ``--set`` has them."""
        return [f"{key}={value}" for key, value in self.values.items()]


def variants_of(texts: Iterable[str], fixed: Mapping[str, int | str]) -> list[Variant]:
    """All combinations of the values that the options give; the first option changes slowest.

    Args:
        texts: ``KEY=V1,V2,...`` of each option.
        fixed: what ``--set`` changes.

    Raises:
        TesseraError: an option without a key or value, a value given twice, or a key that another option has.
    """
    choices: dict[str, list[int | str]] = {}
    for text in texts:
        key, _, values = text.partition("=")
        if key in choices or key in fixed:
            other = OPTION if key in choices else "--set"
            raise TesseraError(f"{OPTION} {text}", f"{other} has the key {key}, too", "keep one of them")
        choices[key] = [parse([f"{key}={value}"], OPTION)[key] for value in values.split(",")]
        if len(set(choices[key])) < len(choices[key]):
            raise TesseraError(f"{OPTION} {text}", "a value is given twice", "give each value once")
    return [Variant(dict(zip(choices, row, strict=True))) for row in itertools.product(*choices.values())]


def table_of(rows: list[dict], keys: list[str]) -> pd.DataFrame:
    """The cells table with a column for each of ``keys``, which rows have, behind the column ``platform``."""
    table = frame_of(CELLS, rows)
    at = list(table.columns).index("platform") + 1
    for i, key in enumerate(keys):
        table.insert(at + i, key, [row[key] for row in rows])
    return table


def write_table(rows: list[dict], keys: list[str], path: Path) -> None:
    """Write :func:`table_of`, CSV or Parquet by the suffix of ``path``.

    Raises:
        TesseraError: the file can't be written.
    """
    table = with_whole_counts(CELLS, table_of(rows, keys))
    if cells.check_format(path) == ".csv":
        with writing(path) as stream:
            table.to_csv(stream, index=False, lineterminator="\n", float_format=CELLS.float_format)
        return
    with writing(path, "wb") as stream:
        table.to_parquet(stream, index=False)
