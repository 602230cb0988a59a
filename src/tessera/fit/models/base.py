"""The interface of a runtime model, the contract of its inputs, and its costs at a point."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import NotFittedError

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.layouts.layout import canonical_name
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUT_COLUMNS, TERMS, gradient, predict_runtime

# The input contract of the models as scikit-learn estimators: X has the columns H, M, C.
#
# An array X is (n, 3): STLB hits and STLB misses (counts), walk cycles, in that order, plain counts of one
# run. A data frame is read by the names of its columns: ``H, M, C`` or ``stlb_hits, stlb_misses,
# walk_cycles`` (docs/contracts.md), in any order, beside any others. y (n,) is the runtime in cycles.
#
# Models that are lines through the 4KB and 2MB runs must know which rows those are: pass ``layouts``
# (n names), or a data frame whose index holds layout names. Nothing is guessed from the numbers.

ORDER = ("H", "M", "C")  #: the columns of X


class InputError(TesseraError, ValueError):
    """X or y break the contract; also a ValueError, which is what scikit-learn's tools expect."""


def columns_of(estimator, X, *, reset: bool) -> np.ndarray:
    """X as (n, 3) floats in the order of :data:`ORDER`, finite and not negative.

    Sets (``reset``) or checks ``n_features_in_`` and ``feature_names_in_`` of ``estimator``.

    Raises:
        InputError: a column is missing, the width is not 3, or a number is negative.
        ValueError, TypeError: scikit-learn's own refusals (sparse, complex, empty, not finite).
    """
    from sklearn.utils.validation import validate_data

    if hasattr(X, "columns"):
        X = _named(X)
    X = validate_data(estimator, X, reset=reset, dtype=float, ensure_min_samples=2 if reset else 1)
    if X.size and X.min() < 0:
        raise InputError(
            f"X of model '{estimator.name}': Negative values in data passed to {type(estimator).__name__}",
            f"the least is {X.min():g}; H, M, C are counts",
            "pass counts of one run, not standardised columns: the models scale by themselves",
        )
    if X.shape[1] != len(ORDER):
        raise InputError(
            f"X of model '{estimator.name}'",
            f"{X.shape[1]} feature(s) (shape={X.shape} while a minimum of {len(ORDER)} is required):"
            " the columns are H, M, C",
            "pass an array (n, 3) in that order, or a data frame with these columns",
        )
    return X


def samples_of_arrays(estimator, X, y, layouts=None) -> Samples:
    """Samples from X, y and the names of the layouts (default: a data frame's index, else row numbers)."""
    from sklearn.utils.validation import _num_samples, check_array, column_or_1d

    if y is None:
        raise InputError(
            f"fit model '{estimator.name}': requires y to be passed, but the target y is None",
            "the runtimes are missing",
            "pass fit(X, y) with y in cycles",
        )
    if layouts is None and hasattr(X, "index") and hasattr(X, "columns"):
        layouts = [str(name) for name in X.index]
    X = columns_of(estimator, X, reset=True)
    y = column_or_1d(y, warn=True)
    runtime = check_array(y, ensure_2d=False, dtype=float, input_name="y")
    if _num_samples(X) != len(runtime):
        raise InputError(
            f"fit model '{estimator.name}': Found input variables with inconsistent numbers of samples",
            f"{len(X)} rows of X, {len(runtime)} runtimes",
            "pass one runtime per row",
        )
    if runtime.min() <= 0:
        raise InputError(
            f"y of model '{estimator.name}'",
            f"a runtime of {runtime.min():g}; runtimes are greater than 0",
            "pass cycles of each run (Only positive targets are supported)",
        )
    if layouts is None:  # nameless rows have the order of their values, whatever order they come in
        order = np.lexsort((runtime, *X.T))
        X, runtime = X[order], runtime[order]
    names = [str(row) for row in range(len(X))] if layouts is None else list(map(str, layouts))
    if len(names) != len(X):
        raise InputError(
            f"layouts of model '{estimator.name}'", f"{len(names)} names, {len(X)} rows", "name every row"
        )
    return Samples(tuple(canonical_name(n) for n in names), X[:, 0], X[:, 1], X[:, 2], runtime)


def _named(frame):
    """The three columns of a data frame, in order, under the names that it uses."""
    for names in (ORDER, tuple(INPUT_COLUMNS[symbol] for symbol in ORDER)):
        if set(names) <= set(frame.columns):
            return frame[list(names)]
    raise InputError(
        "X as a data frame",
        f"columns {', '.join(map(str, frame.columns))}",
        "name three of them H, M, C or stlb_hits, stlb_misses, walk_cycles",
    )


