"""Mosmodel (MICRO'20, section VII-C) and two other readings of it: the plain Lasso, its authors' code."""

from __future__ import annotations

import warnings

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.design_matrix import (
    CONSTANT_TOLERANCE,
    StandardisedTerms,
    least_squares,
    raw_units,
    standardised_terms,
)
from tessera.fit.models.lasso import FLOOR, PathError, Segment, lasso_path, least_penalised
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS, Monomial, monomials

# Mosmodel (equation (3) of the paper): a sparse cubic in (H, M, C).
#
# R = beta + the 19 monomials of degree 1..3, of which at most five get a coefficient (section VI-C:
# 54 samples and the one-in-ten rule; the intercept does not count). The recipe, pinned here since the
# paper names the Lasso but not its settings:
#
# 1. standardise the monomials over the samples (`design_matrix`, ddof = 0);
# 2. follow the exact Lasso path down to `floor` times its largest penalty (`lasso`);
# 3. take the least-penalised point with at most `max_nonzero` nonzero coefficients;
# 4. refit the selected monomials by least squares and return to raw units.
#
# No inner cross-validation and no randomness. Constant monomials (H is always 0, say) are never
# selected; if all runtimes are equal none is, and the model is their mean.


class Mosmodel(RuntimeModel):
    """Learned: ``coefficients_`` of 1 and of the selected monomials.

    ``details_``: ``penalty`` and ``largest_penalty`` of the path (cycles), ``knots`` passed,
    ``constant_terms``; from the base class ``effective_n`` (distinct samples) and ``one_in_ten`` (ten of
    them per coefficient, intercept aside).

    Args:
        max_nonzero: most coefficients kept, the intercept aside (paper: 5).
        floor: where the path ends, as a share of its largest penalty.
    """

    name = "mosmodel"
    label = "Mosmodel"
    equation = "R = beta + at most 5 of the 19 monomials of degree <= 3 in H, M, C"
    source = "MICRO'20 section VII-C, equation (3)"
    cross_validated = True

    def __init__(self, max_nonzero: int = 5, floor: float = FLOOR):
        self.max_nonzero = max_nonzero
        self.floor = floor

    def fit_samples(self, samples: Samples) -> Mosmodel:
        if len(samples) < self.max_nonzero + 1:
            raise CannotFit(
                self.name,
                f"{self.max_nonzero + 1} coefficients but {len(samples)} samples",
                "add layouts; the one-in-ten rule asks for 10 samples per coefficient",
            )
        design = standardised_terms(samples, monomials(3))
        segments, chosen = self._select(design, samples)
        return self._learn(
            self._coefficients(design, samples, chosen),
            penalty=float(chosen.lower) if chosen else None,
            largest_penalty=float(segments[0].upper) if segments else None,
            knots=len(segments),
            constant_terms=design.constant,
        )

    def _select(self, design: StandardisedTerms, samples: Samples) -> tuple[list[Segment], Segment | None]:
        """The path, and its least-penalised stretch within the cap (None: the model is a constant)."""
        if np.ptp(samples.R) <= CONSTANT_TOLERANCE * samples.R.max():
            return [], None
        try:
            segments = lasso_path(design.columns, samples.R - samples.R.mean(), self.floor)
        except PathError as error:
            raise CannotFit(self.name, str(error), "please report these samples as a bug") from error
        return segments, least_penalised(segments, self.max_nonzero)

    def _coefficients(
        self, design: StandardisedTerms, samples: Samples, chosen: Segment | None
    ) -> dict[str, float]:
        """Step 4."""
        return least_squares(self.name, design, samples, list(chosen.active) if chosen else [])


# The plain Lasso: Mosmodel's terms with the Lasso's own, shrunken coefficients.
#
# MICRO'20 section VII-C names "the Lasso regularization method" and no second step, so it can also be read
# like this: the same path, the same least-penalised point with at most five nonzero coefficients, but no
# least squares refit. The Lasso pulls every coefficient towards zero by the penalty, so the fit is worse
# than Mosmodel's in squared error; the comparison shows the benefit of the refit.


