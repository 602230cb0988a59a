"""Write ``results/<config>/reference/``: archived numbers, those in quarantine and why, and the comparison.

``archived.csv`` (provenance ``published``), ``quarantine.csv``, ``rules.csv``, ``comparison.csv``, and
``status.csv``, which states for each record whether it is present. Without the records, the comparison still
has every printed number.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.reference import archived, records
from tessera.reference.comparison import compare
from tessera.reference.quarantine import split
from tessera.results.read import empty as empty_table
from tessera.results.schema.shown import REFERENCE
from tessera.results.tree import Tree
from tessera.results.write import frame_of, write

OFFLINE_NOTE = (
    "reference-results/ has what the papers print and is used alone; archived data: tessera reference fetch"
)


@dataclass(frozen=True)
class Published:
    """The output of :func:`publish`; ``notes`` has a sentence for each missing record."""

    archived: pd.DataFrame
    quarantine: pd.DataFrame
    rules: pd.DataFrame
    comparison: pd.DataFrame
    notes: tuple[str, ...]


def publish(results: Path, source: Path | None = None) -> Published:
    """Read the records that are here (or ``source``, a folder in their form) and write the tables.

    Args:
        results: ``results/<config>``; must exist.
        source: folder with ``figure6/figure6_absolute.csv`` and so on, used instead of a fetched record.

    Raises:
        TesseraError: no such folder, or data that break their layout.
    """
    if not results.is_dir():
        raise TesseraError(
            f"results {results}", "the folder does not exist", "give a folder such as results/default"
        )
    if source is not None and not source.is_dir():
        raise TesseraError(
            f"reference data {source}", "the folder does not exist", "give the unpacked reference folder"
        )
    good, every, aside, rules, status, notes = [], [], [], [], [], []
    for record in (records.load(name) for name in records.names()):
        if not record.tables:
            continue
        folder = source or record.data_folder
        here = folder.is_dir()
        status.append([record.name, record.doi, "read" if here else "not here", "" if here else OFFLINE_NOTE])
        if not here:
            notes.append(f"{record.name} ({record.doi}) is not here: {OFFLINE_NOTE}")
            continue
        rows = archived.read_archived(record, folder)
        kept, gone, found = split(rows, record)
        good.append(kept)
        every.append(rows)
        aside.append(gone)
        rules.append(found.assign(record=record.name))
    empty = pd.DataFrame(columns=list(archived.COLUMNS))
    done = Published(
        archived=_stack(good, empty),
        quarantine=_stack(aside, empty.assign(rule="", reason="")),
        rules=_stack(rules, empty_table(REFERENCE["rules"])),
        comparison=compare(_stack(good, empty), _stack(every, empty), results),
        notes=tuple(notes),
    )
    _write(Tree(results), done, frame_of(REFERENCE["status"], status))
    return done


def _stack(parts: list[pd.DataFrame], empty: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(parts, ignore_index=True) if parts else empty


def _write(tree: Tree, done: Published, status: pd.DataFrame) -> None:
    for name, table in REFERENCE.items():
        write(table, status if name == "status" else getattr(done, name), tree.reference(name))
