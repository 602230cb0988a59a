"""The models that are fitted to P, how good they are on P, and the rival that says that no design matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.fit.models.base import CannotFit, RuntimeModel
from tessera.fit.models.crossval import held_out_errors
from tessera.fit.models.registry import MODELS, create
from tessera.fit.models.samples import Samples
from tessera.judge.studies.transfer.hull import inputs_used

CONSTANT = "constant"  #: predicts R_0
EXTRAS = ("minimax", "monotone")
FOLDS = 6
GOOD = 0.03  #: Mosmodel's bound (MICRO'20, abstract)


def default_models() -> tuple[str, ...]:
    """The models of every report, and two that may fit better."""
    return (*MODELS, *EXTRAS)


@dataclass(frozen=True)
class FittedModels:
    """name -> fitted model, its largest error in cross validation (NaN: not known), or why it has no fit."""

    samples: Samples
    models: dict[str, RuntimeModel] = field(default_factory=dict)
    cv_errors: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def good_on_p(self, model: str) -> bool | None:
        """None if it is not known, as for the constant, which is no model of P."""
        error = self.cv_errors.get(model, float("nan"))
        return None if np.isnan(error) else bool(error <= GOOD)

    def rows(self) -> list[dict]:
        """Rows of the table of fits, without the pair."""
        found = []
        for name in (*self.models, *self.failures):
            if name in self.failures:
                found.append({"model": name, "status": "failed", "message": self.failures[name]})
                continue
            model = self.models[name]
            found.append(
                {
                    "model": name, "status": "ok", "message": "", "samples": len(self.samples),
                    "max_cv_error": self.cv_errors[name], "good_on_p": self.good_on_p(name),
                    "inputs_used": " ".join(inputs_used(model)), "intercept_cycles": intercept(model),
                }
            )  # fmt: skip
        return found


def fit_all(samples: Samples, names: Sequence[str]) -> FittedModels:
    """Fit each model to P's samples, and cross-validate it with 6 folds.

    Raises:
        TesseraError: fewer distinct samples than folds.
    """
    if samples.effective_n < FOLDS:
        raise TesseraError(
            f"models of {len(samples)} samples",
            f"only {samples.effective_n} of them differ; {FOLDS} folds need {FOLDS}",
            "use more layouts, or a longer window",
            exit_code=EXIT_FAILED,
        )
    found = FittedModels(samples)
    for name in names:
        try:
            model = create(name).fit(samples)
            found.models[name] = model
            found.cv_errors[name] = _cross_validated(name, samples)
        except CannotFit as error:
            found.failures[name] = error.found
    return found


def intercept(model: RuntimeModel) -> float | None:
    """Prediction without any translation: R of the design `ideal`, says the model."""
    try:
        return float(np.ravel(model.predict(H=0.0, M=0.0, C=0.0))[0])
    except TesseraError:
        return None


def predicted(model: RuntimeModel, point: Sequence[float]) -> float:
    """Cycles at (H, M, C); NaN if the model overflows there."""
    H, M, C = point
    try:
        return float(np.ravel(model.predict(H=H, M=M, C=C))[0])
    except TesseraError:
        return float("nan")


def _cross_validated(name: str, samples: Samples) -> float:
    """Models that the anchors define have no folds to leave out: their largest error on all layouts."""
    model = create(name)
    try:
        if model.cross_validated:
            return float(held_out_errors(model, samples, FOLDS).max())
        fitted = model.fit(samples)
        guess = fitted.predict(H=samples.H, M=samples.M, C=samples.C)
        return float(np.abs(guess / samples.R - 1).max())
    except TesseraError:  # a fold does not determine it, or it overflows on one
        return float("nan")
