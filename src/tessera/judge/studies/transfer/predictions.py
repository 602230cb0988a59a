"""What each model of P says about each point, its two errors, and the rules S1 and S2."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from tessera.fit.models.inputs import ORDER
from tessera.judge.studies.transfer import rules
from tessera.judge.studies.transfer.declared import INPUTS
from tessera.judge.studies.transfer.fits import CONSTANT, FittedModels, predicted
from tessera.judge.studies.transfer.hull import Hull, inputs_used
from tessera.judge.studies.transfer.points import Measured, key
from tessera.judge.studies.transfer.twins import NONE, Twin, gap, least_error
from tessera.results.schema.transfer import PREDICTIONS
from tessera.results.status import ok_rows
from tessera.results.write import frame_of

#: Columns that follow from a prediction, its point and its twin.
DERIVED = ("error", "model_error", "bound_holds", "gain_holds", "passes")
_KEY = ["workload", "platform", "group", "variant", "layout", "inputs"]


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


def completed(kept: pd.DataFrame, points: pd.DataFrame, twins: pd.DataFrame) -> pd.DataFrame:
    """The table of predictions from its columns without :data:`DERIVED`; the others are tables of a run."""
    of_point = ok_rows(points)[[*_KEY, "runtime_cycles", "base_runtime_cycles", "judged"]]
    at_twin = (twins["twin_runtime_cycles"] + twins["correction_cycles"]).where(twins["kind"] != NONE)
    rows = kept.merge(of_point, on=_KEY, how="left", validate="many_to_one")
    rows = rows.merge(twins[_KEY].assign(at_twin=at_twin), on=_KEY, how="left", validate="many_to_one")
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
