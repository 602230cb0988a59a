"""The study of one workload on one platform, and the tables of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from tessera.core import platforms
from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import FAILED, is_ok, recorded
from tessera.core.results.table_io import empty_table, frame_of, read_file, write_table
from tessera.core.results.transfer_tables import (
    ANSWERED,
    FITS,
    LADDER,
    NEW_DESIGNS,
    PARTS,
    POINTS,
    PREDICTIONS,
    SAMPLES,
    TWINS,
    VERDICTS,
    WIDTHS,
)
from tessera.fit.models.samples import Samples, check_samples
from tessera.lab.studies import placements
from tessera.lab.studies.failures import one_line
from tessera.lab.studies.windows import recording_of
from tessera.lab.transfer import bracket_answers, predictions, verdicts
from tessera.lab.transfer.classes import (
    DESIGN,
    FEW,
    HIT,
    IDEAL,
    LAYOUTS,
    MAPPINGS,
    NEW_LAYOUTS,
    SOME_LAYOUTS,
    THP,
    Variant,
    changed,
    text_of,
)
from tessera.lab.transfer.ladder import LADDERS, START, ladder_rows, steps_of
from tessera.lab.transfer.points import Measured, measured, point_rows
from tessera.lab.transfer.predictions import Hull, prediction_rows, twin_rows
from tessera.lab.transfer.runs import Cell, Runs, needed, units_of
from tessera.lab.transfer.twins import find_twins, random_layouts
from tessera.simulate.inputs import LAYOUT, MAPPING
from tessera.simulate.runner import CellCache

# From runs to rows of the tables of one workload on one platform, except verdicts.

MODEL_OF_LADDER = "mosmodel"


@dataclass(frozen=True)
class Request:
    """``layouts``: files that models are fitted to; ``mappings``: kind -> file; ``folder`` for layouts."""

    runs: Runs
    platform: Platform
    layouts: Sequence[Path]
    mappings: Mapping[str, Path]
    variants: Sequence[Variant]
    models: Sequence[str]
    folder: Path
    mosaics: int
    seed: int
    ladders: bool
    touched_pages: int


@dataclass(frozen=True)
class Base:
    """P under layouts and mappings, and R of the design ideal by mapping (``growing-0`` for layouts)."""

    layouts: dict[str, Cell]
    mappings: dict[str, Cell]
    ideal: dict[str, Cell]

    def ideal_runtime(self, mapping: str | None) -> float:
        cell = self.ideal.get(ALL_4KB if mapping is None else mapping)
        return float("nan") if cell is None else cell.runtime


@dataclass(frozen=True)
class Simulated:
    """P, all points in the order of the registry, and the layouts in which twins are looked for."""

    base: Base
    points: list[Measured]
    more: Sequence[Path]


def measured_points(request: Request) -> Simulated:
    """All runs but the twins and ladders.

    Raises:
        TesseraError: P can't be simulated.
    """
    new, more = random_layouts(request.runs.trace, request.folder, request.mosaics, request.seed)
    base = _base(request, new)
    return Simulated(base, list(_points(request, base, new)), more)


def study_tables(request: Request) -> dict[str, list[dict]]:
    """Rows of the tables by their names, without the columns of the pair.

    Raises:
        TesseraError: P can't be simulated or fitted.
    """
    simulated = measured_points(request)
    base, points = simulated.base, simulated.points
    samples = samples_of(base.layouts, [path.stem for path in request.layouts])
    fitted, hull = predictions.fit_all(samples, request.models), Hull(samples)
    at_twins = find_twins(request.runs, request.platform, samples, simulated.more, points)
    found = {
        SAMPLES.name: sample_rows(request, base, samples),
        FITS.name: [row | {"ideal_runtime_cycles": base.ideal_runtime(None)} for row in fitted.rows()],
        POINTS.name: [row for point in points for row in point_rows(point)],
        PREDICTIONS.name: [], TWINS.name: [],
        LADDER.name: list(_ladders(request, base, fitted)) if request.ladders else [],
    }  # fmt: skip
    hit_cycles = int(request.platform.values[HIT].value)
    found[ANSWERED.name] = bracket_answers.answer_rows(found[SAMPLES.name], found[POINTS.name], hit_cycles)
    for point, twins in zip(points, at_twins, strict=True):
        found[PREDICTIONS.name] += prediction_rows(point, fitted, hull, twins)
        found[TWINS.name] += twin_rows(point, hull, twins)
    return found


def samples_of(cells: Mapping[str, Cell], names: Sequence[str]) -> Samples:
    """P's samples; errors as of :func:`tessera.fit.models.samples.check_samples`."""
    rows = [cells[name].row | {"layout": name, "status": "ok", "message": ""} for name in names]
    return check_samples(pd.DataFrame(rows), "study of transfer").fitted


