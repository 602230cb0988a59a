"""The input contract of the models as scikit-learn estimators: X has the columns H, M, C.

An array X is (n, 3): STLB hits and STLB misses (counts), walk cycles, in that order, plain counts of one
run. A data frame is read by the names of its columns: ``H, M, C`` or ``stlb_hits, stlb_misses,
walk_cycles`` (docs/contracts.md), in any order, beside any others. y (n,) is the runtime in cycles.

Models that are lines through the 4KB and 2MB runs must know which rows those are: pass ``layouts``
(n names), or a data frame whose index holds layout names. Nothing is guessed from the numbers.
"""

from __future__ import annotations

import numpy as np

from tessera.core.errors import TesseraError
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUT_COLUMNS
from tessera.layouts.model import canonical_name

ORDER = ("H", "M", "C")  #: the columns of X


class InputError(TesseraError, ValueError):
    """X or y break the contract; also a ValueError, which is what scikit-learn's tools expect."""


def columns_of(estimator, X, *, reset: bool) -> np.ndarray:
    """X as (n, 3) floats in the order of :data:`ORDER`, finite and not negative.

    Sets (``reset``) or checks ``n_features_in_`` and ``feature_names_in_`` of ``estimator``.

    Raises:
        InputError: a column is missing, the width is not 3, or a number is negative.
        ValueError, TypeError: scikit-learn's own refusals (sparse, complex, empty, not finite).
    """
    from sklearn.utils.validation import validate_data

    if hasattr(X, "columns"):
        X = _named(X)
    X = validate_data(estimator, X, reset=reset, dtype=float, ensure_min_samples=2 if reset else 1)
    if X.size and X.min() < 0:
        raise InputError(
            f"X of model '{estimator.name}': Negative values in data passed to {type(estimator).__name__}",
            f"the least is {X.min():g}; H, M, C are counts",
            "pass counts of one run, not standardised columns: the models scale by themselves",
        )
    if X.shape[1] != len(ORDER):
        raise InputError(
            f"X of model '{estimator.name}'",
            f"{X.shape[1]} feature(s) (shape={X.shape} while a minimum of {len(ORDER)} is required):"
            " the columns are H, M, C",
            "pass an array (n, 3) in that order, or a data frame with these columns",
        )
    return X


def samples_of(estimator, X, y, layouts=None) -> Samples:
    """Samples from X, y and the names of the layouts (default: a data frame's index, else row numbers)."""
    from sklearn.utils.validation import _num_samples, check_array, column_or_1d

    if y is None:
        raise InputError(
            f"fit model '{estimator.name}': requires y to be passed, but the target y is None",
            "the runtimes are missing",
            "pass fit(X, y) with y in cycles",
        )
    if layouts is None and hasattr(X, "index") and hasattr(X, "columns"):
        layouts = [str(name) for name in X.index]
    X = columns_of(estimator, X, reset=True)
    y = column_or_1d(y, warn=True)
    runtime = check_array(y, ensure_2d=False, dtype=float, input_name="y")
    if _num_samples(X) != len(runtime):
        raise InputError(
            f"fit model '{estimator.name}': Found input variables with inconsistent numbers of samples",
            f"{len(X)} rows of X, {len(runtime)} runtimes",
            "pass one runtime per row",
        )
    if runtime.min() <= 0:
        raise InputError(
            f"y of model '{estimator.name}'",
            f"a runtime of {runtime.min():g}; runtimes are greater than 0",
            "pass cycles of each run (Only positive targets are supported)",
        )
    if layouts is None:  # nameless rows have the order of their values, whatever order they come in
        order = np.lexsort((runtime, *X.T))
        X, runtime = X[order], runtime[order]
    names = [str(row) for row in range(len(X))] if layouts is None else list(map(str, layouts))
    if len(names) != len(X):
        raise InputError(
            f"layouts of model '{estimator.name}'", f"{len(names)} names, {len(X)} rows", "name every row"
        )
    return Samples(tuple(canonical_name(n) for n in names), *(X[:, i] for i in range(3)), runtime)


def _named(frame):
    """The three columns of a data frame, in order, under the names that it uses."""
    for names in (ORDER, tuple(INPUT_COLUMNS[symbol] for symbol in ORDER)):
        if set(names) <= set(frame.columns):
            return frame[list(names)]
    raise InputError(
        "X as a data frame",
        f"columns {', '.join(map(str, frame.columns))}",
        "name three of them H, M, C or stlb_hits, stlb_misses, walk_cycles",
    )
