"""Copies of models fitted to parts of one table, each made once.

Leave-one-out intervals, K = n, leave-one-out of distinct layouts and 6 folds of 54 layouts need the same
fits. A fit depends on nothing but the model, its parameters and the rows, so sharing them changes no number.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone

from tessera.fit.models.base import RuntimeModel
from tessera.fit.models.samples import Samples

FitRows = Callable[[np.ndarray], RuntimeModel]  #: row numbers -> the copy fitted to them


class Fits:
    """Fits to subsets of ``samples``."""

    def __init__(self, samples: Samples):
        self.samples = samples
        self._made: dict[tuple[str, str], dict[bytes, RuntimeModel]] = {}

    def of(self, model: RuntimeModel) -> FitRows:
        """What fits copies of ``model`` (fitted or not; it stays as it is)."""
        made = self._made.setdefault((model.name, repr(sorted(model.get_params().items()))), {})

        def fit(rows: np.ndarray) -> RuntimeModel:
            key = np.asarray(rows, dtype=np.int64).tobytes()
            if key not in made:
                made[key] = clone(model).fit(self.samples.subset(rows))
            return made[key]

        return fit


def shared(fits: Fits | None, samples: Samples) -> Fits:
    """``fits``, or new ones if there are none yet.

    Raises:
        ValueError: they were made from other samples (a mistake in the program).
    """
    if fits is not None and fits.samples is not samples:
        raise ValueError("these fits belong to other samples")
    return fits or Fits(samples)