class PlainLasso(Mosmodel):
    """Learned: as :class:`Mosmodel`, with the coefficients of the path itself."""

    name = "lasso"
    equation = "R = beta + at most 5 of the 19 monomials in H, M, C, coefficients of the Lasso"
    source = "MICRO'20 section VII-C, without the refit"

    def _coefficients(self, design, samples, chosen) -> dict[str, float]:
        picked = list(chosen.active) if chosen else []
        weights = chosen.coefficients if chosen else np.empty(0)
        return raw_units(self.name, design, samples, picked, weights)


# Mosmodel as its authors published it beside MICRO'20: a Lasso whose penalty cross validation chooses.
#
# The paper prints no settings of its Lasso (section VII-C). The repository technion-csl/mosmodel at commit
# 18be704 does, and these are taken from there as facts: no code of it is used.
#
# 1. Divide C, M, H each by its largest value over the samples (`MaxAbsScaler`).
# 2. Form the 19 monomials of degree 1 to 3 (`PolynomialFeatures(3, include_bias=False)`). They are neither
#    centred nor divided by their deviations, and R stays in cycles.
# 3. Follow the Lasso path by least angles, and take the penalty with the least mean squared error in
#    scikit-learn's own folds (`LassoLarsCV(fit_intercept=True)`, all else by default: five folds of
#    neighbouring rows, so the order of the samples matters; here it is that of the layouts' names).
#
# There is no cap on the number of terms and no refit. So a fit often has more than five terms, and the rule
# of ten samples per coefficient marks it. Unlike `mosmodel`, the selection belongs to scikit-learn, and may
# change with its version.

AUTHORS_DEGREE = 3
AUTHORS_FOLDS = 5  #: what LassoLarsCV uses by default, from scikit-learn 0.22 on


class MosmodelAuthors(RuntimeModel):
    """Learned: ``coefficients_`` of 1 and of each monomial that the Lasso keeps.

    ``details_``: ``penalty`` (cycles) that the folds chose, ``warnings`` of scikit-learn during the fit.
    """

    name = "mosmodel-authors"
    label = "Mosmodel (authors)"
    equation = "R = beta + any of the 19 monomials of degree <= 3 in H, M, C, Lasso by cross validation"
    source = "technion-csl/mosmodel@18be704"
    cross_validated = True

    def fit_samples(self, samples: Samples) -> MosmodelAuthors:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LassoLarsCV
        from sklearn.preprocessing import MaxAbsScaler, PolynomialFeatures

        if len(samples) < AUTHORS_FOLDS:
            raise CannotFit(
                self.name,
                f"the penalty needs {AUTHORS_FOLDS} folds but there are {len(samples)} samples",
                "add layouts; the one-in-ten rule asks for 10 samples per coefficient",
                code="few-samples",
            )
        inputs = np.column_stack([getattr(samples, symbol) for symbol in INPUTS])
        scaler, expand = MaxAbsScaler(), PolynomialFeatures(AUTHORS_DEGREE, include_bias=False)
        columns = expand.fit_transform(scaler.fit_transform(inputs))
        if not np.ptp(samples.R) or not np.ptp(columns, axis=0).any():
            equal = "H, M, C" if np.ptp(samples.R) else "runtime"
            raise CannotFit(
                self.name,
                f"all {len(samples)} samples have the same {equal}",
                "add layouts that differ: the Lasso's path is empty without a difference",
                code="constant",
            )
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ConvergenceWarning)  # counted: collinear columns drop out
            lasso = LassoLarsCV(fit_intercept=True).fit(columns, samples.R)
        raw = {"1": float(lasso.intercept_)}
        for powers, weight in zip(expand.powers_, lasso.coef_, strict=True):
            if weight:
                raw[Monomial(tuple(map(int, powers))).name] = float(weight / np.prod(scaler.scale_**powers))
        return self._learn(raw, penalty=float(lasso.alpha_), warnings=len(said))
