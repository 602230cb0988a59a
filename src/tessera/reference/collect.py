"""Fetch a record and extract its reference data: the two steps of ``tessera reference fetch``."""

from __future__ import annotations

import shutil
from pathlib import Path, PurePosixPath

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.progress import Show
from tessera.reference.archive import fetch, unpack
from tessera.reference.archive.unpack import is_archive
from tessera.reference.records import Record


def collect(record: Record, progress: Show, **pauses: float) -> dict:
    """Fetch, check, unpack; returns the record as kept (see :func:`tessera.reference.archive.fetch`).

    Raises:
        TesseraError: as fetching and unpacking, or a record whose archives hold no reference data.
    """
    kept = fetch(record, progress=progress, **pauses)
    if record.tables:
        take_out(record, [record.folder / name for name in kept["files"]])
    return kept


def take_out(record: Record, files: list[Path]) -> list[Path]:
    """Unpack the record's tables into its data folder, which is replaced as a whole."""
    fresh = record.data_folder.with_name("reference.new")
    shutil.rmtree(fresh, ignore_errors=True)
    wanted = {PurePosixPath(table.file) for table in record.tables}
    root = PurePosixPath(record.reference_folder).parts

    def choose(name: PurePosixPath) -> PurePosixPath | None:
        """``mitosis-1.0/evaluation/reference/figure6/x.csv`` -> ``figure6/x.csv``."""
        for start in range(len(name.parts) - len(root)):
            rest = PurePosixPath(*name.parts[start + len(root) :])
            if name.parts[start : start + len(root)] == root and rest in wanted:
                return rest
        return None

    written: list[Path] = []
    try:
        for file in filter(is_archive, files):
            written += unpack(file, fresh, choose)
    except TesseraError:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    if not written:
        raise TesseraError(
            f"reference data of record {record.name} ({record.doi})",
            f"none of its archives contains {record.reference_folder}/{record.tables[0].file}",
            f"compare the files in {record.folder} with reference-results/records.yaml and correct that list",
            exit_code=EXIT_FAILED,
        )
    shutil.rmtree(record.data_folder, ignore_errors=True)
    fresh.replace(record.data_folder)
    return written
