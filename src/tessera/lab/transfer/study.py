"""The studies ``transfer`` of one workload on one platform, and ``transfer-verdicts`` of a run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_4KB
from tessera.core.platforms import Platform
from tessera.core.results.outcomes import is_ok
from tessera.core.results.table_io import empty_table, frame_of, read_file
from tessera.core.results.transfer_tables import (
    ANSWERED,
    FITS,
    LADDER,
    NEW_DESIGNS,
    OF_RUN,
    PARTS,
    POINTS,
    PREDICTIONS,
    SAMPLES,
    TWINS,
    VERDICTS,
    WIDTHS,
)
from tessera.core.tables import print_table
from tessera.fit.models.registry import select_models
from tessera.fit.models.samples import Samples, check_samples
from tessera.lab.studies import placements
from tessera.lab.study import Bounds, Jobs, Names, Paths, Recording, Run, Seed, study
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
    chosen,
)
from tessera.lab.transfer.ladder import LADDERS, START, ladder_rows, steps_of
from tessera.lab.transfer.points import COUNTED, Measured, point_of_cell, point_rows
from tessera.lab.transfer.predictions import Hull, prediction_rows, twin_rows
from tessera.lab.transfer.runs import Cell, Runs, needed, units_of
from tessera.lab.transfer.twins import find_twins, random_layouts
from tessera.simulate.inputs import LAYOUT, MAPPING
from tessera.simulate.runner import CellCache

# From runs to rows of the tables of one workload on one platform, except verdicts.

MODEL_OF_LADDER = "mosmodel"


@dataclass(frozen=True)
class Subject:
    """P of one workload, and what it is asked.

    Attributes:
        layouts: files that models are fitted to.
        mappings: kind -> file.
        folder: for random layouts.
        twins: random layouts in which twins are looked for.
    """

    runs: Runs
    platform: Platform
    layouts: Sequence[Path]
    mappings: Mapping[str, Path]
    variants: Sequence[Variant]
    models: Sequence[str]
    folder: Path
    twins: int
    seed: int
    ladders: bool
    touched_pages: int


@dataclass(frozen=True)
class ProcessorCells:
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

    base: ProcessorCells
    points: list[Measured]
    more: Sequence[Path]


def measured_points(subject: Subject) -> Simulated:
    """All runs but the twins and ladders.

    Raises:
        TesseraError: P can't be simulated.
    """
    new, more = random_layouts(subject.runs.trace, subject.folder, subject.twins, subject.seed)
    base = _base(subject, new)
    return Simulated(base, list(_points(subject, base, new)), more)


def study_tables(subject: Subject) -> dict[str, list[dict]]:
    """Rows of the tables by their names, without the columns of the pair.

    Raises:
        TesseraError: P can't be simulated or fitted.
    """
    simulated = measured_points(subject)
    base, points = simulated.base, simulated.points
    samples = samples_of(base.layouts, [path.stem for path in subject.layouts])
    fitted, hull = predictions.fit_and_validate(samples, subject.models), Hull(samples)
    at_twins = find_twins(subject.runs, subject.platform, samples, simulated.more, points)
    found = {
        SAMPLES.name: sample_rows(subject, base, samples),
        FITS.name: [row | {"ideal_runtime_cycles": base.ideal_runtime(None)} for row in fitted.rows()],
        POINTS.name: [row for point in points for row in point_rows(point)],
        PREDICTIONS.name: [], TWINS.name: [],
        LADDER.name: list(_ladders(subject, base, fitted)) if subject.ladders else [],
    }  # fmt: skip
    hit_cycles = int(subject.platform.values[HIT].value)
    found[ANSWERED.name] = bracket_answers.answer_rows(found[SAMPLES.name], found[POINTS.name], hit_cycles)
    for point, twins in zip(points, at_twins, strict=True):
        found[PREDICTIONS.name] += prediction_rows(point, fitted, hull, twins)
        found[TWINS.name] += twin_rows(point, hull, twins)
    return found


def samples_of(cells: Mapping[str, Cell], names: Sequence[str]) -> Samples:
    """P's samples; errors as of :func:`tessera.fit.models.samples.check_samples`."""
    rows = [cells[name].row | {"layout": name, "status": "ok", "message": ""} for name in names]
    return check_samples(pd.DataFrame(rows), "study of transfer").fitted


