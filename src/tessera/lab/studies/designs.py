"""The study of designs: each translation design under each mapping of one window (docs/studies.md)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform, Value
from tessera.core.results.outcomes import FAILED, TRACE_NAME, is_ok
from tessera.core.results.study_tables import DESIGN_CELLS, DESIGN_MAPPINGS, DESIGN_STRUCTURES
from tessera.core.results.table_io import empty_table, frame_of, write_table
from tessera.lab.studies import design_catalogue, placements
from tessera.lab.studies.design_catalogue import (
    BASELINE_DESIGN,
    HIDDEN_SECOND_LEVEL,
    SECOND_LEVEL,
    THP,
    named_design,
)
from tessera.lab.studies.failures import failed_rows, one_line
from tessera.lab.studies.windows import GivenTrace, middle
from tessera.record import traces
from tessera.simulate.inputs import MAPPING
from tessera.simulate.runner import CellCache, simulate
from tessera.simulate.sampling import FULL

# Cells of the study: designs under mappings, in full, with the engine ``timing``.
#
# A design that the simulator rejects for a mapping (for example more than 2,048 segments) gives a row with
# the status ``refused`` and the reason; the others continue. A row of another failure has the status
# ``failed``, and the next run tries the study again.

ENGINE = "timing"
REFUSED = "refused"
#: Status of the process, if the simulator rejects its input.
_WRONG_REQUEST = 2
_COUNTS = ("runtime_cycles", "stlb_hits", "stlb_misses", "walk_cycles", "instructions", "accesses")
#: column of a change -> (the count, the design that it is compared with)
CHANGES = {
    "misses_to_baseline_percent": ("stlb_misses", BASELINE_DESIGN),
    "runtime_to_baseline_percent": ("runtime_cycles", BASELINE_DESIGN),
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
    values = {key: Value(value, why) for key, value in named_design(name).values.items()}
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
    cell["energy_nj"] = design_catalogue.energy_nj(design, accesses, row["runtime_cycles"], platform)
    structures = [
        {name: part.get(name) for name in DESIGN_STRUCTURES.names}
        | head
        | {
            "read_energy_nj": design_catalogue.read_energy_nj(
                design, part["structure"], part["accesses"], platform
            )
        }
        for part in parts
    ]
    return cell, structures


def _stopped(request: Request, design: str, mapping: str, error: TesseraError) -> dict:
    status = REFUSED if error.exit_code == _WRONG_REQUEST else FAILED
    return _head(request, design, mapping) | {"status": status, "message": one_line(error)}


def _head(request: Request, design: str, mapping: str) -> dict:
    return {
        "workload": request.workload, "platform": request.platform.name, "design": design,
        "mapping": mapping, "provenance": "simulated",
    }  # fmt: skip


# What the workflow's rule and the command call: the three tables of the study, failures as rows.


@dataclass(frozen=True)
class Job(GivenTrace):
    """Inputs of the study.

    Attributes:
        trace: a trace, or the info.json of a recording.
        also: further designs, each with its own mappings.
        window_accesses: None: the whole trace.
        out: folder of the three tables.
    """

    trace: Path
    platform_name: str
    designs: Sequence[str]
    mappings: Sequence[str]
    cache: Path
    out: Path
    window_accesses: int | None = None
    also: Sequence[tuple[Sequence[str], Sequence[str]]] = ()
    seed: int = 1
    threads: int = 1
    progress: Callable[[str], None] = lambda line: None

    @property
    def wanted(self) -> dict[str, list[str]]:
        """Design -> its mappings, each once, in the order of the request."""
        found: dict[str, list[str]] = {}
        for designs, mappings in ((self.designs, self.mappings), *self.also):
            for design in designs:
                known = found.setdefault(design, [])
                known += [name for name in dict.fromkeys(mappings) if name not in known]
        return found

    @property
    def all_mappings(self) -> list[str]:
        """The mappings of all designs, each once."""
        return list(dict.fromkeys(name for names in self.wanted.values() for name in names))


def designs_study(job: Job) -> pd.DataFrame:
    """Write cells, structures and mappings into ``job.out``; returns the cells.

    Raises:
        TesseraError: the platform or a kind of mapping is unknown, or ``job.trace`` is no trace and no
            recording.
    """
    if job.info is None:
        traces.info(job.trace)
    platform = platforms.load(job.platform_name)
    placements.check_kinds(job.all_mappings)
    mappings, structures = empty_table(DESIGN_MAPPINGS), empty_table(DESIGN_STRUCTURES)
    try:
        cells, structures, mappings = _study(job, platform)
    except TesseraError as error:
        head = {"workload": job.workload, "platform": platform.name, "provenance": "simulated"}
        cells = failed_rows(DESIGN_CELLS, head, one_line(error))
    write_table(DESIGN_STRUCTURES, structures, job.out / DESIGN_STRUCTURES.file)
    write_table(DESIGN_MAPPINGS, mappings, job.out / DESIGN_MAPPINGS.file)
    return write_table(DESIGN_CELLS, cells, job.out / DESIGN_CELLS.file)


def _study(job: Job, platform: Platform) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    with tempfile.TemporaryDirectory(prefix="tessera-designs-") as name, _window(job, Path(name)) as trace:
        made = placements.make_mappings(trace, job.all_mappings, job.seed, Path(name), job.progress)
        pair = {"workload": job.workload, "platform": platform.name}
        mappings = frame_of(DESIGN_MAPPINGS, [pair | row for row in made.rows])
        cache = CellCache(job.cache)
        request = Request(job.workload, trace, platform, made.files, cache, job.threads, job.progress)
        return *simulate_designs(request, job.wanted), mappings


@contextmanager
def _window(job: Job, folder: Path) -> Iterator[Path]:
    """The trace, or a part from its middle."""
    trace = job.recording
    available = traces.info(trace)["accesses"]
    if job.window_accesses is None or job.window_accesses >= available:
        yield trace
        return
    target = folder / TRACE_NAME
    start = middle(available, job.window_accesses)
    traces.cut(trace, target, start_access=start, accesses=job.window_accesses)
    yield target
