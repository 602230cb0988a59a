"""Steps of the workflow on models: from cells of (workload, platform) pairs to fits and predictions.

Each step handles many pairs in one process, because loading the libraries takes longer than fitting a pair. A
pair is the cells file `<workload>/<platform>.csv`; its tables go to `<out>/<workload>/<platform>/`. If a pair
fails, its tables have only headers, a text file in its folder has the reason, and the other pairs continue.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.files import write_text
from tessera.core.layouts.layout import ALL_1GB
from tessera.core.results.cell_tables import MANIFEST, MODELS_OF_PAIR
from tessera.core.results.table_io import empty_table, write_table
from tessera.core.results.tree import ADAPTIVE_TABLES, NOT_FITTED, NOT_PREDICTED, NOT_REPLAYED, ONE_GB_TABLES
from tessera.fit.evaluation import judgement
from tessera.fit.evaluation.cross_validation import Fits, read_duplicates
from tessera.fit.fit_folder import FORMAT, INTERVALS, TABLES
from tessera.fit.fitting import fit_all
from tessera.fit.models import registry
from tessera.fit.models.samples import SamplesTable, read_samples
from tessera.lab.study import Count, Names, Paths, Run, Seed, study

SEEDS = 10  #: seeds 0 to 9 of the 6 folds that claims show beside the deciding number
Reasons = dict[Path, str]  #: folder of a failed pair -> reason


@study()
def fit(run: Run, cells: Paths, seed: Seed, layouts: Path | None = None, models: Names = ()) -> Reasons:
    """Fit, cross-validate and judge: the tables of `models fit` and `models protocols` of each pair.

    Beside a model that its authors read otherwise (`registry.READINGS`), their reading is fitted, and
    cross-validated by leaving one out. Six folds of the other models are repeated under ten seeds. --out is a
    folder; the tables go to <out>/<workload>/<platform>/.

    Example, after ./run smoke:
      ./run tessera dev step fit seed=1 cells=results/smoke/cells/gups/sandybridge-sim.csv --out /tmp/fits

    Args:
        cells: cells files <workload>/<platform>.csv.
        seed: of the folds.
        layouts: folder with <workload>/<platform>/manifest.csv, which lists duplicate layouts.
        models: names of models; default: those of tessera models show.
    """

    def work(cells_path: Path, folder: Path) -> None:
        table = _table(cells_path)
        fits = Fits(table.fitted)
        fit_all(
            table, seed=seed, models=models, intervals=True, fits=fits, leave_one_out=True,
            seeds=range(SEEDS), beside=registry.other_readings(registry.select_models(models)),
        ).write(folder, cells_path)  # fmt: skip
        manifest = layouts / cells_path.parent.name / cells_path.stem / MANIFEST.file if layouts else None
        same = read_duplicates(manifest) if manifest else None
        judgement.write_judgement(table, folder, models, seed=seed, duplicate_of=same, fits=fits)
        if not (folder / MODELS_OF_PAIR["learning_curve"].file).exists():  # none of them learns from samples
            _headers(folder, ["learning_curve"])

    def nothing(folder: Path) -> None:
        _headers(folder, TABLES)
        judgement.write_empty(folder)
        empty = {"format": FORMAT, "models": {}}
        write_text(folder / INTERVALS, json.dumps(empty) + "\n")

    return _each(run, cells, NOT_FITTED, work, nothing)


@study()
def adaptive(run: Run, cells: Paths, seeds: Count) -> Reasons:
    """Count the layouts that an adaptive order and random orders need to reach the same error.

    --out is a folder; adaptive.csv and adaptive_curve.csv go to <out>/<workload>/<platform>/.

    Example, after ./run smoke:
      ./run tessera dev step adaptive seeds=2 --out /tmp/fits \
        cells=results/smoke/cells/gups/sandybridge-sim.csv

    Args:
        cells: cells files <workload>/<platform>.csv.
        seeds: random orders.
    """
    from tessera.fit.evaluation.adaptive import replay_orders, replay_summary

    def work(cells_path: Path, folder: Path) -> None:
        curve = replay_orders(_table(cells_path).fitted, seeds=seeds)
        _write(folder, "adaptive_curve", curve)
        _write(folder, "adaptive", replay_summary(curve))

    def nothing(folder: Path) -> None:
        _headers(folder, ADAPTIVE_TABLES)

    return _each(run, cells, NOT_REPLAYED, work, nothing)


@study()
def one_gb(run: Run, cells: Paths, mosaics: Path | None = None) -> Reasons:
    """Predict the runtime under 1GB pages from the other layouts, with an error budget.

    --out is a folder; one_gb.csv and budget.csv go to <out>/<workload>/<platform>/.

    Example, after ./run smoke:
      ./run tessera dev step one-gb cells=results/smoke/cells/gups/sandybridge-sim.csv --out /tmp/fits

    Args:
        cells: cells files <workload>/<platform>.csv.
        mosaics: validation/mosaics.csv of a run (real and simulated runs), for the simulator's part of the
            budget.
    """
    from tessera.fit.predict import budget, prediction
    from tessera.fit.predict.prediction import read_design

    def work(cells_path: Path, folder: Path) -> None:
        point, fitted = read_design(cells_path, ALL_1GB), prediction.fit_to(_table(cells_path))
        _write(folder, "one_gb", prediction.table_of(fitted, point, warn=False))
        _write(folder, "budget", budget.error_budget(fitted, point, mosaics=mosaics))

    def nothing(folder: Path) -> None:
        _headers(folder, ONE_GB_TABLES)

    return _each(run, cells, NOT_PREDICTED, work, nothing)


def _table(cells_path: Path) -> SamplesTable:
    table = read_samples(cells_path)
    if not len(table.fitted):
        raise TesseraError(
            f"samples {cells_path}", "the table has no rows", "simulate this workload on this platform first"
        )
    return table


def _each(
    run: Run, cells: Paths, note: str, work: Callable[[Path, Path], None], nothing: Callable[[Path], None]
) -> Reasons:
    """Call ``work`` on every pair; if it raises, call ``nothing`` and write the reason to ``<note>.txt``."""
    reasons: Reasons = {}
    for cells_path in cells:
        folder = run.out / cells_path.parent.name / cells_path.stem
        folder.mkdir(parents=True, exist_ok=True)
        reason = folder / f"{note}.txt"
        reason.unlink(missing_ok=True)
        try:
            work(cells_path, folder)
        except TesseraError as error:
            reasons[folder] = error.problem
            run.say(f"{note.replace('_', ' ')}: {folder}: {error.problem}")
            write_text(reason, error.problem + "\n")
            nothing(folder)
    return reasons


def _headers(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        _write(folder, name, empty_table(MODELS_OF_PAIR[name]))


def _write(folder: Path, name: str, table: pd.DataFrame) -> None:
    write_table(MODELS_OF_PAIR[name], table, folder / MODELS_OF_PAIR[name].file)
