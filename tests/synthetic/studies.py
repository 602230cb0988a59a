"""Studies of a synthetic results tree: tables with the contract's columns, numbers made of formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.results import study_tables
from tessera.core.results.table_io import frame_of
from tessera.lab.studies import ablations, sampling
from tessera.lab.studies.designs import with_changes
from tessera.lab.studies.sampling import all_methods
from tessera.lab.studies.variations import ABLATIONS

from .tables import put

LAYOUTS = {"growing-0": 3.0, "growing-4": 2.0, "growing-8": 1.0, "sliding-40-4": 1.5}  #: cycles in phase 2
INTERVALS, LENGTH = 60, 1000


def write(root: Path, workloads=("gups", "graph500"), platform: str = "sandybridge-sim") -> None:
    """Write studies/ below ``root``, without transfer."""
    for workload in workloads:
        errors, intervals = _sampling(workload, platform)
        put(root, study_tables.SAMPLING, errors, workload)
        put(root, study_tables.INTERVALS, intervals, workload)
        cells = _cells(workload, platform)
        put(root, study_tables.VARIANTS, cells, workload, platform)
        put(root, study_tables.SHAPES, ablations.shapes(cells), workload, platform)
        for table, rows in _designs(workload):
            put(root, table, rows, workload, "park-haswell")
    probes = [
        {
            "probe": probe, "case": case, "platform": "park-haswell", "accesses": 9000, "quantity": quantity,
            "value": value, "status": "ok", "message": "", "provenance": "simulated",
        }
        for probe, case, quantity, value in PROBED
    ]  # fmt: skip
    failed = {"case": "1024 segments, full", "value": None, "status": "failed", "message": "PROBE-7"}
    put(root, study_tables.PROBES, [*probes, probes[0] | failed])
    put(root, study_tables.SWEEP, _sweep(workloads[0], platform), workloads[0], platform)


def _sampling(workload: str, platform: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two phases: the second is slower with more 4KB pages."""
    rows = [
        (
            layout,
            unit,
            unit * 300,
            LENGTH,
            300,
            int(10 * slow),
            int(LENGTH * (slow - 1)) * late,
            int(LENGTH * (slow if late else 1)),
        )
        for layout, slow in LAYOUTS.items()
        for unit in range(INTERVALS)
        for late in [unit >= INTERVALS // 3]
    ]
    columns = ["layout", "unit", "start_access", "instructions", "accesses"]
    full = pd.DataFrame(rows, columns=[*columns, "stlb_misses", "walk_cycles", "runtime_cycles"])
    truth = full.groupby("layout")[["runtime_cycles", "walk_cycles", "stlb_misses", "instructions"]].sum()
    vectors = np.eye(2)[np.repeat([0, 1], [INTERVALS // 3, INTERVALS - INTERVALS // 3])]
    chosen = all_methods(vectors, np.full(INTERVALS, LENGTH), 6, seed=1)
    found = [row for place in chosen for row in sampling.from_places(place, full, truth)]
    found += sampling.from_plan(full[full["unit"] % 10 == 5], truth, 2_500_000)
    about = {
        "workload": workload,
        "platform": platform,
        "status": "ok",
        "message": "",
        "provenance": "simulated",
    }
    about |= {"window_accesses": INTERVALS * 300, "window_instructions": INTERVALS * LENGTH}
    errors = pd.DataFrame([about | row for row in found], columns=list(study_tables.SAMPLING.names))
    intervals = full.rename(columns={"unit": "interval"}).assign(
        workload=workload, platform=platform, provenance="simulated", methods="systematic clustered"
    )
    return errors, intervals[list(study_tables.INTERVALS.names)]


def _cells(workload: str, platform: str) -> pd.DataFrame:
    """Slope and bend differ by variant."""
    forms = {"baseline": (1.5, 5e-10), "no-pollution": (0.9, 4e-10)}
    forms |= {"infinite-walkers": (0.8, 0.0), "no-overlap": (1.6, 0.0), "no-mispredictions": (0.7, 0.0)}
    rows = []
    for variant in ABLATIONS:
        slope, bend = forms.get(variant.name, forms["baseline"])
        for i in range(9):
            C = 1e9 * (8 - i) / 8
            rows.append(
                {
                    "variant": variant.name,
                    "workload": workload,
                    "platform": platform,
                    "layout": f"growing-{i}",
                    "repeat": 0,
                    "status": "ok",
                    "message": "",
                    "runtime_cycles": 1e10 + slope * C + bend * C * C,
                    "walk_cycles": C,
                    "stlb_misses": C / 50,
                    "stlb_hits": 1000 + i,
                    "program_l2_loads": 900,
                    "program_l3_loads": 900 - 10 * i * (variant.name == "baseline"),
                    "program_dram_loads": 100,
                    "engine": "timing",
                }
            )
    return pd.DataFrame(rows, columns=list(study_tables.VARIANTS.names))


def _sweep(workload: str, platform: str) -> pd.DataFrame:
    """One variation overturns one conclusion, one is refused, one value could not be varied."""
    head = {"workload": workload, "platform": platform, "provenance": "simulated", "message": ""}
    rows = []
    for key, alternative, slope in (
        ("baseline", "", 0.9),
        ("memory.load_cycles", "x2", 1.8),
        ("dram", "off", 0.8),
    ):
        for name, number, holds, was in (
            ("slope-above-1", slope, slope > 1, False),
            ("sensitive", 0.2, True, True),
        ):
            rows.append(
                head
                | {
                    "key": key,
                    "alternative": alternative,
                    "status": "ok",
                    "conclusion": name,
                    "number": number,
                    "holds": holds,
                    "baseline_number": 0.9 if name == "slope-above-1" else 0.2,
                    "baseline_holds": was,
                    "survives": holds == was,
                }
            )
    rows.append(
        head | {"key": "memory.load_cycles", "alternative": "x0.5", "status": "refused", "message": "too low"}
    )
    rows.append(head | {"key": "pwc.kind", "status": "skipped", "message": "no alternative is known"})
    return pd.DataFrame(rows, columns=list(study_tables.SWEEP.names))


#: design -> misses under the mappings low and max; None: rejected
MISSES = {"baseline": (1000, 1000), "thp": (1000, 100), "anchor": (800, 1), "hvc-many-segment": (None, 0)}
NESTED = {"baseline": 1000, "thp": 1000, "anchor": 810}  #: under max-over-low
PROBED = (
    ("index-cache", "2048 segments, full", "node_hits", 99.99),
    ("synonym-filter", "postgres", "tlb_access_reduction", 84.2),
)


def _designs(workload: str) -> list[tuple]:
    """Cells, structures and mappings of four designs under two mappings; one cell was rejected."""
    head = {"workload": workload, "platform": "park-haswell", "provenance": "simulated"}
    cells, structures, mappings = [], [], []
    under = [(design, dict(zip(("low", "max"), misses, strict=True))) for design, misses in MISSES.items()]
    under += [(design, {"max-over-low": count}) for design, count in NESTED.items()]
    for design, counts in under:
        for mapping, count in counts.items():
            row = head | {"design": design, "mapping": mapping}
            if count is None:
                cells.append(row | {"status": "refused", "message": "the mapping has 9999 chunks"})
                continue
            numbers = {"stlb_misses": count, "stlb_hits": 5, "walk_cycles": 50 * count, "accesses": 5000}
            numbers |= {"runtime_cycles": 9000 + 50 * count, "instructions": 20000, "energy_nj": 2e6}
            cells.append(row | {"status": "ok", "message": ""} | numbers)
            structures.append(row | {"structure": "made", "accesses": 4000, "hits": 1000})
    for mapping, chunks, distance in (("low", 600, 4), ("max", 1, 65536)):
        made = {"mapping": mapping, "seed": 1, "accesses": 5000, "touched_pages": 2000, "status": "ok"}
        made |= {"mapped_pages": 6000, "chunks": chunks, "pages_per_chunk": 6000 / chunks, "share_2mb": 0.0}
        made |= {"distance_count": distance, "cost_count": 1.0}
        mappings.append(head | made | {"distance_printed": 2 * distance, "cost_printed": 1.0})
    return [
        (study_tables.DESIGN_CELLS, with_changes(frame_of(study_tables.DESIGN_CELLS, cells))),
        (study_tables.DESIGN_STRUCTURES, frame_of(study_tables.DESIGN_STRUCTURES, structures)),
        (study_tables.DESIGN_MAPPINGS, frame_of(study_tables.DESIGN_MAPPINGS, mappings)),
    ]
