"""Protocol `kfold`: K-fold cross validation (MICRO'20 section VI-C, the second method, Table 6).

K is not printed; 6 is the headline. Scaling, selection and fit see the other folds only. Duplicates of a
layout stay in one fold: across folds they would be tested on themselves. So fewer distinct layouts than K
make that K impossible, and `leave-one-out` (each distinct layout in turn) is the K that always exists.
"""

from __future__ import annotations

from dataclasses import replace

from tessera.fit.models.protocols.setting import Data, Protocol, Setting, fold_splits


def settings(data: Data) -> list[Setting]:
    distinct = int(data.groups.max()) + 1
    alone = fold_splits(data, data.rows, distinct)
    return [*(fold_splits(data, data.rows, k) for k in data.folds), replace(alone, name="leave-one-out")]


KFOLD = Protocol("kfold", "K-fold cross validation, duplicates in one fold", settings, trains=True)
