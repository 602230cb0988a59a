"""Cells of the study: designs under mappings, in full, with the engine ``timing``.

A design that the simulator rejects for a mapping (for example more than 2,048 segments) gives a row with the
status ``refused`` and the reason; the others continue. A row of another failure has the status ``failed``,
and the next run tries the study again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.judge.studies.designs import energy
from tessera.judge.studies.designs.catalogue import BASELINE, HIDDEN_SECOND_LEVEL, SECOND_LEVEL, THP, named
from tessera.platforms import Platform
from tessera.platforms.model import Value
from tessera.results.schema.designs import DESIGN_CELLS, DESIGN_STRUCTURES
from tessera.results.status import FAILED, is_ok
from tessera.results.write import frame_of
from tessera.simulate.cache import CellCache
from tessera.simulate.inputs import MAPPING
from tessera.simulate.plan import FULL
from tessera.simulate.runner import simulate

ENGINE = "timing"
REFUSED = "refused"
#: Status of the process, if the simulator rejects its input.
_WRONG_REQUEST = 2
_COUNTS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles", "instructions", "accesses")
#: column of a change -> (the count, the design that it is compared with)
CHANGES = {
    "misses_to_baseline_percent": ("stlb_misses", BASELINE),
    "runtime_to_baseline_percent": ("runtime_cycles", BASELINE),
    "misses_to_thp_percent": ("stlb_misses", THP),
    "runtime_to_thp_percent": ("runtime_cycles", THP),
}
KEYS = ["workload", "platform", "mapping"]


@dataclass(frozen=True)
class Request:
    """What is simulated; ``files``: mapping -> its file."""

    workload: str
    trace: Path
    platform: Platform
    files: dict[str, Path]
    cache: CellCache
    threads: int = 1
    progress: Callable[[str], None] = lambda line: None


def simulate_designs(
    request: Request, wanted: Mapping[str, Sequence[str]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables :data:`DESIGN_CELLS` (with changes) and :data:`DESIGN_STRUCTURES`.

    Args:
        wanted: design -> its mappings; those without a file are left out.
    """
    cells: list[dict] = []
    structures: list[dict] = []
    for number, (design, mappings) in enumerate(wanted.items(), 1):
        request.progress(f"{design} ({number} of {len(wanted)})")
        for row, parts in _of_design(request, design, [name for name in mappings if name in request.files]):
            cells.append(row)
            structures += parts
    if not any(is_ok(row) for row in cells):  # the trace or the platform is at fault, not a design
        cells = [row | {"status": FAILED} for row in cells]
    return with_changes(frame_of(DESIGN_CELLS, cells)), frame_of(DESIGN_STRUCTURES, structures)


def with_changes(cells: pd.DataFrame) -> pd.DataFrame:
    """The columns of :data:`CHANGES`, in percent; empty if a count is missing or its base is 0."""
    cells = cells.copy()
    for column, (count, design) in CHANGES.items():
        base = cells[cells["design"] == design].set_index(KEYS)[count].rename("base").astype(float)
        joined = cells[[*KEYS, count]].join(base[base > 0], on=KEYS)
        cells[column] = 100 * (joined[count].astype(float) / joined["base"] - 1)
    return cells


def failed_cell(workload: str, platform: str, message: str) -> dict:
    """One row that says why there is no study."""
    return {
        "workload": workload, "platform": platform, "status": FAILED, "message": message,
        "provenance": "simulated",
    }  # fmt: skip


def _of_design(request: Request, design: str, mappings: list[str]) -> list[tuple[dict, list[dict]]]:
    """(cell, its structures) for each mapping. One process for all, or one for each if that one ends."""
    if not mappings:
        return []
    platform = _with_design(request.platform, design)
    try:
        return _simulated(request, design, platform, mappings)
    except TesseraError as error:
        whole = error
    if len(mappings) < 2:
        return [(_stopped(request, design, mapping, whole), []) for mapping in mappings]
    found = []
    for mapping in mappings:
        try:
            found += _simulated(request, design, platform, [mapping])
        except TesseraError as error:
            found.append((_stopped(request, design, mapping, error), []))
    return found


def _with_design(platform: Platform, name: str) -> Platform:
    """The platform with a design or variant; the simulator checks the values."""
    why = f"study of designs: {name}"
    values = {key: Value(value, why) for key, value in named(name).values.items()}
    return replace(platform, values=platform.values | values)


def _simulated(request: Request, design: str, platform: Platform, mappings: list[str]) -> list:
    parts: list[dict] = []
    rows = simulate(
        request.trace, platform, [request.files[mapping] for mapping in mappings],
        workload=request.workload, engine=ENGINE, sampling=FULL, cache=request.cache,
        progress=request.progress, threads=request.threads, structures=parts, kind=MAPPING,
    )  # fmt: skip
    by_mapping: dict[str, list[dict]] = {mapping: [] for mapping in mappings}
    for part in parts:
        by_mapping[part["layout"]].append(part)
    return [_counted(request, design, platform, row, by_mapping[row["layout"]]) for row in rows]


def _counted(request: Request, design: str, platform: Platform, row: dict, parts: list[dict]):
    head = _head(request, design, row["layout"])
    if not is_ok(row):  # the simulator read its own mapping file and rejected it for this design
        return head | {"status": REFUSED, "message": row["message"]}, []
    cell = head | {"status": row["status"], "message": row["message"]} | {n: row[n] for n in _COUNTS}
    if design in HIDDEN_SECOND_LEVEL:
        hits = row["stlb_hits"]
        parts = [
            {"structure": SECOND_LEVEL, "accesses": hits + row["stlb_misses"], "hits": hits},
            *parts,
        ]
    accesses = {part["structure"]: part["accesses"] for part in parts}
    cell["energy_nj"] = energy.energy_nj(design, accesses, row["runtime_cycles"], platform)
    structures = [
        {name: part.get(name) for name in DESIGN_STRUCTURES.names}
        | head
        | {"read_energy_nj": energy.read_energy_nj(design, part["structure"], part["accesses"], platform)}
        for part in parts
    ]
    return cell, structures


def _stopped(request: Request, design: str, mapping: str, error: TesseraError) -> dict:
    status = REFUSED if error.exit_code == _WRONG_REQUEST else FAILED
    message = f"{error.asked}: {error.found}; {error.remedy}"
    return _head(request, design, mapping) | {"status": status, "message": " ".join(message.split())}


def _head(request: Request, design: str, mapping: str) -> dict:
    return {
        "workload": request.workload, "platform": request.platform.name, "design": design,
        "mapping": mapping, "provenance": "simulated",
    }  # fmt: skip
