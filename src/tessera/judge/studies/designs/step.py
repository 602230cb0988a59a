"""What the workflow's rule and the command call: the three tables of the study, failures as rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.judge.studies.designs import mapped
from tessera.judge.studies.designs.cells import Request, failed_cell, simulate_designs
from tessera.judge.studies.given import GivenTrace
from tessera.judge.studies.window import middle
from tessera.platforms import Platform
from tessera.record import traces
from tessera.results.read import empty
from tessera.results.recordings import TRACE_NAME
from tessera.results.schema.designs import DESIGN_CELLS, DESIGN_MAPPINGS, DESIGN_STRUCTURES
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache


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
    mapped.check_kinds(job.all_mappings)
    mappings, structures = empty(DESIGN_MAPPINGS), empty(DESIGN_STRUCTURES)
    try:
        cells, structures, mappings = _study(job, platform)
    except TesseraError as error:
        message = " ".join(f"{error.asked}: {error.found}; {error.remedy}".split())
        cells = frame_of(DESIGN_CELLS, [failed_cell(job.workload, platform.name, message)])
    write(DESIGN_STRUCTURES, structures, job.out / DESIGN_STRUCTURES.file)
    write(DESIGN_MAPPINGS, mappings, job.out / DESIGN_MAPPINGS.file)
    return write(DESIGN_CELLS, cells, job.out / DESIGN_CELLS.file)


def _study(job: Job, platform: Platform) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    with tempfile.TemporaryDirectory(prefix="tessera-designs-") as name, _window(job, Path(name)) as trace:
        made = mapped.make(trace, job.all_mappings, job.seed, Path(name), job.progress)
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
