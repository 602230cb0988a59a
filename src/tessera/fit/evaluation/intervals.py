"""Prediction intervals for every model, from errors on layouts that the fit has not seen.

Trained models: **jackknife+** (Barber, Candes, Ramdas, Tibshirani, Annals of Statistics 2021). The model is
fitted without each layout in turn (with its duplicates); r_i is the error on the layout left out. At a new
point the interval goes from the floor(a (n+1))-th smallest of mu_-i(x) - r_i to the
ceil((1 - a) (n+1))-th smallest of mu_-i(x) + r_i, with a = 1 - level. It covers at least 1 - 2a, and about
1 - a unless the fit is unstable.

Models defined by their anchors: **split conformal**. Nothing is trained on the other layouts, so the
prediction +- the ceil((1 - a) (n+1))-th smallest error on them covers at least 1 - a.

Both assume only that the new point is like the layouts (exchangeable with them): no normality, no straight
line. A design outside their hull is not, and its interval is then too narrow (`tessera predict` warns).
Layouts are chosen, not drawn, so coverage is a guide. With n layouts the highest possible level is
1 - 1/(n+1): 95% needs 19 distinct layouts beside the anchors, and with the two anchors alone there is no
interval. An interval that is not possible has no ends, and a message that says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.fit.evaluation.cross_validation import duplicate_groups
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples

JACKKNIFE, CONFORMAL = "jackknife+", "split conformal"
LEVEL = 0.95  #: default


@dataclass(frozen=True)
class PredictionInterval:
    """Ends in cycles, (n,) each, NaN where not possible; then ``message`` says why."""

    low: np.ndarray
    high: np.ndarray
    level: float
    method: str
    message: str = ""


@dataclass(frozen=True)
class UnseenErrors:
    """Errors on unseen layouts (n,) in cycles; ``others`` are the fits without each (jackknife+)."""

    method: str
    residuals: np.ndarray
    others: list[RuntimeModel] = field(default_factory=list)
    message: str = ""

    def interval(self, H, M, C, centre, level: float = LEVEL) -> PredictionInterval:
        """The interval at points H, M, C (counts, cycles), whose prediction is ``centre`` (cycles)."""
        centre = np.atleast_1d(np.asarray(centre, dtype=float))
        if not 0 < level < 1:
            raise TesseraError(f"interval of level {level:g}", "a level must be between 0 and 1", "try 0.95")
        n = len(self.residuals)
        rank = math.ceil(round(level * (n + 1), 9))  # of the upper end; round: 0.95 * 20 is 19, not 19.0..1
        message = self.message
        if not message and rank > n:
            needed = math.ceil(round(level / (1 - level), 9))
            message = f"level {level:.4g} needs errors on {needed} distinct layouts, but there are {n}"
            message += f": the highest possible level is {n / (n + 1):.3g}" if n else ""
        if message:
            nothing = np.full(centre.shape, np.nan)
            return PredictionInterval(nothing, nothing, level, self.method, message)
        if self.method == CONFORMAL:
            half = np.sort(self.residuals)[rank - 1]
            return PredictionInterval(centre - half, centre + half, level, self.method)
        unseen = np.stack([np.broadcast_to(m.predict(H, M, C), centre.shape) for m in self.others])
        low = np.sort(unseen - self.residuals[:, None], axis=0)[n - rank]
        high = np.sort(unseen + self.residuals[:, None], axis=0)[rank - 1]
        return PredictionInterval(low, high, level, self.method)


def unseen_errors(
    model: RuntimeModel, samples: Samples, fit: Callable[[np.ndarray], RuntimeModel] | None = None
) -> UnseenErrors:
    """Errors of a fitted model on layouts that it has not seen; each distinct layout counts once.

    ``fit(rows)`` gives the model fitted to a part of the samples; by default ``model.refit`` does.
    """
    fit = fit or (lambda rows: model.refit(samples.subset(rows)))
    groups = duplicate_groups(samples)
    distinct = [int(np.flatnonzero(groups == g)[0]) for g in range(groups.max() + 1)]
    if not model.cross_validated:
        anchors = {samples.layouts.index(name) for name in (ALL_4KB, ALL_2MB)}
        rows = [row for row in distinct if groups[row] not in {groups[a] for a in anchors}]
        part = samples.subset(rows)
        errors = np.abs(part.R - model.predict(part.H, part.M, part.C)) if rows else np.empty(0)
        reason = "" if rows else "the anchors define the model, and there is no other layout to test it on"
        return UnseenErrors(CONFORMAL, errors, message=reason)
    others, errors = [], []
    for row in distinct:
        try:
            other = fit(np.flatnonzero(groups != groups[row]))
        except CannotFit as error:
            reason = f"the model cannot be fitted without {samples.layouts[row]}: {error.found}"
            return UnseenErrors(JACKKNIFE, np.empty(0), message=reason)
        others.append(other)
        errors.append(abs(samples.R[row] - float(other.predict(*_point(samples, row)))))
    return UnseenErrors(JACKKNIFE, np.array(errors), others)


def _point(samples: Samples, row: int) -> tuple[float, float, float]:
    return float(samples.H[row]), float(samples.M[row]), float(samples.C[row])