# The interface of a runtime model, and the error of a model that samples do not determine.
#
# Contract (add a model = one file with a subclass + one line in `registry`):
#
# - ``__init__`` stores hyperparameters under their own names and computes nothing;
# - ``fit_samples(samples)`` learns, calls :meth:`RuntimeModel._learn` and returns ``self``; it reads
#   nothing but ``samples``;
# - it raises :class:`CannotFit` when the samples do not determine the model, and never guesses;
# - ``details_`` holds plain numbers and strings worth keeping in `fit.json`.
#
# Every model is a scikit-learn regressor: ``fit(X, y)``, ``predict(X)``, ``score``, ``get_params``,
# ``clone`` (the contract of X is above). ``fit(samples)`` and ``predict(H, M, C)`` do the same in the words
# of this package. A model that is a polynomial learns ``coefficients_`` (term name -> raw-unit
# coefficient, in the order of :data:`tessera.fit.models.terms.TERMS`) and needs no more; any other overrides
# :meth:`RuntimeModel.evaluate`, `gradient`, `state`, `restore` and `size`.

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
    equation: ClassVar[str]  #: one line, for `tessera models show`
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
        samples = X if isinstance(X, Samples) else samples_of_arrays(self, X, y, layouts)
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
        return predict_runtime(self.coefficients_, H, M, C)

    def gradient(self, H, M, C) -> dict[str, np.ndarray]:
        """{"H", "M", "C"}: cycles per one more STLB hit, STLB miss, walk cycle at the point."""
        return gradient(self.coefficients_, H, M, C)

    def refit(self, samples: Samples) -> RuntimeModel:
        """A copy fitted to other samples, for leave-one-out intervals."""
        return clone(self).fit(samples)

    def explain(self, H: float, M: float, C: float):
        """What one more hit, miss or walk cycle costs at a point (:func:`explain_at`)."""
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


def check_one_in_ten(model: RuntimeModel, samples: int, rule: str) -> str:
    """A warning, "" if ten distinct samples stand behind each coefficient; ``refuse`` raises CannotFit.

    ``samples``: layouts that were fitted, duplicates too; the model knows how many are distinct.
    """
    if rule not in ("flag", "refuse"):
        raise TesseraError(f"one-in-ten rule '{rule}'", "no such rule", "use flag or refuse")
    if model.details_.get("one_in_ten", True):
        return ""
    distinct = model.details_.get("effective_n", samples)
    of = "samples" if distinct == samples else f"distinct samples ({samples} layouts)"
    found = f"breaks the one-in-ten rule: {model.size()} coefficients from {distinct} {of}"
    if rule == "refuse":
        raise CannotFit(model.name, found, f"add layouts, up to {10 * model.size()}")
    return found


def equation(name: str, coefficients: dict[str, float]) -> str:
    """A fitted model as text, e.g. ``R = 1.2e+09 cycles + 0.83 x C``; inputs in raw units."""
    parts = [f"{value:.6g}" + ("" if term == "1" else f" x {term}") for term, value in coefficients.items()]
    return f"{name}: R = {' + '.join(parts)}\nR, C in cycles; M, H in translations (STLB misses and hits)"


# Costs of a fitted model in cycles: the effect of one more hit, miss or walk cycle at a point.
#
# A cost is the partial derivative of the predicted runtime, the other two inputs held: exact derivatives of
# the polynomial, not differences. In reality a miss comes with its walk, so `cycles_per_miss_with_walk` adds
# the mean walk of that point: dR/dM + (C / M) dR/dC (none if M = 0). Costs may be negative: Mosmodel picks
# inputs that are related (M falls as H rises); then only the sum of their costs has a meaning.


@dataclass(frozen=True)
class Explanation:
    """Costs at a point in cycles; inputs in counts and cycles."""

    model: str
    stlb_hits: float
    stlb_misses: float
    walk_cycles: float
    predicted_runtime_cycles: float
    cycles_per_stlb_hit: float
    cycles_per_stlb_miss: float
    cycles_per_walk_cycle: float
    cycles_per_miss_with_walk: float | None

    def as_dict(self) -> dict:
        return asdict(self)

    def __str__(self) -> str:
        lines = [
            f"{self.model} at {self.stlb_hits:.6g} STLB hits, {self.stlb_misses:.6g} STLB misses,"
            f" {self.walk_cycles:.6g} walk cycles: {self.predicted_runtime_cycles:.6g} cycles",
            f"  one more STLB hit costs   {self.cycles_per_stlb_hit:+.4g} cycles",
            f"  one more STLB miss costs  {self.cycles_per_stlb_miss:+.4g} cycles, its walk aside",
            f"  one more walk cycle costs {self.cycles_per_walk_cycle:+.4g} cycles",
        ]
        if self.cycles_per_miss_with_walk is not None:
            mean = self.walk_cycles / self.stlb_misses
            lines.append(
                f"  one more miss with a mean walk of {mean:.3g} cycles"
                f" costs {self.cycles_per_miss_with_walk:+.4g} cycles"
            )
        return "\n".join(lines)


def explain_at(model, H: float, M: float, C: float) -> Explanation:
    """Costs of a fitted model at STLB hits H, misses M (counts) and walk cycles C, scalars.

    Raises:
        TesseraError: a vector instead of a point, or what ``predict`` refuses.
    """
    runtime, slopes = model.predict(H, M, C), model.gradient(H, M, C)
    if getattr(runtime, "ndim", 0):
        raise TesseraError(
            f"explain model '{model.name}'", f"{runtime.size} points are given", "give one point at a time"
        )
    slope = {symbol: float(value) for symbol, value in slopes.items()}
    return Explanation(
        model=model.name,
        stlb_hits=float(H),
        stlb_misses=float(M),
        walk_cycles=float(C),
        predicted_runtime_cycles=float(runtime),
        cycles_per_stlb_hit=slope["H"],
        cycles_per_stlb_miss=slope["M"],
        cycles_per_walk_cycle=slope["C"],
        cycles_per_miss_with_walk=slope["M"] + C / M * slope["C"] if M > 0 else None,
    )
