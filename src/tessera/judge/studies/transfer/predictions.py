"""What each model of P says about each point, its two errors, and the rules S1 and S2."""

from __future__ import annotations

from collections.abc import Mapping

from tessera.fit.models.inputs import ORDER
from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.declared import INPUTS
from tessera.judge.studies.transfer.fits import CONSTANT, FittedModels, predicted
from tessera.judge.studies.transfer.hull import Hull, inputs_used
from tessera.judge.studies.transfer.points import Measured, key
from tessera.judge.studies.transfer.twins import NONE, Twin, gap, least_error


def prediction_rows(
    point: Measured, fitted: FittedModels, hull: Hull, twins: Mapping[str, Twin]
) -> list[dict]:
    """Rows for all inputs and models; ``twins`` by input."""
    found = []
    for inputs in INPUTS if point.ok else ():
        x, at_twin = point.x[inputs], twins[inputs]
        for name, model in (*fitted.models.items(), (CONSTANT, None)):
            guess = point.base.runtime if model is None else predicted(model, x)
            used = () if model is None else inputs_used(model)
            found.append(
                key(point, inputs) | {"model": name} | judged(point, guess, at_twin)
                | {"hull_distance": hull.distance(x, used)}
            )  # fmt: skip
    return found


def judged(point: Measured, guess: float, twin: Twin) -> dict:
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


def twin_rows(point: Measured, hull: Hull, twins: Mapping[str, Twin]) -> list[dict]:
    """Rows of the table of twins."""
    found = []
    for inputs in INPUTS if point.ok else ():
        twin, runtime = twins[inputs], point.cell.runtime
        row = key(point, inputs) | {
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
