"""Run protocols on models: the table `protocols.csv`.

Columns: `model,protocol,setting,samples,train_samples,test_samples,max_error,geomean_error,effective_n,
message`. `samples` may be fitted in all; `train_samples` is the smallest training set of a setting,
`effective_n` its distinct (H, M, C) rows; `test_samples` are all tested ones. Errors are fractions. `message`
says why a row has no numbers, or warns beside them (fewer than ten distinct samples per coefficient).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from tessera.fit.models.accuracy import accuracy, relative_errors
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.crossval import FOLDS, SEED
from tessera.fit.models.fits import FitRows, Fits, shared
from tessera.fit.models.fitting import check_one_in_ten
from tessera.fit.models.groups import groups_of
from tessera.fit.models.protocols.registry import select as select_protocols
from tessera.fit.models.protocols.setting import Data, Setting
from tessera.fit.models.registry import create, select
from tessera.fit.models.samples import Table
from tessera.layouts.names import ALL_2MB, ALL_4KB
from tessera.results.schema.models import OF_PAIR
from tessera.results.write import frame_of


def run_protocols(
    table: Table,
    models: Iterable[str] = (),
    protocols: Sequence[str] = (),
    *,
    folds: Sequence[int] = FOLDS,
    seed: int = SEED,
    duplicate_of: Mapping[str, str] | None = None,
    one_in_ten: str = "flag",
    fits: Fits | None = None,
) -> pd.DataFrame:
    """Every named model under every named protocol (the nine, and all, if none is named).

    Args:
        folds: values of K; ``seed`` of the shuffle into folds.
        duplicate_of: duplicates that a manifest names, beside those with equal rows.
        one_in_ten: ``flag`` warns in `message`, ``refuse`` gives no numbers.
        fits: of ``table.fitted``, made by others that ask for the same ones.
    """
    fits = shared(fits, table.fitted)
    groups = groups_of(table.fitted, duplicate_of)
    data = Data(table.fitted, table.test, groups, seed, tuple(folds))
    chosen, rows = [create(name) for name in select(models)], []
    for protocol in select_protocols(protocols):
        found = protocol.settings(data)
        for model in chosen:
            if protocol.trains and not model.cross_validated:
                continue  # entirely determined by the anchors (section VI-C)
            fit = fits.of(model)
            for setting in found:
                row = {"model": model.name, "protocol": protocol.name, "setting": setting.name}
                judged = _judge(model, data, setting, one_in_ten, fit)
                rows.append(row | {"samples": len(data.samples)} | judged)
    return frame_of(OF_PAIR["protocols"], rows)


def _judge(model: RuntimeModel, data: Data, setting: Setting, one_in_ten: str, fit: FitRows) -> dict:
    if setting.message:
        return {"message": setting.message}
    target = data.test if setting.on_test_point else data.samples
    errors, sizes, warning, distinct = [], [], "", len(data.samples)
    for number, (train, test) in enumerate(setting.splits, 1):
        if not model.cross_validated:
            train = [data.samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)]
        asked = target.subset(test)
        sizes.append(len(train))
        distinct = min(distinct, data.samples.subset(train).effective_n)
        try:
            fitted = fit(train)
            warning = warning or check_one_in_ten(fitted, len(train), one_in_ten)
        except CannotFit as error:
            where = f"split {number} of {len(setting.splits)}: " if len(setting.splits) > 1 else ""
            return {"train_samples": len(train), "message": where + error.found}
        errors.append(relative_errors(asked.R, fitted.predict(asked.H, asked.M, asked.C)))
    pooled = np.concatenate(errors)
    judged = accuracy(pooled)
    return {
        "train_samples": min(sizes), "test_samples": len(pooled), "effective_n": distinct, "message": warning,
        "max_error": judged.max_error, "geomean_error": judged.geomean_error,
    }  # fmt: skip
