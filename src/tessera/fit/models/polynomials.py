"""Polynomials in C: by least squares (poly1 to poly3), with the least maximal error, and monotone."""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design_matrix import AGREEMENT, least_squares, power_of_two_above, standardised_terms
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import monomials, predict_runtime

# poly1, poly2, poly3 (MICRO'20 paper, section VII-A and VII-B): polynomials in C by least squares.
#
# R = beta + alpha_1 C + ... + alpha_d C^d over all samples; poly1 is the paper's linear regressor.
# A polynomial of degree d needs d + 1 different values of C; with fewer the fit fails. It does
# not fall back to a lower degree.


class PolynomialInC(RuntimeModel):
    """Least squares of degree ``degree`` (set by the subclasses) in the walk cycles."""

    degree: int
    cross_validated = True
    inputs = ("C",)

    def fit_samples(self, samples: Samples) -> PolynomialInC:
        different = len(np.unique(samples.C))
        if different < self.degree + 1:
            raise CannotFit(
                self.name,
                f"{self.degree + 1} coefficients but {different} different values of C"
                f" in {len(samples)} samples",
                "add layouts with other walk cycles, or use a polynomial of lower degree",
            )
        design = standardised_terms(samples, monomials(self.degree, ("C",)))
        picked = list(range(len(design.terms)))
        if len(picked) < self.degree:
            raise CannotFit(
                self.name,
                f"all layouts have the same C within rounding ({samples.C.min():.17g} to"
                f" {samples.C.max():.17g} walk cycles)",
                "add layouts with other walk cycles",
                code="constant-c",
            )
        return self._learn(least_squares(self.name, design, samples, picked))


class Poly1(PolynomialInC):
    name, degree = "poly1", 1
    equation = "R = beta + a1 C, least squares"
    source = "MICRO'20 section VII-A"


class Poly2(PolynomialInC):
    name, degree = "poly2", 2
    equation = "R = beta + a1 C + a2 C^2, least squares"
    source = "MICRO'20 section VII-B"


class Poly3(PolynomialInC):
    name, degree = "poly3", 3
    equation = "R = beta + a1 C + a2 C^2 + a3 C^3, least squares"
    source = "MICRO'20 section VII-B"


# The minimax cubic: the polynomial in C whose largest relative error is least.
#
# poly3 minimises the mean squared error while the paper judges by the largest relative error, equation (1)
# (section VII-C states this difference). This model minimises equation (1) itself over the cubics in C:
# minimise t subject to |R_i - p(C_i)| <= t R_i for every sample, a linear program in 5 variables. So no
# cubic in C can have a smaller max_error on the fitted samples; it is a floor for that family.
#
# Cubic in C only: with all 19 monomials of (H, M, C) the program would fit 54 samples through 19
# coefficients, against the one-in-ten rule, and has no way to choose five.

MINIMAX_DEGREE = 3
CUBIC_TERMS = ("1", "C", "C^2", "C^3")
MINIMAX_TOLERANCE = 1e-10  #: feasibility of the linear program, as a share of the runtime


