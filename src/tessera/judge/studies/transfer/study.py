"""The study of one workload on one platform: from runs to rows of the tables, except verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.fit.models.samples import Samples, check_table
from tessera.judge.studies.transfer import answered, fits, twinned
from tessera.judge.studies.transfer.classes import (
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
)
from tessera.judge.studies.transfer.hull import Hull
from tessera.judge.studies.transfer.ladder import LADDERS, START, ladder_rows, steps_of
from tessera.judge.studies.transfer.points import Measured, measured
from tessera.judge.studies.transfer.points import rows as point_rows
from tessera.judge.studies.transfer.predictions import prediction_rows, twin_rows
from tessera.judge.studies.transfer.random_layouts import random_layouts
from tessera.judge.studies.transfer.simulated import Cell, Runs, needed
from tessera.layouts.names import ALL_4KB
from tessera.platforms import Platform
from tessera.results.schema import transfer as schema
from tessera.results.status import is_ok
from tessera.simulate.inputs import LAYOUT, MAPPING

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


def tables(request: Request) -> dict[str, list[dict]]:
    """Rows of the tables by their names, without the columns of the pair.

    Raises:
        TesseraError: P can't be simulated or fitted.
    """
    simulated = measured_points(request)
    base, points = simulated.base, simulated.points
    samples = samples_of(base.layouts, [path.stem for path in request.layouts])
    fitted, hull = fits.fit_all(samples, request.models), Hull(samples)
    at_twins = twinned.find(request.runs, request.platform, samples, simulated.more, points)
    found = {
        schema.SAMPLES.name: sample_rows(request, base, samples),
        schema.FITS.name: [row | {"ideal_runtime_cycles": base.ideal_runtime(None)} for row in fitted.rows()],
        schema.POINTS.name: [row for point in points for row in point_rows(point)],
        schema.PREDICTIONS.name: [], schema.TWINS.name: [],
        schema.LADDER.name: list(_ladders(request, base, fitted)) if request.ladders else [],
    }  # fmt: skip
    hit_cycles = int(request.platform.values[HIT].value)
    found[schema.ANSWERED.name] = answered.answer_rows(
        found[schema.SAMPLES.name], found[schema.POINTS.name], hit_cycles
    )
    for point, twins in zip(points, at_twins, strict=True):
        found[schema.PREDICTIONS.name] += prediction_rows(point, fitted, hull, twins)
        found[schema.TWINS.name] += twin_rows(point, hull, twins)
    return found


def samples_of(cells: Mapping[str, Cell], names: Sequence[str]) -> Samples:
    """P's samples; errors as of :func:`tessera.fit.models.samples.check_table`."""
    rows = [cells[name].row | {"layout": name, "status": "ok", "message": ""} for name in names]
    return check_table(pd.DataFrame(rows), "study of transfer").fitted


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


def _ladders(request: Request, base: Base, fitted: fits.FittedModels) -> Iterator[dict]:
    """Every ladder under every mapping; P under a mapping is the first step."""
    model = fitted.models.get(MODEL_OF_LADDER)
    predict = (lambda x: None) if model is None else (lambda x: fits.predicted(model, x))
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
