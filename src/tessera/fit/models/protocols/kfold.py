"""Protocol `kfold`: K-fold cross validation (MICRO'20 section VI-C, the second method, Table 6).

The paper does not print K; the main number here is for K = 6. Scaling, selection and fit use the other folds
only. Duplicates of a layout stay in one fold: in different folds, a layout would be tested on its copy. So K
cannot exceed the number of distinct layouts; `leave-one-out` (each distinct layout in turn) is always
possible.
"""

from __future__ import annotations

from dataclasses import replace

from tessera.fit.models.protocols.setting import Data, Protocol, Setting, fold_splits


def settings(data: Data) -> list[Setting]:
    distinct = int(data.groups.max()) + 1
    alone = fold_splits(data, data.rows, distinct)
    return [*(fold_splits(data, data.rows, k) for k in data.folds), replace(alone, name="leave-one-out")]


KFOLD = Protocol("kfold", "K-fold cross validation, duplicates in one fold", settings, trains=True)
