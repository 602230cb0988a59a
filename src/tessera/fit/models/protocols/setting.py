"""The result of a protocol: settings, each a list of (training rows, test rows) or a reason.

Errors of all splits of a setting are pooled: its `max_error` and `geomean_error` are equations (1) and (2)
over every tested sample, with the zero rule of `accuracy.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tessera.fit.models.groups import grouped_folds
from tessera.fit.models.samples import Samples

Split = tuple[np.ndarray, np.ndarray]  #: row numbers to fit, row numbers to test


@dataclass(frozen=True)
class Data:
    """``samples`` (n) may be fitted; ``test`` is the 1GB point; ``groups`` (n,) tells duplicates."""

    samples: Samples
    test: Samples | None
    groups: np.ndarray
    seed: int = 0
    folds: tuple[int, ...] = (3, 6, 9, 27, 54)

    @property
    def rows(self) -> np.ndarray:
        return np.arange(len(self.samples))


@dataclass(frozen=True)
class Setting:
    """``splits`` over the rows of the samples, or ``message`` why there are none.

    ``on_test_point``: test rows are those of the 1GB point instead.
    """

    name: str
    splits: Sequence[Split] = ()
    message: str = ""
    on_test_point: bool = False


@dataclass(frozen=True)
class Protocol:
    """``trains``: only models that learn from all their samples take part (section VI-C)."""

    name: str
    sentence: str
    settings: Callable[[Data], list[Setting]]
    trains: bool = False


def fold_splits(data: Data, rows: np.ndarray, folds: int) -> Setting:
    """K-fold over ``rows``, duplicates together."""
    _, groups = np.unique(data.groups[rows], return_inverse=True)
    distinct = int(groups.max()) + 1
    if folds > distinct:
        return Setting(str(folds), message=f"{folds} folds are not possible with {distinct} distinct layouts")
    tests = [rows[np.sort(part)] for part in grouped_folds(groups, folds, data.seed)]
    return Setting(str(folds), [(np.setdiff1d(rows, test), test) for test in tests])
