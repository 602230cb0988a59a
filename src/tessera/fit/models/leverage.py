"""How far a tested row lies from the rows that a model was fitted to, in the features that the model uses.

Features of a polynomial model are its fitted monomials; the constant is a column of the matrix, too.

- *Leverage* of a row is its diagonal element of the hat matrix X (X'X)^-1 X' over the training and the tested
  rows. It is 1 if this row alone determines a coefficient: a fit without it then says nothing about it.
- A tested row is an *extrapolation* if at least one feature lies outside the range of the training rows.
  Otherwise it is an *interpolation*.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import TERMS

HIGH = 0.9  #: rows above this leverage are shown apart
_DEPENDENT = 1e-10  #: singular values below this share of the largest are zero


def features(model: RuntimeModel, samples: Samples) -> np.ndarray | None:
    """(n, p) fitted monomials without the constant, in raw units; None if the model is no polynomial."""
    coefficients = getattr(model, "coefficients_", None)
    if coefficients is None:
        return None
    inputs = {symbol: getattr(samples, symbol) for symbol in ("C", "M", "H")}
    columns = [TERMS[name].values(inputs) for name in coefficients if name != "1"]
    return np.column_stack(columns) if columns else np.empty((len(samples), 0))


def leverages(columns: np.ndarray) -> np.ndarray:
    """(n,) diagonal of the hat matrix of ``columns`` (n, p) and a constant."""
    spread = columns.std(axis=0)
    kept = columns[:, spread > 0]
    scaled = (kept - kept.mean(axis=0)) / spread[spread > 0]
    matrix = np.column_stack([np.ones(len(columns)), scaled])
    basis, sizes, _ = np.linalg.svd(matrix, full_matrices=False)
    return (basis[:, sizes > _DEPENDENT * sizes[0]] ** 2).sum(axis=1)


def outside(train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """(m,) whether any feature of a tested row (m, p) lies outside the range of the training rows (n, p)."""
    return ((test < train.min(axis=0)) | (test > train.max(axis=0))).any(axis=1)
