"""What the workflow's rules and the commands call: each study with failures turned into rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.platforms import Platform, all_keys
from tessera.core.results.outcomes import recorded
from tessera.core.results.study_tables import INTERVALS, SAMPLING, SHAPES, SWEEP, VARIANTS
from tessera.core.results.table_io import empty_table, write_table
from tessera.lab.studies import ablations, placements, sampling, sweep, variations
from tessera.lab.studies.failures import failed_rows
from tessera.lab.studies.windows import recording_of
from tessera.simulate.runner import CellCache
from tessera.simulate.sampling import parse_sampling


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
        return placements.chosen_layouts(self.manifest, list(self.layout_names))

    @property
    def trace(self) -> Path:
        """The window's trace; TesseraError if its recording failed."""
        return recording_of(self.info)

    @property
    def pair(self) -> dict[str, str]:
        """The columns that all rows share."""
        return {"workload": self.workload, "platform": self.platform.name}


def sampling_study(job: Job, plans: Sequence[str], seed: int) -> pd.DataFrame:
    """Write ``job.out`` (errors.csv) and intervals.csv beside it."""
    intervals = empty_table(INTERVALS)
    try:
        request = sampling.SamplingRequest(
            job.workload, job.trace, job.platform, job.files, tuple(plans), seed, job.cache
        )
        errors, intervals = sampling.study(request, job.progress)
    except TesseraError as error:
        errors = failed_rows(SAMPLING, job.pair, error.sentence)
    write_table(INTERVALS, intervals, job.out.with_name(INTERVALS.file))
    return write_table(SAMPLING, errors, job.out)


def ablation_study(job: Job, plan: str, only: Sequence[str] = ()) -> pd.DataFrame:
    """Write ``job.out`` (shapes.csv) and cells.csv beside it; ``only``: names of ablations (none: all)."""
    table, cache = empty_table(VARIANTS), CellCache(job.cache)
    try:
        table = ablations.simulate_variants(
            job.workload, job.trace, job.platform, job.files, parse_sampling(plan), cache, job.progress,
            only,
        )  # fmt: skip
        shapes = ablations.shapes(table)
    except TesseraError as error:
        shapes = failed_rows(SHAPES, job.pair | {"variant": variations.BASELINE}, error.sentence)
    write_table(VARIANTS, table, job.out.with_name(VARIANTS.file))
    return write_table(SHAPES, shapes, job.out)


def sweep_study(job: Job, plan: str, jobs: int, only: Sequence[str] = ()) -> pd.DataFrame:
    """Write ``job.out`` (sweep.csv); ``jobs`` points at a time, of the keys that begin with ``only``."""
    try:
        request = sweep.SweepRequest(
            job.workload, job.trace, job.platform, job.files, parse_sampling(plan), CellCache(job.cache), jobs
        )
        chosen, reasons = variations.points(job.platform, all_keys(), only)
        table = sweep.sweep(request, chosen, reasons, job.progress)
    except TesseraError as error:
        table = failed_rows(SWEEP, job.pair | {"key": variations.BASELINE}, error.sentence)
    return write_table(SWEEP, table, job.out)
