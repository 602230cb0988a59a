"""The study of transfer in a results tree: two models of P in a world whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.results import transfer_tables
from tessera.core.results.table_io import frame_of
from tessera.lab.transfer import study
from tests.studies.transfer import world

from .tables import put

VARIANTS = ("noop", "thp", "stlb-x2", "walkers-x2", "delayed-tlb", "many-segment")
MODELS = ("basu", "poly1", "mosmodel")


def tables(models=MODELS) -> dict:
    """Table of a run by its name."""
    with pytest.MonkeyPatch.context() as patch:
        rows = study.study_tables(world.subject_of(patch, VARIANTS, ladders=True, models=models))
    pair = {"workload": "made", "platform": "haswell-sim", "provenance": "simulated"}
    found = {
        table.name: frame_of(table, [pair | row for row in rows[table.name]])
        for table in transfer_tables.PARTS
    }
    return found | study.judge_run(found)


def write(root: Path, made: dict | None = None) -> None:
    """Write studies/transfer below ``root``."""
    made = tables(("basu", "poly1")) if made is None else made
    for table in transfer_tables.OF_RUN:
        put(root, table, made[table.name])
