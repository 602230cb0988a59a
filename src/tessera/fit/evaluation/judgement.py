"""Learning curves, and the files of a judgement: `protocols.csv`, `anchored.csv`, `learning_curve.csv`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.table_io import empty_table, frame_of, write_table
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.evaluation.anchored import anchored
from tessera.fit.evaluation.cross_validation import FOLDS, SEED, FitRows, Fits, duplicate_groups, shared_fits
from tessera.fit.evaluation.protocols import run_protocols
from tessera.fit.models.base import CannotFit
from tessera.fit.models.registry import EVERY, create, select_models
from tessera.fit.models.samples import Samples, SamplesTable

# Learning curves: the error against the number of layouts that were run (`learning_curve.csv`).
#
# For each number n, ``draws`` random sets of n layouts (pinned seed; always with the two anchors) are
# fitted. Two errors: `max_error` over all layouts, as in the paper's first method, and
# `unseen_max_error` over those that are neither in the set nor duplicates of one in it. Given are the median
# and the 10th and 90th percentile over the draws. Draws that do not determine the model count in
# `failed_draws`; if more than half fail there are no numbers.

LEARNING_SIZES = (6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 54)
DRAWS = 20
SHARES = {"": 50, "_p10": 10, "_p90": 90}
MEASURES = ("max_error", "geomean_error", "unseen_max_error")


def learning_curve(
    table: SamplesTable,
    models: Iterable[str] = (),
    *,
    sizes: Sequence[int] = LEARNING_SIZES,
    draws: int = DRAWS,
    seed: int = SEED,
    fits: Fits | None = None,
) -> pd.DataFrame:
    """One row per trained model and size. Errors are fractions.

    Raises:
        TesseraError: a named model is defined by its anchors, so it learns nothing.
    """
    fits = shared_fits(fits, table.fitted)
    names = list(models) or [name for name in select_models() if EVERY[name].cross_validated]
    for name in names:
        if not create(name).cross_validated:
            trained = ", ".join(name for name, model in EVERY.items() if model.cross_validated)
            raise TesseraError(
                f"learning curve of '{name}'",
                "the two anchor runs define this model, so more samples do not change it",
                f"use one of: {trained}",
                code="anchors-only",
            )
    sizes = [size for size in sizes if size < len(table.fitted)] + [len(table.fitted)]
    sets = {size: _drawn_sets(table.fitted, size, draws, seed) for size in sorted(set(sizes)) if size >= 2}
    groups, rows = duplicate_groups(table.fitted), []
    for name in select_models(names):
        fit = fits.of(create(name))
        for size, drawn in sets.items():
            row = {"model": name, "train_samples": size, "draws": len(drawn), "seed": seed}
            rows.append(row | _learning_row(fit, table.fitted, groups, drawn))
    return frame_of(MODELS_OF_PAIR["learning_curve"], rows)


def _drawn_sets(samples: Samples, size: int, draws: int, seed: int) -> list[np.ndarray]:
    """Sorted row numbers of each draw; all layouts are one draw."""
    anchors = [samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)]
    others = np.setdiff1d(np.arange(len(samples)), anchors)
    if size >= len(samples):
        return [np.arange(len(samples))]
    stream = np.random.RandomState(seed)  # its stream is frozen
    return [np.sort([*anchors, *stream.permutation(others)[: size - 2]]) for _ in range(draws)]


def _learning_row(fit: FitRows, samples: Samples, groups: np.ndarray, sets: list[np.ndarray]) -> dict:
    found: dict[str, list[float]] = {measure: [] for measure in MEASURES}
    reason = ""
    for rows in sets:
        try:
            fitted = fit(rows)
        except CannotFit as error:
            reason = reason or error.found
            continue
        errors = relative_errors(samples.R, fitted.predict(samples.H, samples.M, samples.C))
        judged, unseen = accuracy(errors), errors[~np.isin(groups, groups[rows])]
        found["max_error"].append(judged.max_error)
        found["geomean_error"].append(judged.geomean_error)
        if unseen.size:
            found["unseen_max_error"].append(float(unseen.max()))
    done = len(found["max_error"])
    result = {"failed_draws": len(sets) - done, "message": reason}
    if 2 * done < len(sets) or not done:
        return result
    for measure, values in found.items():
        for suffix, share in SHARES.items():
            result[measure + suffix] = float(np.percentile(values, share)) if values else np.nan
    return result


# The files of a judgement, in the folder of a fit.

JUDGEMENT_FILES = (MODELS_OF_PAIR["protocols"], MODELS_OF_PAIR["anchored"], MODELS_OF_PAIR["learning_curve"])


def write_judgement(
    table: SamplesTable,
    out: str | Path,
    models: Sequence[str] = (),
    protocols: Sequence[str] = (),
    *,
    folds: Sequence[int] = FOLDS,
    seed: int = SEED,
    draws: int = DRAWS,
    duplicate_of: Mapping[str, str] | None = None,
    one_in_ten: str = "flag",
    fits: Fits | None = None,
) -> pd.DataFrame:
    """Write the files and return the table of protocols; arguments as `run_protocols`.

    No learning curve is written if ``draws`` is 0 or no named model learns from samples.
    """
    fits = shared_fits(fits, table.fitted)
    judged = run_protocols(
        table, models, protocols, folds=folds, seed=seed,
        duplicate_of=duplicate_of, one_in_ten=one_in_ten, fits=fits,
    )  # fmt: skip
    out = Path(out)
    held = anchored(table, models, duplicate_of=duplicate_of, fits=fits)
    write_table(MODELS_OF_PAIR["anchored"], held, out / MODELS_OF_PAIR["anchored"].file)
    write_table(MODELS_OF_PAIR["protocols"], judged, out / MODELS_OF_PAIR["protocols"].file)
    trained = [name for name in select_models(models) if EVERY[name].cross_validated]
    (out / MODELS_OF_PAIR["learning_curve"].file).unlink(missing_ok=True)
    if draws > 0 and trained:
        curve = learning_curve(table, trained, draws=draws, seed=seed, fits=fits)
        write_table(MODELS_OF_PAIR["learning_curve"], curve, out / MODELS_OF_PAIR["learning_curve"].file)
    return judged


def write_empty(out: str | Path) -> None:
    """All files with their headers only, for a pair that could not be fitted."""
    for table in JUDGEMENT_FILES:
        write_table(table, empty_table(table), Path(out) / table.file)
