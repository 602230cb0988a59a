"""The minimax cubic: the polynomial in C whose largest relative error is least.

poly3 minimises the mean squared error while the paper judges by the largest relative error, equation (1)
(section VII-C states this difference). This model minimises equation (1) itself over the cubics in C:
minimise t subject to |R_i - p(C_i)| <= t R_i for every sample, a linear program in 5 variables. So no
cubic in C can have a smaller max_error on the fitted samples; it is a floor for that family.

Cubic in C only: with all 19 monomials of (H, M, C) the program would fit 54 samples through 19
coefficients, against the one-in-ten rule, and has no way to choose five.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design import AGREEMENT, power_of_two_above
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import evaluate

DEGREE = 3
TOLERANCE = 1e-10  #: feasibility of the linear program, as a share of the runtime


class Minimax(RuntimeModel):
    """Learned: ``coefficients_`` of 1, C, C^2, C^3; ``details_["max_error"]``, the optimum."""

    name = "minimax"
    equation = "R = beta + a1 C + a2 C^2 + a3 C^3, least max |R - R^| / R"
    source = "equation (1) of MICRO'20 as the objective (not in the paper)"
    cross_validated = True

    def fit_samples(self, samples: Samples) -> Minimax:
        from scipy.optimize import linprog  # 0.3 s to import

        different = len(np.unique(samples.C))
        if different < DEGREE + 1:
            raise CannotFit(
                self.name,
                f"{DEGREE + 1} coefficients but {different} different values of C",
                "add layouts with other walk cycles, or use a model with fewer terms",
            )
        scale = power_of_two_above(samples.C)
        # Chebyshev polynomials on the samples' range keep the program well conditioned
        low, high = samples.C.min() / scale, samples.C.max() / scale
        basis = np.polynomial.Chebyshev.basis
        columns = [basis(k, domain=[low, high]) for k in range(DEGREE + 1)]
        values = np.column_stack([column(samples.C / scale) for column in columns])
        mean = samples.R.mean()
        relative = values * (mean / samples.R)[:, None]
        ones = np.ones((len(samples), 1))
        found = linprog(
            c=[0.0] * (DEGREE + 1) + [1.0],
            A_ub=np.block([[relative, -ones], [-relative, -ones]]),
            b_ub=np.concatenate([np.ones(len(samples)), -np.ones(len(samples))]),
            bounds=[(None, None)] * (DEGREE + 1) + [(0, None)],
            method="highs-ds",
            options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
        )
        if found.status != 0:
            raise CannotFit(
                self.name,
                f"the linear program found no optimum: {found.message}",
                "the walk cycles vary too little for a cubic; use poly1",
                code="no-optimum",
            )
        weights = mean * found.x[:-1]
        cubic = np.polynomial.Chebyshev(weights, domain=[low, high]).convert(kind=np.polynomial.Polynomial)
        powers = np.zeros(DEGREE + 1)
        powers[: len(cubic.coef)] = cubic.coef
        terms = ["1", "C", "C^2", "C^3"]
        raw = {term: float(powers[k] / scale**k) for k, term in enumerate(terms)}
        lost = np.abs(evaluate(raw, samples.H, samples.M, samples.C) - values @ weights).max() / mean
        if lost > AGREEMENT:
            raise CannotFit(
                self.name,
                f"rounding of the coefficients changes predictions by {lost:.1e} of the mean runtime",
                "the walk cycles vary too little for a cubic; add layouts that differ more",
                code="ill-conditioned",
            )
        return self._learn(raw, max_error=float(found.x[-1]))
