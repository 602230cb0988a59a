"""The interface of a runtime model, and the error of a model that samples do not determine.

Contract (add a model = one file with a subclass + one line in `registry.py`):

- ``__init__`` stores hyperparameters under their own names and computes nothing;
- ``fit_samples(samples)`` learns, calls :meth:`RuntimeModel._learn` and returns ``self``; it reads
  nothing but ``samples``;
- it raises :class:`CannotFit` when the samples do not determine the model, and never guesses;
- ``details_`` holds plain numbers and strings worth keeping in `fit.json`.

Every model is a scikit-learn regressor: ``fit(X, y)``, ``predict(X)``, ``score``, ``get_params``,
``clone`` (`inputs.py` has the contract of X). ``fit(samples)`` and ``predict(H, M, C)`` do the same in
the words of this package. A model that is a polynomial learns ``coefficients_`` (term name -> raw-unit
coefficient, in the order of :data:`tessera.fit.models.terms.TERMS`) and needs no more; any other overrides
:meth:`RuntimeModel.evaluate`, `gradient`, `state`, `restore` and `size`.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.fit.models.inputs import columns_of, samples_of
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import TERMS, evaluate, gradient

SAMPLES_PER_COEFFICIENT = 10  #: the one-in-ten rule (MICRO'20 section VI-C)


class CannotFit(TesseraError, ValueError):
    """The samples are valid but do not determine this model (a zero divisor, too few points)."""

    def __init__(self, model: str, found: str, remedy: str, code: str = ""):
        super().__init__(f"model '{model}'", found, remedy, exit_code=EXIT_FAILED, code=code)


class NotFitted(CannotFit, NotFittedError):
    """``predict`` before ``fit``."""


class RuntimeModel(RegressorMixin, BaseEstimator):
    """Base of all models: subclasses implement ``fit_samples``; prediction is a polynomial."""

    name: ClassVar[str]  #: registered name
    label: ClassVar[str]  #: what figures and tables call it; its name where the class says nothing
    equation: ClassVar[str]  #: one line, for `tessera models list`
    source: ClassVar[str]  #: where the equation is printed
    cross_validated: ClassVar[bool] = False  #: False: defined by the anchors alone
    inputs: ClassVar[tuple[str, ...]] = ("H", "M", "C")  #: what it can depend on; one only makes a line

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls) and "label" not in vars(cls):  # that of a base would name another model
            cls.label = cls.name

    def fit(self, X, y=None, layouts=None) -> RuntimeModel:
        """Learn from (H, M, C) and runtimes.

        Args:
            X: (n, 3) array or data frame with H, M (counts), C (cycles); or :class:`Samples`.
            y: (n,) runtimes in cycles; absent with :class:`Samples`.
            layouts: (n,) layout names, which models defined by the 4KB and 2MB runs need.
        """
        samples = X if isinstance(X, Samples) else samples_of(self, X, y, layouts)
        self.n_features_in_ = 3
        self.fit_samples(samples.in_order())
        self.details_ |= self._one_in_ten(samples.effective_n)
        return self

    def fit_samples(self, samples: Samples) -> RuntimeModel:
        raise NotImplementedError

    def predict(self, X=None, M=None, C=None, *, H=None) -> np.ndarray:
        """Runtime in cycles at X (n, 3), or at H, M (counts) and C (cycles), which broadcast."""
        if not hasattr(self, "details_"):
            raise NotFitted(self.name, "not fitted yet", "call fit(X, y) first")
        H = X if H is None else H
        if M is None and C is None:
            H, M, C = columns_of(self, H, reset=False).T
        return self.evaluate(H, M, C)

    def evaluate(self, H, M, C) -> np.ndarray:
        """The learned function; a polynomial unless overridden."""
        return evaluate(self.coefficients_, H, M, C)

    def gradient(self, H, M, C) -> dict[str, np.ndarray]:
        """{"H", "M", "C"}: cycles per one more STLB hit, STLB miss, walk cycle at the point."""
        return gradient(self.coefficients_, H, M, C)

    def refit(self, samples: Samples) -> RuntimeModel:
        """A copy fitted to other samples, for leave-one-out intervals."""
        return clone(self).fit(samples)

    def explain(self, H: float, M: float, C: float):
        """What one more hit, miss or walk cycle costs at a point (`explain.py`)."""
        from tessera.fit.models.explain import explain_at

        return explain_at(self, H, M, C)

    def state(self) -> dict:
        """What `fit.json` keeps beside the coefficients of a polynomial; {} for a polynomial."""
        return {}

    def restore(self, entry: dict) -> RuntimeModel:
        """The fitted model again from its entry in `fit.json`."""
        self.coefficients_, self.details_ = entry["coefficients"], entry["details"]
        self.n_features_in_ = 3
        return self

    def size(self) -> int:
        """Learned coefficients, the intercept aside (what the one-in-ten rule counts)."""
        return len(set(self.coefficients_) - {"1"})

    def _one_in_ten(self, effective_n: int) -> dict:
        """Distinct (H, M, C) rows, and whether ten stand behind each coefficient; {} if anchors define it."""
        if not self.cross_validated:
            return {}
        return {
            "effective_n": effective_n,
            "one_in_ten": effective_n >= SAMPLES_PER_COEFFICIENT * self.size(),
        }

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.target_tags.positive_only = True
        return tags


def explain(name: str, coefficients: dict[str, float]) -> str:
    """A fitted model as text, e.g. ``R = 1.2e+09 cycles + 0.83 x C``; inputs in raw units."""
    parts = [f"{value:.6g}" + ("" if term == "1" else f" x {term}") for term, value in coefficients.items()]
    return f"{name}: R = {' + '.join(parts)}\nR, C in cycles; M, H in translations (STLB misses and hits)"
