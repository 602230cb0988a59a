"""The files of a judgement: `protocols.csv`, `anchored.csv`, `learning_curve.csv` in the folder of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from tessera.fit.models.anchored import anchored
from tessera.fit.models.crossval import FOLDS, SEED
from tessera.fit.models.fits import Fits, shared
from tessera.fit.models.protocols import learning, run
from tessera.fit.models.registry import EVERY, select
from tessera.fit.models.samples import Table
from tessera.results.read import empty
from tessera.results.schema.models import OF_PAIR
from tessera.results.write import write

FILES = (OF_PAIR["protocols"], OF_PAIR["anchored"], OF_PAIR["learning_curve"])


def write_judgement(
    table: Table,
    out: str | Path,
    models: Sequence[str] = (),
    protocols: Sequence[str] = (),
    *,
    folds: Sequence[int] = FOLDS,
    seed: int = SEED,
    draws: int = learning.DRAWS,
    duplicate_of: Mapping[str, str] | None = None,
    one_in_ten: str = "flag",
    fits: Fits | None = None,
) -> pd.DataFrame:
    """Write the files and return the table of protocols; arguments as `run_protocols`.

    No learning curve is written if ``draws`` is 0 or no named model learns from samples.
    """
    fits = shared(fits, table.fitted)
    judged = run.run_protocols(
        table, models, protocols, folds=folds, seed=seed,
        duplicate_of=duplicate_of, one_in_ten=one_in_ten, fits=fits,
    )  # fmt: skip
    out = Path(out)
    held = anchored(table, models, duplicate_of=duplicate_of, fits=fits)
    write(OF_PAIR["anchored"], held, out / OF_PAIR["anchored"].file)
    write(OF_PAIR["protocols"], judged, out / OF_PAIR["protocols"].file)
    trained = [name for name in select(models) if EVERY[name].cross_validated]
    (out / OF_PAIR["learning_curve"].file).unlink(missing_ok=True)
    if draws > 0 and trained:
        curve = learning.learning_curve(table, trained, draws=draws, seed=seed, fits=fits)
        write(OF_PAIR["learning_curve"], curve, out / OF_PAIR["learning_curve"].file)
    return judged


def write_empty(out: str | Path) -> None:
    """Both files with their headers only, for a pair that could not be fitted."""
    for table in FILES:
        write(table, empty(table), Path(out) / table.file)
