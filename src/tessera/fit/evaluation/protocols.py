"""Protocols: to which layouts a model is fitted and on which it is tested; the table `protocols.csv`.

A new protocol is a function that gives settings, a `CrossValidationProtocol`, and its name in `PROTOCOLS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
import pandas as pd

from tessera.core.errors import unknown_name
from tessera.core.layouts.layout import ALL_1GB, ALL_2MB, ALL_4KB
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.core.results.table_io import frame_of
from tessera.fit.evaluation.accuracy import accuracy, relative_errors
from tessera.fit.evaluation.cross_validation import (
    FOLDS,
    SEED,
    FitRows,
    Fits,
    duplicate_groups,
    grouped_folds,
    shared_fits,
)
from tessera.fit.models.base import CannotFit, RuntimeModel, check_one_in_ten
from tessera.fit.models.registry import create, select_models
from tessera.fit.models.samples import Samples, SamplesTable

# The result of a protocol: settings, each a list of (training rows, test rows) or a reason.
#
# Errors of all splits of a setting are pooled: its `max_error` and `geomean_error` are equations (1) and (2)
# over every tested sample, with the zero rule of `accuracy`.

Split = tuple[np.ndarray, np.ndarray]  #: row numbers to fit, row numbers to test


@dataclass(frozen=True)
class ProtocolData:
    """``samples`` (n) may be fitted; ``test`` is the 1GB point; ``groups`` (n,) tells duplicates."""

    samples: Samples
    test: Samples | None
    groups: np.ndarray
    seed: int = SEED
    folds: tuple[int, ...] = FOLDS

    @property
    def rows(self) -> np.ndarray:
        return np.arange(len(self.samples))


@dataclass(frozen=True)
class ProtocolSetting:
    """``splits`` over the rows of the samples, or ``message`` why there are none.

    ``on_test_point``: test rows are those of the 1GB point instead.
    """

    name: str
    splits: Sequence[Split] = ()
    message: str = ""
    on_test_point: bool = False


@dataclass(frozen=True)
class CrossValidationProtocol:
    """``trains``: only models that learn from all their samples take part (section VI-C)."""

    name: str
    sentence: str
    settings: Callable[[ProtocolData], list[ProtocolSetting]]
    trains: bool = False


def fold_splits(data: ProtocolData, rows: np.ndarray, folds: int) -> ProtocolSetting:
    """K-fold over ``rows``, duplicates together."""
    _, groups = np.unique(data.groups[rows], return_inverse=True)
    distinct = int(groups.max()) + 1
    if folds > distinct:
        return ProtocolSetting(
            str(folds), message=f"{folds} folds are not possible with {distinct} distinct layouts"
        )
    tests = [rows[np.sort(part)] for part in grouped_folds(groups, folds, data.seed)]
    return ProtocolSetting(str(folds), [(np.setdiff1d(rows, test), test) for test in tests])


# Protocol `all`: fitted to and tested on every layout (MICRO'20 section VI-C, the first method).


def all_settings(data: ProtocolData) -> list[ProtocolSetting]:
    return [ProtocolSetting("", [(data.rows, data.rows)])]


ALL = CrossValidationProtocol("all", "fitted to and tested on all layouts", all_settings)


# Protocol `kfold`: K-fold cross validation (MICRO'20 section VI-C, the second method, Table 6).
#
# The paper does not print K; the main number here is for K = 6. Scaling, selection and fit use the other
# folds only. Duplicates of a layout stay in one fold: in different folds, a layout would be tested on its
# copy. So K cannot exceed the number of distinct layouts; `leave-one-out` (each distinct layout in turn) is
# always possible.


def kfold_settings(data: ProtocolData) -> list[ProtocolSetting]:
    distinct = int(data.groups.max()) + 1
    alone = fold_splits(data, data.rows, distinct)
    return [*(fold_splits(data, data.rows, k) for k in data.folds), replace(alone, name="leave-one-out")]


KFOLD = CrossValidationProtocol(
    "kfold", "K-fold cross validation, duplicates in one fold", kfold_settings, trains=True
)


# Protocol `hundred`: 6-fold cross validation with more layouts (MICRO'20 section VI-C).
#
# The paper says that 54 samples were sometimes not enough for cross validation and that up to 100 were used.
# Settings are the numbers of layouts, 54, 70, 85 and 100: the first 54 by name of the paper's own, then
# further random windows (`random-9` and up; `tessera layouts generate --random-count 55` makes them).

HUNDRED_SIZES = (54, 70, 85, 100)
HUNDRED_FOLDS = 6
PAPERS_RANDOM = 9  #: random-0..8 are among the 54


def hundred_settings(data: ProtocolData) -> list[ProtocolSetting]:
    layouts = data.samples.layouts
    extra = [row for row in data.rows if _number(layouts[row]) >= PAPERS_RANDOM]
    extra.sort(key=lambda row: _number(layouts[row]))
    base = [row for row in data.rows if row not in set(extra)]
    ordered = np.array([*base, *extra])
    found = []
    for size in HUNDRED_SIZES:
        if size > len(ordered):
            reason = (
                f"needs {size} layouts, there are {len(ordered)}: tessera layouts generate --random-count"
            )
            found.append(ProtocolSetting(str(size), message=f"{reason} {size - 45}"))
        else:
            found.append(replace(fold_splits(data, np.sort(ordered[:size]), HUNDRED_FOLDS), name=str(size)))
    return found


def _number(layout: str) -> int:
    """The number of a random window, -1 for any other layout."""
    head, _, tail = layout.partition("-")
    return int(tail) if head == "random" and tail.isdigit() else -1


HUNDRED = CrossValidationProtocol(
    "hundred", "6-fold cross validation with up to 100 layouts", hundred_settings, trains=True
)


# Protocol `heuristics`: fitted to layouts of some heuristics, tested on those of another.
#
# Growing, random and sliding windows (MICRO'20 section VI-B) place huge pages differently; layouts of one
# heuristic are alike, and a random fold has siblings of its layouts on the other side. Settings are
# `growing->random` and so on for each ordered pair, and `growing+random->sliding` for two against one. A
# layout's heuristic is the first word of its name. Duplicates of a training layout are not tested.
#
# Models defined by the 4KB and 2MB runs get these two runs in every setting; the other models are fitted to
# the named heuristics only.

HEURISTIC_NAMES = ("growing", "random", "sliding")


def heuristics_settings(data: ProtocolData) -> list[ProtocolSetting]:
    own = np.array([name.split("-")[0] for name in data.samples.layouts])
    found = [
        _heuristics_setting(data, own, (first,), second) for first, second in permutations(HEURISTIC_NAMES, 2)
    ]
    for tested in HEURISTIC_NAMES:
        found.append(_heuristics_setting(data, own, tuple(h for h in HEURISTIC_NAMES if h != tested), tested))
    return found


def _heuristics_setting(
    data: ProtocolData, own: np.ndarray, trained: tuple[str, ...], tested: str
) -> ProtocolSetting:
    name = f"{'+'.join(trained)}->{tested}"
    train = np.flatnonzero(np.isin(own, trained))
    test = np.flatnonzero((own == tested) & ~np.isin(data.groups, data.groups[train]))
    for rows, which in ((train, "to fit"), (test, "to test")):
        if not len(rows):
            return ProtocolSetting(
                name, message=f"no layouts {which}: names start with {', '.join(HEURISTIC_NAMES)}"
            )
    return ProtocolSetting(name, [(train, test)])


ACROSS_HEURISTICS = CrossValidationProtocol(
    "heuristics", "fitted to some heuristics, tested on another", heuristics_settings
)


# Protocol `1gb`: fitted to the layouts of 4KB and 2MB pages, tested on 1GB pages (section VII-D).


def one_gb_settings(data: ProtocolData) -> list[ProtocolSetting]:
    if not data.test:
        return [ProtocolSetting("", message="there is no layout 1gb", on_test_point=True)]
    return [ProtocolSetting("", [(data.rows, np.arange(len(data.test)))], on_test_point=True)]


ONE_GB = CrossValidationProtocol(ALL_1GB, "fitted to all layouts, tested on 1GB pages only", one_gb_settings)


# The protocols by name, in the order of the table.


def protocol_registry(*protocols: CrossValidationProtocol) -> dict[str, CrossValidationProtocol]:
    """{name: protocol}; two of one name are a mistake in the program, so ValueError."""
    table: dict[str, CrossValidationProtocol] = {}
    for protocol in protocols:
        if protocol.name in table:
            raise ValueError(f"protocol name '{protocol.name}' registered twice")
        table[protocol.name] = protocol
    return table


PROTOCOLS = protocol_registry(ALL, KFOLD, HUNDRED, ACROSS_HEURISTICS, ONE_GB)


def select_protocols(names=()) -> list[CrossValidationProtocol]:
    """The named protocols in the order of the registry, all of them if none is named."""
    for name in names:
        if name not in PROTOCOLS:
            raise unknown_name("protocol", name, list(PROTOCOLS))
    return [protocol for name, protocol in PROTOCOLS.items() if name in names or not names]


# Run protocols on models: the table `protocols.csv`.
#
# Columns: `model,protocol,setting,samples,train_samples,test_samples,max_error,geomean_error,effective_n,
# message`. `samples` may be fitted in all; `train_samples` is the smallest training set of a setting,
# `effective_n` its distinct (H, M, C) rows; `test_samples` are all tested ones. Errors are fractions.
# `message` says why a row has no numbers, or warns beside them (fewer than ten distinct samples per
# coefficient).


def run_protocols(
    table: SamplesTable,
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
    fits = shared_fits(fits, table.fitted)
    groups = duplicate_groups(table.fitted, duplicate_of)
    data = ProtocolData(table.fitted, table.test, groups, seed, tuple(folds))
    chosen, rows = [create(name) for name in select_models(models)], []
    for protocol in select_protocols(protocols):
        found = protocol.settings(data)
        for model in chosen:
            if protocol.trains and not model.cross_validated:
                continue  # entirely determined by the anchors (section VI-C)
            fit = fits.of(model)
            for setting in found:
                row = {"model": model.name, "protocol": protocol.name, "setting": setting.name}
                judged = _judge_setting(model, data, setting, one_in_ten, fit)
                rows.append(row | {"samples": len(data.samples)} | judged)
    return frame_of(MODELS_OF_PAIR["protocols"], rows)


def _judge_setting(
    model: RuntimeModel, data: ProtocolData, setting: ProtocolSetting, one_in_ten: str, fit: FitRows
) -> dict:
    target = data.test if setting.on_test_point else data.samples
    if setting.message or target is None:
        return {"message": setting.message}
    errors, sizes, warning, distinct = [], [], "", len(data.samples)
    for number, (train, test) in enumerate(setting.splits, 1):
        if not model.cross_validated:
            train = np.array([data.samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)])
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
