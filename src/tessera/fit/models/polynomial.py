"""poly1, poly2, poly3 (MICRO'20 paper, section VII-A and VII-B): polynomials in C by least squares.

R = beta + alpha_1 C + ... + alpha_d C^d over all samples; poly1 is the paper's linear regressor.
A polynomial of degree d needs d + 1 different values of C; with fewer the fit fails. It does
not fall back to a lower degree.
"""

from __future__ import annotations

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design import build, least_squares
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import monomials


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
        design = build(samples, monomials(self.degree, ("C",)))
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