def sample_rows(subject: Subject, base: ProcessorCells, samples: Samples) -> list[dict]:
    units = subject.runs.units
    about = {
        "window_accesses": units.accesses, "warm_accesses": units.warm_accesses, "units": units.count,
        "warm_units": units.warm_count, "interval_instructions": units.length,
        "touched_pages": subject.touched_pages, "seed": subject.seed,
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


def _base(subject: Subject, new: Sequence[Path]) -> ProcessorCells:
    runs, p = subject.runs, subject.platform
    runs.progress(f"P under {len(subject.layouts)} layouts and {len(subject.mappings)} mappings")
    small = [path for path in subject.layouts if path.stem == ALL_4KB]
    if not small:
        raise TesseraError("study of transfer", f"there is no layout {ALL_4KB}", "add it to the layouts")
    ideal, thp, maps = changed(p, {DESIGN: IDEAL}), changed(p, {DESIGN: THP}), list(subject.mappings.values())
    asked = [
        lambda: needed(runs.cells(p, [*subject.layouts, *new]), "P"),
        lambda: needed(runs.cells(ideal, small), "the design ideal"),
        lambda: runs.cells(thp, maps, MAPPING) if maps else {},
        lambda: runs.cells(ideal, maps, MAPPING) if maps else {},
    ]
    layouts, of_small, mappings, of_maps = runs.each(asked)
    return ProcessorCells(layouts, mappings, of_maps | of_small)


def _points(subject: Subject, base: ProcessorCells, new: Sequence[Path]) -> Iterator[Measured]:
    """All points, in the order of the registry."""
    files = {
        LAYOUTS: list(subject.layouts),
        SOME_LAYOUTS: [path for path in subject.layouts if path.stem in FEW],
        NEW_LAYOUTS: list(new),
        MAPPINGS: list(subject.mappings.values()),
    }
    done, asked = 0, [v for v in subject.variants if files[v.under]]

    def one(variant: Variant) -> dict[str, Cell]:
        nonlocal done
        platform = changed(subject.platform, variant.changes(subject.platform))
        kind = MAPPING if variant.under == MAPPINGS else LAYOUT
        cells = subject.runs.cells(platform, files[variant.under], kind)
        done += 1
        subject.runs.progress(f"{done} of {len(asked)} variants: {variant.name}")
        return cells

    for variant, cells in zip(asked, subject.runs.each([lambda v=v: one(v) for v in asked]), strict=True):
        platform = changed(subject.platform, variant.changes(subject.platform))
        mapping = variant.under == MAPPINGS
        for name, cell in cells.items():
            of_p = (base.mappings if mapping else base.layouts).get(name)
            ideal = base.ideal_runtime(name if mapping else None)
            yield point_of_cell(variant, platform, subject.platform, cell, of_p, ideal)


def _ladders(subject: Subject, base: ProcessorCells, fitted: predictions.FittedModels) -> Iterator[dict]:
    """Every ladder under every mapping; P under a mapping is the first step."""
    model = fitted.models.get(MODEL_OF_LADDER)
    predict = (lambda x: None) if model is None else (lambda x: predictions.predicted_cycles(model, x))
    maps = list(subject.mappings.values())
    for name in LADDERS if maps else ():
        steps = steps_of(name, subject.platform)
        cells = subject.runs.each(
            [lambda c=c: subject.runs.cells(changed(subject.platform, c), maps, MAPPING) for _, c in steps]
        )
        subject.runs.progress(f"ladder to {name}")
        for mapping, start in base.mappings.items():
            rungs = [(START, {}, start)]
            rungs += [(what, c, found[mapping]) for (what, c), found in zip(steps, cells, strict=True)]
            yield from ladder_rows(name, mapping, rungs, predict)


# The two studies: the tables of one workload on one platform, and those of a run.


@study(POINTS, *(table for table in PARTS if table is not POINTS), failed={"provenance": "simulated"})
def transfer(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    cache: CellCache,
    classes: Annotated[Names, chosen] = (),
    variants: Annotated[Names, lambda names: chosen((), names)] = (),
    mappings: Annotated[Names, placements.check_kinds] = ("demand", "medium", "high"),
    layouts: Names = (),
    models: Annotated[Names, select_models] = (),
    units: Annotated[int, Bounds(2)] = 20,
    warm_units: Annotated[int, Bounds(0)] = 2,
    twins: Annotated[int, Bounds(0)] = 200,
    ladders: bool = True,
    seed: Seed = 1,
    jobs: Jobs = 1,
) -> tuple[pd.DataFrame, ...]:
    """Ask models of a processor P for the runtime of new designs, and compare with the timing engine.

    Fits the models to the layouts on P, and simulates variants of P in six classes on the same window. The
    study transfer-verdicts judges each model in each class. docs/explain/transfer.md describes the tables.

    Example, after ./run smoke:
      ./run tessera lab run transfer platform=sandybridge-sim --out /tmp/transfer/gups \\
        trace=results/smoke/traces/gups/info.json \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv \\
        classes=control,invisible mappings=medium twins=20 ladders=no
      ./run tessera lab run transfer-verdicts parts=/tmp/transfer/gups --out /tmp/transfer

    Args:
        trace: trace (.tst), or info.json of a recording or window; all of it is simulated.
        manifest: manifest.csv of its layouts.
        platform: P: name or YAML file; with values that differ: 'haswell-sim core.mshrs=5'.
        classes: control, reach, hit-time, invisible, walk-cost, behind-l3, ideal; none: all.
        variants: of docs/explain/transfer.md; none: all.
        mappings: kinds of mappings (tessera mapping generate --help).
        layouts: those that models are fitted to, growing-0 among them; none: all but 1gb.
        models: runtime models; none: the nine, minimax and monotone.
        units: intervals that C and R come from.
        warm_units: intervals before them that only warm TLBs and caches.
        twins: random layouts in which twins are looked for, beside those of the manifest.
        ladders: simulate the ladders?
        seed: of mappings and random layouts.
        jobs: simulations at the same time.
        cache: folder of finished simulations; default: .cache beside the tables.

    Returns:
        tables :data:`PARTS` of :mod:`tessera.core.results.transfer_tables`, the points first. A study that
        is not possible gives one row of points with the reason.

    Raises:
        TesseraError: the recording failed, or P can't be simulated or fitted.
    """
    window = trace.trace
    files = placements.chosen_layouts(manifest, layouts)
    runs = Runs(trace.workload, window, units_of(window, units, warm_units), cache, jobs, run.say)
    with tempfile.TemporaryDirectory(prefix="tessera-transfer-") as name:
        made = placements.make_mappings(window, mappings, seed, Path(name), run.say)
        subject = Subject(
            runs, platform, files, made.files, chosen(classes, variants),
            select_models(models) if models else predictions.default_models(),
            Path(name), twins, seed, ladders, made.rows[0]["touched_pages"],
        )  # fmt: skip
        rows = study_tables(subject)
    pair = {"workload": trace.workload, "platform": platform.name, "provenance": "simulated"}
    return tuple(frame_of(table, [pair | row for row in rows[table.name]]) for table in transfer.tables)


def _print_verdicts(*tables: pd.DataFrame) -> None:
    """The verdicts by `counted`: models by classes."""
    made = dict(zip(OF_RUN, tables, strict=True))[VERDICTS]
    rows = made[made["inputs"] == COUNTED]
    groups = list(dict.fromkeys(rows["group"]))
    lines = []
    for (platform, model), part in rows.groupby(["platform", "model"], sort=False):
        texts = {
            row.group: row.verdict if row.judged == 0 else f"{row.verdict} {row.passing}/{row.judged}"
            for row in part.itertuples()
        }
        lines.append((platform, model, *(texts[group] for group in groups)))
    if lines:
        print_table(["platform", "model", *groups], lines)


@study(*OF_RUN, show=_print_verdicts)
def transfer_verdicts(run: Run, parts: Paths) -> tuple[pd.DataFrame, ...]:
    """Judge models of a processor in each class of new designs, from the tables of the study transfer.

    Simulates nothing. The tables of all workloads and platforms together, verdicts, intervals, and what the
    bracket is worth for a new design (docs/explain/transfer.md).

    Example, after ./run smoke:
      ./run tessera lab run transfer-verdicts --out /tmp/transfer \\
        parts=results/smoke/studies/transfer/gups/sandybridge-sim

    Args:
        parts: folder of the tables of a workload on a platform.

    Returns:
        tables :data:`OF_RUN` of :mod:`tessera.core.results.transfer_tables`.

    Raises:
        TesseraError: a folder lacks a table.
    """
    whole = {}
    for table in PARTS:
        frames = [read_file(table, folder / table.file) for folder in parts]
        filled = [frame for frame in frames if len(frame)]
        whole[table.name] = pd.concat(filled, ignore_index=True) if filled else empty_table(table)
    written = {table.name: frame_of(table, whole[table.name]) for table in PARTS}
    return tuple((written | judge_run(whole))[table.name] for table in OF_RUN)


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
