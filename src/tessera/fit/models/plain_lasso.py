"""The plain Lasso: Mosmodel's terms with the Lasso's own, shrunken coefficients.

MICRO'20 section VII-C names "the Lasso regularization method" and no second step, so it can also be
read like this: the same path, the same least-penalised point with at most five nonzero coefficients, but no
least squares refit. The Lasso pulls every coefficient towards zero by the penalty, so the fit is worse than
Mosmodel's in squared error; the comparison shows the benefit of the refit.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.design import raw_units
from tessera.fit.models.mosmodel import Mosmodel


class PlainLasso(Mosmodel):
    """Learned: as :class:`Mosmodel`, with the coefficients of the path itself."""

    name = "lasso"
    equation = "R = beta + at most 5 of the 19 monomials in H, M, C, coefficients of the Lasso"
    source = "MICRO'20 section VII-C, without the refit"

    def _coefficients(self, design, samples, chosen) -> dict[str, float]:
        picked = list(chosen.active) if chosen else []
        weights = chosen.coefficients if chosen else np.empty(0)
        return raw_units(self.name, design, samples, picked, weights)
