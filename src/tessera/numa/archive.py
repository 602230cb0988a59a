"""The archived measurements of Mitosis: all numbers, those that can be used, and those in quarantine.

They come from the fetched record, or from a folder with the same files. They are not part of the repository.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.reference import archived, records
from tessera.reference.quarantine import split

RECORD = "mitosis"
_PAGE = {"4KB": "", "2MB": "T"}


@dataclass(frozen=True)
class Archive:
    """Rows of :data:`tessera.reference.archived.COLUMNS`: all, those to use, those in quarantine."""

    every: pd.DataFrame
    good: pd.DataFrame
    aside: pd.DataFrame


def read(folder: Path | None = None) -> Archive:
    """The archive in ``folder``, or the fetched record.

    Raises:
        TesseraError: it is not here, a file is missing, or a file has another layout.
    """
    record = records.load(RECORD)
    place = folder or record.data_folder
    if not place.is_dir():
        raise TesseraError(
            f"archived data of Mitosis ({record.doi}) in {place}",
            "the folder does not exist" if folder else "the record was not fetched",
            f"run ./run tessera reference fetch {RECORD}, or give --from FOLDER with {record.tables[0].file}",
            exit_code=EXIT_FAILED,
            code="numa-no-archive",
        )
    every = archived.read_archived(record, place)
    good, aside, _ = split(every, record)
    return Archive(every, good, aside)


def cycles_of(rows: pd.DataFrame, figure: str, quantity: str, page_size: str) -> pd.DataFrame:
    """Cycles of one figure, a row for each workload and a column for each configuration.

    Args:
        figure: location, for example ``Figure 6``.
        quantity: ``runtime`` or ``walk``.
        page_size: ``4KB`` or ``2MB``; names of 2MB configurations lose their leading T.

    Returns:
        Workloads in the order of the file. Values that are not among ``rows`` are NaN.
    """
    chosen = rows[
        (rows["location"] == figure) & (rows["quantity"] == quantity) & (rows["page_size"] == page_size)
    ]
    wide = chosen.pivot(index="workload", columns="configuration", values="value")
    wide.columns = [str(name).removeprefix(_PAGE[page_size]) for name in wide.columns]
    return wide.reindex(chosen["workload"].drop_duplicates())


def column(wide: pd.DataFrame, configuration: str) -> pd.Series:
    """One configuration of :func:`cycles_of`; all NaN if no row has it."""
    return wide[configuration] if configuration in wide else pd.Series(float("nan"), index=wide.index)
