"""The interface of a runtime model, and the error of a model that samples do not determine.

Contract (add a model = one file with a subclass + one line in `registry.py`):

- ``__init__`` stores hyperparameters under their own names and computes nothing;
- ``fit(samples)`` sets ``coefficients_`` (term name -> raw-unit coefficient, in the order of
  :data:`tessera.models.terms.TERMS`) and returns ``self``; it reads nothing but ``samples``;
- it raises :class:`CannotFit` when the samples do not determine the model, and never guesses;
- ``details_`` (optional) holds plain numbers and strings worth keeping in `fit.json`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from tessera.errors import EXIT_FAILED, TesseraError
from tessera.models.samples import Samples
from tessera.models.terms import TERMS, evaluate


class CannotFit(TesseraError):
    """The samples are valid but do not determine this model (a zero divisor, too few points)."""

    def __init__(self, model: str, found: str, remedy: str):
        super().__init__(f"model '{model}'", found, remedy, exit_code=EXIT_FAILED)


class RuntimeModel(BaseEstimator):
    """Base of all models: subclasses implement ``fit``; prediction is a polynomial."""

    name: ClassVar[str]  #: registered name
    equation: ClassVar[str]  #: one line, for `tessera models list`
    source: ClassVar[str]  #: where the equation is printed
    cross_validated: ClassVar[bool] = False  #: False: defined by the anchors alone

    def fit(self, samples: Samples) -> RuntimeModel:
        raise NotImplementedError

    def predict(self, H, M, C) -> np.ndarray:
        """Runtime in cycles at STLB hits, STLB misses (counts) and walk cycles; broadcasts."""
        if not hasattr(self, "coefficients_"):
            raise CannotFit(self.name, "not fitted yet", "call fit(samples) first")
        return evaluate(self.coefficients_, H, M, C)

    def _learn(self, coefficients: dict[str, float], **details) -> RuntimeModel:
        """Store coefficients in summing order; refuse those that left the range of doubles."""
        unusable = [term for term, value in coefficients.items() if not np.isfinite(value)]
        if unusable:
            raise CannotFit(
                self.name,
                f"the coefficient of {unusable[0]} is {coefficients[unusable[0]]}",
                "check the units of the samples: plain counts and cycles",
            )
        self.coefficients_ = {t: float(coefficients[t]) for t in TERMS if t in coefficients}
        self.details_ = details
        return self


def explain(name: str, coefficients: dict[str, float]) -> str:
    """A fitted model as text, e.g. ``R = 1.2e+09 cycles + 0.83 x C``; inputs in raw units."""
    parts = [f"{value:.6g}" + ("" if term == "1" else f" x {term}") for term, value in coefficients.items()]
    return f"{name}: R = {' + '.join(parts)}\nR, C in cycles; M, H in translations (STLB misses and hits)"
