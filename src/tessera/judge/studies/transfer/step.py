"""What the workflow's rule and the command call: the tables of one workload, and those of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera import platforms
from tessera.core.errors import TesseraError
from tessera.judge.studies import layouts as manifests
from tessera.judge.studies.designs import mapped
from tessera.judge.studies.transfer import fits, new_designs, study, verdicts
from tessera.judge.studies.transfer.classes import Variant, changed, text_of
from tessera.judge.studies.transfer.plan import units_of
from tessera.judge.studies.transfer.simulated import Runs
from tessera.platforms import Platform
from tessera.results.read import empty, read_file
from tessera.results.recordings import recorded
from tessera.results.schema.transfer import NEW_DESIGNS, PARTS, POINTS, VERDICTS, WIDTHS
from tessera.results.status import FAILED, is_ok
from tessera.results.write import frame_of, write
from tessera.simulate.cache import CellCache


@dataclass(frozen=True)
class Job:
    """Inputs of the study of one workload on one platform.

    Attributes:
        info: info.json of a trace or window, all of which is simulated.
        manifest: manifest.csv of the layouts; ``layout_names`` chooses some (none: all but 1gb).
        variants: of the registry (:mod:`classes`).
        mosaics: random layouts in which twins are looked for, beside those of the manifest.
        out: folder of the tables.
        changes: values of P that differ from its file; its name in the tables then lists them.
    """

    info: Path
    manifest: Path
    platform_name: str
    cache: Path
    out: Path
    variants: Sequence[Variant]
    mappings: Sequence[str] = ("demand", "medium", "high")
    layout_names: Sequence[str] = ()
    models: Sequence[str] = ()
    ladders: bool = True
    units: int = 20
    warm_units: int = 2
    mosaics: int = 200
    seed: int = 1
    jobs: int = 1
    progress: Callable[[str], None] = lambda line: None
    changes: Mapping[str, int | str] = field(default_factory=dict)

    @cached_property
    def about(self) -> tuple[dict, Path]:
        return recorded(self.info)

    @property
    def workload(self) -> str:
        return self.about[0]["workload"]

    @cached_property
    def platform(self) -> Platform:
        loaded = platforms.load(self.platform_name)
        if not self.changes:
            return loaded
        return replace(changed(loaded, self.changes), name=f"{loaded.name} {text_of(self.changes)}")

    @property
    def trace(self) -> Path:
        """TesseraError if the recording failed."""
        about, trace = self.about
        if not is_ok(about):
            raise TesseraError(f"trace of {self.workload}", "recording failed", about["message"])
        return trace


def transfer_study(job: Job) -> pd.DataFrame:
    """Write the tables :data:`PARTS` of one workload into ``job.out``; returns the points.

    A study that is not possible gives one row of points with the reason, and empty other tables.

    Raises:
        TesseraError: the platform or a kind of mapping is unknown, or ``job.info`` is no recording.
    """
    mapped.check_kinds(job.mappings)
    pair = {"workload": job.workload, "platform": job.platform.name, "provenance": "simulated"}
    try:
        tables = _tables(job)
    except TesseraError as error:
        message = " ".join(f"{error.asked}: {error.found}; {error.remedy}".split())
        tables = {POINTS.name: [{"status": FAILED, "message": message}]}
    found = {}
    for table in PARTS:
        rows = [pair | row for row in tables.get(table.name, ())]
        found[table.name] = write(table, frame_of(table, rows), job.out / table.file)
    return found[POINTS.name]


def _tables(job: Job) -> dict[str, list[dict]]:
    trace = job.trace
    files = manifests.chosen(job.manifest, list(job.layout_names))
    units = units_of(trace, job.units, job.warm_units)
    runs = Runs(job.workload, trace, units, CellCache(job.cache), job.jobs, job.progress)
    with tempfile.TemporaryDirectory(prefix="tessera-transfer-") as name:
        made = mapped.make(trace, job.mappings, job.seed, Path(name), job.progress)
        request = study.Request(
            runs, job.platform, files, made.files, job.variants, job.models or fits.default_models(),
            Path(name), job.mosaics, job.seed, job.ladders, made.rows[0]["touched_pages"],
        )  # fmt: skip
        return study.tables(request)


def collect(parts: Sequence[Path], out: Path) -> pd.DataFrame:
    """Write the tables of a run from folders of :func:`transfer_study`; returns the verdicts.

    Raises:
        TesseraError: a folder lacks a table.
    """
    whole = {}
    for table in PARTS:
        frames = [read_file(table, folder / table.file) for folder in parts]
        filled = [frame for frame in frames if len(frame)]
        whole[table.name] = pd.concat(filled, ignore_index=True) if filled else empty(table)
        write(table, frame_of(table, whole[table.name]), out / table.file)
    made = judge(whole)
    for table in (WIDTHS, NEW_DESIGNS):
        write(table, made[table.name], out / table.file)
    return write(VERDICTS, made[VERDICTS.name], out / VERDICTS.file)


def judge(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables of a run that follow from :data:`PARTS` of all workloads, by name; also of an archive."""
    points, predictions, twins, fitted, answers = (
        tables[f"transfer_{name}"] for name in ("points", "predictions", "twins", "fits", "answers")
    )
    return {
        VERDICTS.name: verdicts.verdicts(points, predictions, twins, fitted),
        WIDTHS.name: verdicts.widths(points, predictions),
        NEW_DESIGNS.name: new_designs.new_designs(answers, predictions),
    }