class Minimax(RuntimeModel):
    """Learned: ``coefficients_`` of 1, C, C^2, C^3; ``details_["max_error"]``, the optimum."""

    name = "minimax"
    equation = "R = beta + a1 C + a2 C^2 + a3 C^3, least max |R - R^| / R"
    source = "equation (1) of MICRO'20 as the objective (not in the paper)"
    cross_validated = True

    def fit_samples(self, samples: Samples) -> Minimax:
        from scipy.optimize import linprog  # 0.3 s to import

        different = len(np.unique(samples.C))
        if different < MINIMAX_DEGREE + 1:
            raise CannotFit(
                self.name,
                f"{MINIMAX_DEGREE + 1} coefficients but {different} different values of C",
                "add layouts with other walk cycles, or use a model with fewer terms",
            )
        scale = power_of_two_above(samples.C)
        # Chebyshev polynomials on the samples' range keep the program well conditioned
        low, high = samples.C.min() / scale, samples.C.max() / scale
        basis = np.polynomial.Chebyshev.basis
        columns = [basis(k, domain=[low, high]) for k in range(MINIMAX_DEGREE + 1)]
        values = np.column_stack([column(samples.C / scale) for column in columns])
        mean = samples.R.mean()
        relative = values * (mean / samples.R)[:, None]
        ones = np.ones((len(samples), 1))
        found = linprog(
            c=[0.0] * (MINIMAX_DEGREE + 1) + [1.0],
            A_ub=np.block([[relative, -ones], [-relative, -ones]]),
            b_ub=np.concatenate([np.ones(len(samples)), -np.ones(len(samples))]),
            bounds=[(None, None)] * (MINIMAX_DEGREE + 1) + [(0, None)],
            method="highs-ds",
            options={
                "primal_feasibility_tolerance": MINIMAX_TOLERANCE,
                "dual_feasibility_tolerance": MINIMAX_TOLERANCE,
            },
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
        powers = np.zeros(MINIMAX_DEGREE + 1)
        powers[: len(cubic.coef)] = cubic.coef
        raw = {term: float(powers[k] / scale**k) for k, term in enumerate(CUBIC_TERMS)}
        lost = np.abs(predict_runtime(raw, samples.H, samples.M, samples.C) - values @ weights).max() / mean
        if lost > AGREEMENT:
            raise CannotFit(
                self.name,
                f"rounding of the coefficients changes predictions by {lost:.1e} of the mean runtime",
                "the walk cycles vary too little for a cubic; add layouts that differ more",
                code="ill-conditioned",
            )
        return self._learn(raw, max_error=float(found.x[-1]))


# The monotone non-negative cubic in C: least squares among cubics that never fall and never go below zero.
#
# More walk cycles cannot make a run shorter, and no runtime is negative. poly3 can violate both rules,
# mostly just outside its samples. Here p(C) = b + c1 C + c2 C^2 + c3 C^3 is fitted by least squares subject
# to p(0) >= 0 and p'(C) >= 0 for every C >= 0, not at samples only.
#
# p' is a parabola, so it is non-negative on C >= 0 exactly if c1, c3 >= 0 and (c2 >= 0 or
# c2^2 <= 3 c1 c3). The problem is convex, and its optimum is one of these, of which the best is taken:
#
# 1. the plain least squares cubic (with or without b) if it satisfies the rules;
# 2. non-negative least squares on 1, C, C^2, C^3 (the part of the set where c2 >= 0);
# 3. b + a (C - u C^2 + u^2 C^3 / 3), a, b >= 0: the cubics with c2^2 = 3 c1 c3, whose slope touches zero
#    once, at C = 1/u; u by a search in one dimension.

MONOTONE_GRID = 241  #: angles tried for u = tan(angle) before the search is refined


class Monotone(RuntimeModel):
    """Learned: ``coefficients_`` of 1, C, C^2, C^3 (zeros left out)."""

    name = "monotone"
    equation = "R = beta + a1 C + a2 C^2 + a3 C^3, least squares, beta >= 0, never falling"
    source = "constrained least squares (not in the paper)"
    cross_validated = True

    def fit_samples(self, samples: Samples) -> Monotone:
        different = len(np.unique(samples.C))
        if different < 4:
            raise CannotFit(
                self.name,
                f"4 coefficients but {different} different values of C",
                "add layouts with other walk cycles, or use a model with fewer terms",
            )
        scale, mean = power_of_two_above(samples.C), samples.R.mean()
        x, y = samples.C / scale, samples.R / mean
        powers = np.column_stack([np.ones_like(x), x, x * x, x * x * x])
        best = min(monotone_candidates(powers, y), key=lambda c: float(np.sum((powers @ c - y) ** 2)))
        raw = {term: float(mean * best[k] / scale**k) for k, term in enumerate(CUBIC_TERMS) if best[k]}
        return self._learn(raw or {"1": 0.0})


def monotone_candidates(powers: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Coefficient vectors (4,), all admissible, one of which is the optimum; ``powers`` is (n, 4)."""
    from scipy.optimize import minimize_scalar, nnls  # 0.3 s to import

    free = np.linalg.lstsq(powers, y, rcond=None)[0]
    if never_falls(free):
        return [free]
    through_zero = np.append(0.0, np.linalg.lstsq(powers[:, 1:], y, rcond=None)[0])
    found = [c for c in (through_zero,) if never_falls(c)]
    found.append(nnls(powers, y)[0])

    def touching(angle: float) -> tuple[float, np.ndarray]:
        u = np.tan(angle)
        # divided by 1 + u^2, so that both ends (the line, the pure cube) are ordinary points
        shape = np.array([0.0, 1.0, -u, u * u / 3]) / (1 + u * u)
        weights, residual = nnls(np.column_stack([powers[:, 0], powers @ shape]), y)
        return residual, np.append(weights[0], weights[1] * shape[1:])

    angles = np.linspace(0, np.pi / 2, MONOTONE_GRID)[:-1]
    nearest = int(np.argmin([touching(angle)[0] for angle in angles]))
    bounds = angles[max(0, nearest - 1)], angles[min(len(angles) - 1, nearest + 1)]
    refined = minimize_scalar(
        lambda a: touching(a)[0], bounds=bounds, method="bounded", options={"xatol": 1e-10}
    )
    return [*found, touching(angles[nearest])[1], touching(float(refined.x))[1]]


def never_falls(c: np.ndarray) -> bool:
    """Non-negative at 0 and never falling at any C >= 0."""
    return bool(c[0] >= 0 and c[1] >= 0 and c[3] >= 0 and (c[2] >= 0 or c[2] ** 2 <= 3 * c[1] * c[3]))
