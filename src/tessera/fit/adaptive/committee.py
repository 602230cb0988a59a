"""Query by committee (Seung, Opper, Sompolinsky, COLT 1992): models that vote, and how far apart they are.

H, M and C of a layout come from a partial simulation, which is cheap; its runtime is what costs. Where
models that all fit the layouts run so far predict different runtimes, at most one of them can be right, and
running that layout tells which. Disagreement at a point is the range of the predictions over the mean known
runtime (a fraction). Members that the layouts do not determine yet abstain; with fewer than two there is no
disagreement, and distance alone decides (`order.py`).
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
