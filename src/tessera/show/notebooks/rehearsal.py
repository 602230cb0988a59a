"""The archive's rehearsal, counted again: the same machine, layouts and runs, with counts of other cells.

Notebook 07 reads this bundle. It shows a measurement where there is none: each count is that of an archived
cell, and R and C have noise, drawn for each run. Bundle and notebook say so. A fake machine of the tests made
its heads (``tests/notebooks/fake_machine.py``).
"""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd

from tessera.bundles import merge, names, shapes, store, writer
from tessera.bundles.checks.conditions import with_runs
from tessera.bundles.model import REGION, Bundle, Count, Run
from tessera.bundles.reader import parse, read
from tessera.bundles.sealing import sealed
from tessera.core.errors import TesseraError
from tessera.results.tree import Tree

NOISE = 0.001  #: standard deviation of R and C between runs, of their value
CYCLES_PER_NS = 2
_INPUTS = {"H": "stlb_hits", "M": "stlb_misses", "C": "walk_cycles"}


def renew(archive: Path, template: Path, cells: pd.DataFrame) -> list[Path]:
    """Count every rehearsal again; bundles of real machines stay as they are.

    Args:
        archive: the folder that gets them. If it has no bundle, those of ``template`` are counted again.
        cells: the archived cells.

    Returns:
        The folders of the rehearsals in ``archive``.

    Raises:
        TesseraError: as :func:`recounted`.
    """
    made = []
    for folder in Tree(archive).machines.bundles() or Tree(template).machines.bundles():
        bundle = read(folder)
        if not bundle.about.rehearsal:
            continue
        files = recounted(bundle, cells)
        target = Tree(archive).machines.bundle(store.identity(parse(str(folder), files)))
        if folder.is_relative_to(archive):
            shutil.rmtree(folder)
        merge.write(files, target)
        made.append(target)
    return made


def recounted(bundle: Bundle, cells: pd.DataFrame) -> dict[str, bytes]:
    """The files of the sealed bundle whose runs count ``cells``: those of platform ``<class>-sim``.

    Raises:
        TesseraError: a layout of the bundle has no cell with numbers, or an event has no number in a cell.
    """
    platform = f"{bundle.about.class_name}-sim"
    mine = cells[(cells["platform"] == platform) & cells["runtime_cycles"].notna()]
    table = mine.drop_duplicates(["workload", "layout"]).set_index(["workload", "layout"])
    runs, counts = [], []
    for run in bundle.runs:
        if (run.workload, run.layout) not in table.index:
            raise _impossible(bundle, f"no cell of {run.workload}, {platform}, {run.layout} has numbers")
        numbers = _numbers(table.loc[(run.workload, run.layout)], random.Random(f"run {run.run}"))
        runs.append(replace(run, roi_ns=numbers["R time"]))
        counts += _counts(bundle, run, numbers)
    texts = writer.heads(
        bundle.about, bundle.machine, bundle.environment, bundle.events, bundle.workloads, bundle.layouts
    )
    texts[names.RUNS] = shapes.text(shapes.RUNS, runs)
    texts[names.COUNTS] = shapes.text(shapes.COUNTS, counts)
    files = {name: text.encode() for name, text in texts.items()}
    conditions = with_runs(parse(bundle.name, files), bundle.environment)
    files[names.ENVIRONMENT] = writer.environment_text(conditions).encode()
    return sealed(bundle.name, files)


def _counts(bundle: Bundle, run: Run, numbers: dict[str, int]) -> list[Count]:
    """A row for each event of the run's pass, then the clock. Every event counts all of the time."""
    time = numbers["R time"]
    found = []
    for event in bundle.passes()[run.pass_name]:
        if event.role not in numbers:
            raise _impossible(bundle, f"no cell has a number for its event {event.role}")
        found.append(Count(run.run, event.name, numbers[event.role], time, time))
    return [*found, Count(run.run, REGION, time, 0, 0)]


def _numbers(cell: pd.Series, rng: random.Random) -> dict[str, int]:
    """Quantity -> count of a run. Stores are a quarter of H, M and C; a walk overlaps half of another one."""
    factor = rng.gauss(1, NOISE)
    cycles = round(cell["runtime_cycles"] * factor)
    found = {"R cycles": cycles, "R reference cycles": cycles, "R time": round(cycles / CYCLES_PER_NS)}
    found |= {"instructions": round(cell["instructions"]), "page faults": 0, "context switches": 0}
    found["migrations"] = 0
    for symbol, column in _INPUTS.items():
        whole = round(cell[column] * (factor if symbol == "C" else 1))
        for side, part in (("loads", whole - whole // 4), ("stores", whole // 4), ("any", whole)):
            found[f"{symbol} {side}"] = part
            if symbol == "C":
                found[f"C active {side}"] = min(part, cycles) // 2
    return found


def _impossible(bundle: Bundle, found: str) -> TesseraError:
    return TesseraError(
        f"rehearsal {bundle.name}", found,
        "archive a run with its workload, platform and layouts; or remove the bundle and make another one:"
        " tests/notebooks/fake_machine.py",
        code="rehearsal",
    )  # fmt: skip
