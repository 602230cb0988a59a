"""The study of transfer in a results tree: two models of P in a world whose truth is known."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.judge.studies.transfer import step, study
from tessera.results.schema import transfer as schema
from tessera.results.tree import Tree
from tessera.results.write import frame_of
from tessera.results.write import write as write_table
from tests.studies.transfer import world

VARIANTS = ("noop", "thp", "stlb-x2", "walkers-x2", "delayed-tlb", "many-segment")
MODELS = ("basu", "poly1", "mosmodel")


def tables(models=MODELS) -> dict:
    """Table of a run by its name."""
    with pytest.MonkeyPatch.context() as patch:
        rows = study.tables(world.request_of(patch, VARIANTS, ladders=True, models=models))
    pair = {"workload": "made", "platform": "haswell-sim", "provenance": "simulated"}
    found = {table.name: frame_of(table, [pair | row for row in rows[table.name]]) for table in schema.PARTS}
    return found | step.judge(found)


def write(root: Path, made: dict | None = None) -> None:
    """Write studies/transfer below ``root``."""
    made = tables(("basu", "poly1")) if made is None else made
    for table in schema.OF_RUN:
        write_table(table, made[table.name], table.place(Tree(root)))
