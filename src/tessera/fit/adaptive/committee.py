"""Query by committee (Seung, Opper, Sompolinsky, COLT 1992): several models and their disagreement.

A partial simulation gives H, M and C of a layout at a low cost; its runtime is expensive. If models that all
fit the layouts run so far predict different runtimes, at most one of them is right, and a run of that
layout shows which. Disagreement at a point is the range of the predictions over the mean known
runtime (a fraction). Models that the layouts do not determine yet are left out; with fewer than two models
there is no disagreement, and distance alone decides (`order.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples

COMMITTEE = ("poly1", "poly2", "poly3", "mosmodel")


def fit_committee(samples: Samples, names: Sequence[str] = COMMITTEE) -> list[RuntimeModel]:
    """The members that ``samples`` determine, fitted."""
    found = []
    for name in names:
        try:
            found.append(create(name).fit(samples))
        except CannotFit:  # abstains until there are more layouts
            continue
    return found


def disagreement(models: Sequence[RuntimeModel], known: Samples, H, M, C) -> np.ndarray:
    """(n,) range of the predictions at points (n,) over the mean runtime of ``known``."""
    if len(models) < 2:
        return np.zeros(len(H))
    predictions = np.stack([model.predict(H, M, C) for model in models])
    return np.ptp(predictions, axis=0) / known.R.mean()
