"""The models that are fitted to P, and what each says about each point, with its errors and S1 and S2.

The rival `constant` says that no design matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.results.outcomes import ok_rows
from tessera.core.results.table_io import frame_of
from tessera.core.results.transfer_tables import PREDICTIONS
from tessera.fit.evaluation.cross_validation import held_out_errors
from tessera.fit.models.base import ORDER, CannotFit, RuntimeModel
from tessera.fit.models.registry import MODELS, create
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS, TERMS
from tessera.fit.predict.prediction import distance_outside
from tessera.lab.transfer import rules
from tessera.lab.transfer.points import DECLARED_INPUTS, Measured, point_key
from tessera.lab.transfer.twins import NONE, Twin, gap, least_error

# The models that are fitted to P, how good they are on P, and the rival that says that no design matters.

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


def fit_and_validate(samples: Samples, names: Sequence[str]) -> FittedModels:
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


def predicted_cycles(model: RuntimeModel, point: Sequence[float]) -> float:
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


# Distance to the convex hull of P's samples in the inputs that a model uses.
#
# As :mod:`tessera.fit.predict.prediction`, but over a part of (H, M, C): a line in C does not depend on H,
# so a design with another H is no extrapolation for it.


def inputs_used(model: RuntimeModel) -> tuple[str, ...]:
    """Those of H, M, C that a fitted model depends on, in that order."""
    coefficients = getattr(model, "coefficients_", None)
    if coefficients is None:
        return tuple(symbol for symbol in ORDER if symbol in model.inputs)
    powers = [TERMS[term].powers for term, value in coefficients.items() if value]
    return tuple(s for s in ORDER if any(p[INPUTS.index(s)] for p in powers))


class Hull:
    """Distances of points, remembered."""

    def __init__(self, samples: Samples):
        self._samples = samples
        self._known: dict[tuple, float] = {}

    def distance(self, point: Sequence[float], used: Sequence[str] = ORDER) -> float:
        """Distance of (H, M, C) as a share of the ranges; 0 inside, and for a model without inputs."""
        H, M, C = map(float, point)
        key = (tuple(used), tuple(v for s, v in zip(ORDER, (H, M, C), strict=True) if s in used))
        if key not in self._known:
            self._known[key] = distance_outside(self._samples, H, M, C, used) if used else 0.0
        return self._known[key]


# What each model of P says about each point, its two errors, and the rules S1 and S2.

#: Columns that follow from a prediction, its point and its twin.
DERIVED = ("error", "model_error", "bound_holds", "gain_holds", "passes")
POINT_KEY = ["workload", "platform", "group", "variant", "layout", "inputs"]


def prediction_rows(
    point: Measured, fitted: FittedModels, hull: Hull, twins: Mapping[str, Twin]
) -> list[dict]:
    """Rows for all inputs and models; ``twins`` by input."""
    found = []
    for inputs in DECLARED_INPUTS if point.ok else ():
        x, at_twin = point.x[inputs], twins[inputs]
        for name, model in (*fitted.models.items(), (CONSTANT, None)):
            guess = point.base.runtime if model is None else predicted_cycles(model, x)
            used = () if model is None else inputs_used(model)
            found.append(
                point_key(point, inputs) | {"model": name} | judged_predictions(point, guess, at_twin)
                | {"hull_distance": hull.distance(x, used)}
            )  # fmt: skip
    return found


def judged_predictions(point: Measured, guess: float, twin: Twin) -> dict:
    """Errors as shares of R, and the rules."""
    runtime, base = point.cell.runtime, point.base.runtime
    bound, gain = rules.bound_holds(runtime, guess), rules.gain_holds(base, runtime, guess)
    return {
        "predicted_cycles": guess,
        "error": guess / runtime - 1,
        "model_error": None if twin.kind == NONE else (guess - twin.at_point) / runtime,
        "bound_holds": bound,
        "gain_holds": gain,
        "passes": rules.passes(bound, gain) if point.judged else None,
    }


def completed_predictions(kept: pd.DataFrame, points: pd.DataFrame, twins: pd.DataFrame) -> pd.DataFrame:
    """The table of predictions from its columns without :data:`DERIVED`; the others are tables of a run."""
    of_point = ok_rows(points)[[*POINT_KEY, "runtime_cycles", "base_runtime_cycles", "judged"]]
    at_twin = (twins["twin_runtime_cycles"] + twins["correction_cycles"]).where(twins["kind"] != NONE)
    rows = kept.merge(of_point, on=POINT_KEY, how="left", validate="many_to_one")
    rows = rows.merge(
        twins[POINT_KEY].assign(at_twin=at_twin), on=POINT_KEY, how="left", validate="many_to_one"
    )
    R, R_0, guess = (rows[name] for name in ("runtime_cycles", "base_runtime_cycles", "predicted_cycles"))
    bound = [rules.bound_holds(*pair) for pair in zip(R, guess, strict=True)]
    gain = [rules.gain_holds(*row) for row in zip(R_0, R, guess, strict=True)]
    rows = rows.assign(error=guess / R - 1, model_error=(guess - rows["at_twin"]) / R, bound_holds=bound,
                       gain_holds=pd.Series(gain, dtype=object))  # fmt: skip
    judged = rows["judged"].eq(True)
    passes = [rules.passes(*pair) if here else None for *pair, here in zip(bound, gain, judged, strict=True)]
    return frame_of(PREDICTIONS, rows.assign(passes=pd.Series(passes, dtype=object))[list(PREDICTIONS.names)])


def twin_rows(point: Measured, hull: Hull, twins: Mapping[str, Twin]) -> list[dict]:
    """Rows of the table of twins."""
    found = []
    for inputs in DECLARED_INPUTS if point.ok else ():
        twin, runtime = twins[inputs], point.cell.runtime
        row = point_key(point, inputs) | {
            "kind": twin.kind, "twin": twin.name, "distance": twin.distance, "runtime_cycles": runtime,
            "hull_distance": hull.distance(point.x[inputs], ORDER),
        }  # fmt: skip
        if twin.kind != NONE:
            g = gap(runtime, twin.at_point)
            row |= {
                "twin_runtime_cycles": twin.runtime, "correction_cycles": twin.correction,
                "transfer_error": twin.at_point / runtime - 1, "gap": g, "least_error": least_error(g),
            }  # fmt: skip
        found.append(row)
    return found