def sample_rows(request: Request, base: Base, samples: Samples) -> list[dict]:
    units = request.runs.units
    about = {
        "window_accesses": units.accesses, "warm_accesses": units.warm_accesses, "units": units.count,
        "warm_units": units.warm_count, "interval_instructions": units.length,
        "touched_pages": request.touched_pages, "seed": request.seed,
    }  # fmt: skip
    found = []
    for kind, cells in (("layout", base.layouts), ("mapping", base.mappings)):
        for name, cell in cells.items():
            if not is_ok(cell.status):
                continue
            ideal = base.ideal_runtime(name if kind == "mapping" else None)
            numbers = dict(zip(("stlb_hits", "stlb_misses", "walk_cycles"), cell.x, strict=True))
            head = {"layout": name, "pages": kind, "fitted": kind == "layout" and name in samples.layouts}
            found.append(
                head | numbers | {"runtime_cycles": cell.runtime, "ideal_runtime_cycles": ideal} | about
            )
    return found


def _base(request: Request, new: Sequence[Path]) -> Base:
    runs, p = request.runs, request.platform
    runs.progress(f"P under {len(request.layouts)} layouts and {len(request.mappings)} mappings")
    small = [path for path in request.layouts if path.stem == ALL_4KB]
    if not small:
        raise TesseraError("study of transfer", f"there is no layout {ALL_4KB}", "add it to the layouts")
    ideal, thp, maps = changed(p, {DESIGN: IDEAL}), changed(p, {DESIGN: THP}), list(request.mappings.values())
    asked = [
        lambda: needed(runs.cells(p, [*request.layouts, *new]), "P"),
        lambda: needed(runs.cells(ideal, small), "the design ideal"),
        lambda: runs.cells(thp, maps, MAPPING) if maps else {},
        lambda: runs.cells(ideal, maps, MAPPING) if maps else {},
    ]
    layouts, of_small, mappings, of_maps = runs.each(asked)
    return Base(layouts, mappings, of_maps | of_small)


def _points(request: Request, base: Base, new: Sequence[Path]) -> Iterator[Measured]:
    """All points, in the order of the registry."""
    files = {
        LAYOUTS: list(request.layouts),
        SOME_LAYOUTS: [path for path in request.layouts if path.stem in FEW],
        NEW_LAYOUTS: list(new),
        MAPPINGS: list(request.mappings.values()),
    }
    done, asked = 0, [v for v in request.variants if files[v.under]]

    def one(variant: Variant) -> dict[str, Cell]:
        nonlocal done
        platform = changed(request.platform, variant.changes(request.platform))
        kind = MAPPING if variant.under == MAPPINGS else LAYOUT
        cells = request.runs.cells(platform, files[variant.under], kind)
        done += 1
        request.runs.progress(f"{done} of {len(asked)} variants: {variant.name}")
        return cells

    for variant, cells in zip(asked, request.runs.each([lambda v=v: one(v) for v in asked]), strict=True):
        platform = changed(request.platform, variant.changes(request.platform))
        mapping = variant.under == MAPPINGS
        for name, cell in cells.items():
            of_p = (base.mappings if mapping else base.layouts).get(name)
            ideal = base.ideal_runtime(name if mapping else None)
            yield measured(variant, platform, request.platform, cell, of_p, ideal)


