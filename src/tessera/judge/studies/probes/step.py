"""What the workflow's rule and the command call: all probes in one start of the simulator, one table."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.judge.studies.probes import index_cache, synonym_filter
from tessera.judge.studies.probes.case import Case, Counted
from tessera.judge.validation.synthetic.batch import Batch, batch
from tessera.mapping.states import Mapping
from tessera.platforms import Platform
from tessera.platforms.model import Value
from tessera.results.schema.designs import PROBES
from tessera.results.status import FAILED, OK
from tessera.results.write import frame_of, write

ENGINE = "partial"
ACCESSES = 1_000_000  #: as in 2.4.4


def probes_study(
    platform_name: str, out: Path, *, accesses: int = ACCESSES, seed: int = 1, progress: Callable[[str], None]
) -> pd.DataFrame:
    """Write :data:`PROBES`; a case that the simulator rejects is a ``failed`` row.

    Raises:
        TesseraError: the platform is unknown, or the toolchain does not start.
    """
    platform = platforms.load(platform_name)
    cases = [*index_cache.cases(accesses, seed), *synonym_filter.cases(accesses, seed)]
    traces: dict[int, Path] = {}
    with batch() as work:
        progress(f"{len(cases)} cases of {accesses} accesses")
        runs = []
        for number, case in enumerate(cases):
            if id(case.stream) not in traces:
                traces[id(case.stream)] = work.add_trace(case.stream)
            runs.append(_added(work, number, case, traces[id(case.stream)], platform))
        work.run()
        rows = [
            row
            for case, run in zip(cases, runs, strict=True)
            for row in _rows(case, accesses, platform, *_counted(work, *run))
        ]
    return write(PROBES, frame_of(PROBES, rows), out)


def _added(work: Batch, number: int, case: Case, trace: Path, platform: Platform) -> tuple[Path, Path]:
    """Files of the cell and of the structures, which exist after the run."""
    values = {key: Value(value, f"probe {case.probe}") for key, value in case.changes.items()}
    flat = work.add_platform(replace(platform, values=platform.values | values).flat())
    structures = work.folder / f"structures-{number}.csv"
    mapped = isinstance(case.place, Mapping)
    places = work.add_mappings([case.place]) if mapped else work.add_layouts([case.place])
    options = {"--designs-out": str(structures)}
    return work.add_run(trace, flat, places, ENGINE, options=options, mappings=mapped), structures


def _counted(work: Batch, cell: Path, structures: Path) -> tuple[Counted | None, str]:
    found = work.rows(cell)
    if found.error:
        return None, found.error
    row = next(iter(found.by_layout.values()))
    with structures.open(encoding="utf-8", newline="") as stream:
        parts = {
            part["structure"]: (int(part["accesses"]), int(part["hits"])) for part in csv.DictReader(stream)
        }
    return Counted(int(row["stlb_hits"]), int(row["stlb_misses"]), int(row["accesses"]), parts), ""


def _rows(case: Case, accesses: int, platform: Platform, counted: Counted | None, error: str) -> list[dict]:
    head = {
        "probe": case.probe, "case": case.name, "platform": platform.name, "accesses": accesses,
        "provenance": "simulated",
    }  # fmt: skip
    if counted is None:
        return [head | {"quantity": "", "status": FAILED, "message": error}]
    return [
        head | {"quantity": name, "value": value, "status": OK, "message": ""}
        for name, value in case.read(counted).items()
    ]
