"""Mosmodel as its authors published it beside MICRO'20: a Lasso whose penalty cross validation chooses.

The paper prints no settings of its Lasso (section VII-C). The repository technion-csl/mosmodel at commit
18be704 does, and these are taken from there as facts: no code of it is used.

1. Divide C, M, H each by its largest value over the samples (`MaxAbsScaler`).
2. Form the 19 monomials of degree 1 to 3 (`PolynomialFeatures(3, include_bias=False)`). They are neither
   centred nor divided by their deviations, and R stays in cycles.
3. Follow the Lasso path by least angles, and take the penalty with the least mean squared error in
   scikit-learn's own folds (`LassoLarsCV(fit_intercept=True)`, all else by default: five folds of
   neighbouring rows, so the order of the samples matters; here it is that of the layouts' names).

There is no cap on the number of terms and no refit. So a fit often has more than five terms, and the rule of
ten samples per coefficient marks it. Unlike `mosmodel`, the selection belongs to scikit-learn, and may
change with its version.
"""

from __future__ import annotations

import warnings

import numpy as np

from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS, Term

DEGREE = 3
FOLDS = 5  #: what LassoLarsCV uses by default, from scikit-learn 0.22 on


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

        if len(samples) < FOLDS:
            raise CannotFit(
                self.name,
                f"the penalty needs {FOLDS} folds but there are {len(samples)} samples",
                "add layouts; the one-in-ten rule asks for 10 samples per coefficient",
                code="few-samples",
            )
        inputs = np.column_stack([getattr(samples, symbol) for symbol in INPUTS])
        scaler, expand = MaxAbsScaler(), PolynomialFeatures(DEGREE, include_bias=False)
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
                raw[Term(tuple(map(int, powers))).name] = float(weight / np.prod(scaler.scale_**powers))
        return self._learn(raw, penalty=float(lasso.alpha_), warnings=len(said))