def _ladders(request: Request, base: Base, fitted: predictions.FittedModels) -> Iterator[dict]:
    """Every ladder under every mapping; P under a mapping is the first step."""
    model = fitted.models.get(MODEL_OF_LADDER)
    predict = (lambda x: None) if model is None else (lambda x: predictions.predicted(model, x))
    maps = list(request.mappings.values())
    for name in LADDERS if maps else ():
        steps = steps_of(name, request.platform)
        cells = request.runs.each(
            [lambda c=c: request.runs.cells(changed(request.platform, c), maps, MAPPING) for _, c in steps]
        )
        request.runs.progress(f"ladder to {name}")
        for mapping, start in base.mappings.items():
            rungs = [(START, {}, start)]
            rungs += [(what, c, found[mapping]) for (what, c), found in zip(steps, cells, strict=True)]
            yield from ladder_rows(name, mapping, rungs, predict)


# What the workflow's rule and the command call: the tables of one workload, and those of a run.


@dataclass(frozen=True)
class Job:
    """Inputs of the study of one workload on one platform.

    Attributes:
        info: info.json of a trace or window, all of which is simulated.
        manifest: manifest.csv of the layouts; ``layout_names`` chooses some (none: all but 1gb).
        variants: of the registry (:data:`.classes.VARIANTS`).
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

    @property
    def workload(self) -> str:
        return recorded(self.info)[0]["workload"]

    @cached_property
    def platform(self) -> Platform:
        loaded = platforms.load(self.platform_name)
        if not self.changes:
            return loaded
        return replace(changed(loaded, self.changes), name=f"{loaded.name} {text_of(self.changes)}")

    @property
    def trace(self) -> Path:
        """TesseraError if the recording failed."""
        return recording_of(self.info)


def transfer_study(job: Job) -> pd.DataFrame:
    """Write the tables :data:`PARTS` of one workload into ``job.out``; returns the points.

    A study that is not possible gives one row of points with the reason, and empty other tables.

    Raises:
        TesseraError: the platform or a kind of mapping is unknown, or ``job.info`` is no recording.
    """
    placements.check_kinds(job.mappings)
    pair = {"workload": job.workload, "platform": job.platform.name, "provenance": "simulated"}
    try:
        tables = _tables_of(job)
    except TesseraError as error:
        tables = {POINTS.name: [{"status": FAILED, "message": one_line(error)}]}
    found = {}
    for table in PARTS:
        rows = [pair | row for row in tables.get(table.name, ())]
        found[table.name] = write_table(table, frame_of(table, rows), job.out / table.file)
    return found[POINTS.name]


def _tables_of(job: Job) -> dict[str, list[dict]]:
    trace = job.trace
    files = placements.chosen_layouts(job.manifest, list(job.layout_names))
    units = units_of(trace, job.units, job.warm_units)
    runs = Runs(job.workload, trace, units, CellCache(job.cache), job.jobs, job.progress)
    with tempfile.TemporaryDirectory(prefix="tessera-transfer-") as name:
        made = placements.make_mappings(trace, job.mappings, job.seed, Path(name), job.progress)
        request = Request(
            runs, job.platform, files, made.files, job.variants, job.models or predictions.default_models(),
            Path(name), job.mosaics, job.seed, job.ladders, made.rows[0]["touched_pages"],
        )  # fmt: skip
        return study_tables(request)


def collect(parts: Sequence[Path], out: Path) -> pd.DataFrame:
    """Write the tables of a run from folders of :func:`transfer_study`; returns the verdicts.

    Raises:
        TesseraError: a folder lacks a table.
    """
    whole = {}
    for table in PARTS:
        frames = [read_file(table, folder / table.file) for folder in parts]
        filled = [frame for frame in frames if len(frame)]
        whole[table.name] = pd.concat(filled, ignore_index=True) if filled else empty_table(table)
        write_table(table, frame_of(table, whole[table.name]), out / table.file)
    made = judge_run(whole)
    for table in (WIDTHS, NEW_DESIGNS):
        write_table(table, made[table.name], out / table.file)
    return write_table(VERDICTS, made[VERDICTS.name], out / VERDICTS.file)


def judge_run(tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The tables of a run that follow from :data:`PARTS` of all workloads, by name; also of an archive."""
    points, predictions, twins, fitted, answers = (
        tables[f"transfer_{name}"] for name in ("points", "predictions", "twins", "fits", "answers")
    )
    return {
        VERDICTS.name: verdicts.verdicts(points, predictions, twins, fitted),
        WIDTHS.name: verdicts.widths(points, predictions),
        NEW_DESIGNS.name: bracket_answers.new_designs(answers, predictions),
    }
