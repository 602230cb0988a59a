"""What the workflow's rules and the commands call: each study with failures turned into rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.judge.studies import ablations, layouts, points, sampling, sweep
from tessera.platforms import Platform
from tessera.platforms.keys import all_keys
from tessera.results.read import empty
from tessera.results.recordings import recorded
from tessera.results.schema.studies import INTERVALS, SAMPLING, SHAPES, SWEEP, VARIANTS
from tessera.results.status import is_ok
from tessera.results.write import write
from tessera.simulate.cache import CellCache
from tessera.simulate.plan import parse_sampling


@dataclass(frozen=True)
class Job:
    """Inputs: a window's info.json, its layouts' manifest.csv, the names wanted (none: all but 1gb)."""

    info: Path
    manifest: Path
    platform_name: str
    layout_names: Sequence[str]
    cache: Path
    out: Path
    progress: Callable[[str], None] = lambda line: None

    @property
    def workload(self) -> str:
        return recorded(self.info)[0]["workload"]

    @cached_property
    def platform(self) -> Platform:
        return platforms.load(self.platform_name)

    @property
    def files(self) -> list[Path]:
        """The layouts; TesseraError if there are none or a name is wrong."""
        return layouts.chosen(self.manifest, list(self.layout_names))

    @property
    def trace(self) -> Path:
        """The window's trace; TesseraError if its recording failed."""
        about, trace = recorded(self.info)
        if not is_ok(about):
            raise TesseraError(f"trace of {about['workload']}", "recording failed", about["message"])
        return trace


def sampling_study(job: Job, plans: Sequence[str], seed: int) -> pd.DataFrame:
    """Write ``job.out`` (errors.csv) and intervals.csv beside it."""
    intervals = empty(INTERVALS)
    try:
        request = sampling.SamplingRequest(
            job.workload, job.trace, job.platform, job.files, tuple(plans), seed, job.cache
        )
        errors, intervals = sampling.study(request, job.progress)
    except TesseraError as error:
        errors = sampling.failed(job.workload, job.platform.name, _sentence(error))
    write(INTERVALS, intervals, job.out.with_name(INTERVALS.file))
    return write(SAMPLING, errors, job.out)


def ablation_study(job: Job, plan: str, only: Sequence[str] = ()) -> pd.DataFrame:
    """Write ``job.out`` (shapes.csv) and cells.csv beside it; ``only``: names of ablations (none: all)."""
    table, cache = empty(VARIANTS), CellCache(job.cache)
    try:
        table = ablations.simulate_variants(
            job.workload, job.trace, job.platform, job.files, parse_sampling(plan), cache, job.progress,
            only,
        )  # fmt: skip
        shapes = ablations.shapes(table)
    except TesseraError as error:
        shapes = ablations.failed(job.workload, job.platform.name, _sentence(error))
    write(VARIANTS, table, job.out.with_name(VARIANTS.file))
    return write(SHAPES, shapes, job.out)


def sweep_study(job: Job, plan: str, jobs: int, only: Sequence[str] = ()) -> pd.DataFrame:
    """Write ``job.out`` (sweep.csv); ``jobs`` points at a time, of the keys that begin with ``only``."""
    try:
        request = sweep.SweepRequest(
            job.workload, job.trace, job.platform, job.files, parse_sampling(plan), CellCache(job.cache), jobs
        )
        chosen, reasons = points.points(job.platform, all_keys(), only)
        table = sweep.sweep(request, chosen, reasons, job.progress)
    except TesseraError as error:
        table = sweep.failed(job.workload, job.platform.name, _sentence(error))
    return write(SWEEP, table, job.out)


def _sentence(error: TesseraError) -> str:
    return f"{error.asked}: {error.found}; {error.remedy}"
