"""The sweep: which conclusions stay the same if an assumed value changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.core.platforms import Platform, all_keys
from tessera.core.results.outcomes import is_ok, note_of_all, ok_rows
from tessera.core.results.study_tables import SWEEP
from tessera.core.results.table_io import frame_of
from tessera.fit.fitting import fit_all
from tessera.fit.models.samples import Samples, check_samples
from tessera.lab.studies.ablations import CHEAP_PLAN, Shape, shape
from tessera.lab.studies.placements import inputs_under_layouts
from tessera.lab.studies.variations import BASELINE, Variation, points, varied
from tessera.lab.study import Inputs, Jobs, Names, Recording, Run, study
from tessera.simulate.runner import CellCache, simulate_each
from tessera.simulate.sampling import Plan

# The conclusions that a sweep tests: sentences that are true or false for the fitted models of a platform.
#
# A new conclusion is one line in :data:`CONCLUSIONS`. It gets a :class:`Fitted` and returns a number and
# whether the sentence holds; NaN and None if the layouts do not determine its models.

PREEXISTING = ("basu", "gandhi", "pham", "alam", "yaniv")
SLACK = 0.001  #: layouts that differ from 4KB pages by a few pages are off by less, either way
Verdict = tuple[float, bool | None]


@dataclass(frozen=True)
class Fitted:
    """Every model fitted to one table of cells: ``errors`` {model: largest error as a fraction}."""

    samples: Samples
    errors: dict[str, float]
    predictions: pd.DataFrame
    rsquared: dict[str, float]
    shape: Shape


def fitted(cells: pd.DataFrame) -> Fitted:
    """Fit every model; TesseraError if the cells cannot be used as samples."""
    table = check_samples(cells)
    result = fit_all(table, folds=())
    errors = result.errors[(result.errors["protocol"] == "all") & result.errors["max_error"].notna()]
    return Fitted(
        table.fitted,
        dict(zip(errors["model"], errors["max_error"], strict=True)),
        result.predictions,
        dict(zip(result.rsquared["input"], result.rsquared["r_squared"], strict=True)),
        shape(table.fitted),
    )


@dataclass(frozen=True)
class Conclusion:
    """``sentence`` is what holds; ``number`` says what the judged number is."""

    name: str
    sentence: str
    number: str
    judge: Callable[[Fitted], Verdict]


def _ratio(better: str, worse: str) -> Callable[[Fitted], Verdict]:
    def judge(fit: Fitted) -> Verdict:
        if better not in fit.errors or not fit.errors.get(worse):
            return float("nan"), None
        quotient = fit.errors[better] / fit.errors[worse]
        return quotient, quotient < 1

    return judge


def _above(value: Callable[[Fitted], float], limit: float) -> Callable[[Fitted], Verdict]:
    def judge(fit: Fitted) -> Verdict:
        number = float(value(fit))
        return number, None if np.isnan(number) else number > limit

    return judge


def _below(value: Callable[[Fitted], float], limit: float) -> Callable[[Fitted], Verdict]:
    def judge(fit: Fitted) -> Verdict:
        number = float(value(fit))
        return number, None if np.isnan(number) else number < limit

    return judge


def _error(model: str) -> Callable[[Fitted], float]:
    return lambda fit: fit.errors.get(model, float("nan"))


def _best_old_to_mosmodel(fit: Fitted) -> Verdict:
    old = [fit.errors[name] for name in PREEXISTING if name in fit.errors]
    if not old or not fit.errors.get("mosmodel"):
        return float("nan"), None
    return min(old) / fit.errors["mosmodel"], min(old) > fit.errors["mosmodel"]


def _pham_highest(fit: Fitted) -> Verdict:
    """Largest signed error of Pham's model, which is right at 4KB pages: 0 when no prediction is above."""
    mine = fit.predictions[fit.predictions["model"] == "pham"].set_index("layout")["predicted_runtime_cycles"]
    if mine.empty:
        return float("nan"), None
    runtime = pd.Series(fit.samples.R, index=list(fit.samples.layouts))
    signed = ((mine - runtime) / runtime).dropna().max()
    return float(signed), bool(signed <= SLACK)


def _saving(fit: Fitted) -> float:
    _, _, _, small = fit.samples.anchor(ALL_4KB)
    _, _, _, large = fit.samples.anchor(ALL_2MB)
    return (small - large) / small


def _c_explains_most(fit: Fitted) -> Verdict:
    others = [fit.rsquared.get(name, float("nan")) for name in ("M", "H")]
    margin = fit.rsquared.get("C", float("nan")) - np.nanmax([*others, -np.inf])
    return float(margin), None if not np.isfinite(margin) else bool(margin >= 0)


CONCLUSIONS: tuple[Conclusion, ...] = (
    Conclusion(
        "sensitive", "2MB pages save at least 5% of the 4KB runtime", "share saved", _above(_saving, 0.05)
    ),
    Conclusion(
        "mosmodel-beats-line", "Mosmodel's largest error is below that of the regression line (poly1)",
        "Mosmodel's error / poly1's", _ratio("mosmodel", "poly1"),
    ),
    Conclusion(
        "cubic-beats-line", "the cubic polynomial's largest error is below the line's",
        "poly3's error / poly1's", _ratio("poly3", "poly1"),
    ),
    Conclusion(
        "mosmodel-beats-old", "Mosmodel's largest error is below that of every earlier model",
        "best earlier model's error / Mosmodel's", _best_old_to_mosmodel,
    ),
    Conclusion(
        "mosmodel-3", "Mosmodel's largest error is below 3%", "its error", _below(_error("mosmodel"), 0.03)
    ),
    Conclusion(
        "yaniv-10", "the Yaniv model's largest error is above 10%", "its error", _above(_error("yaniv"), 0.1)
    ),
    Conclusion(
        "basu-10", "the Basu model's largest error is above 10%", "its error", _above(_error("basu"), 0.1)
    ),
    Conclusion(
        "pham-optimistic", "the Pham model predicts no runtime more than 0.1% above the real one",
        "its largest signed error", _pham_highest,
    ),
    Conclusion(
        "slope-above-1", "the regression line of R over C is steeper than 1", "slope",
        _above(lambda fit: fit.shape.slope, 1.0),
    ),
    Conclusion(
        "convex", "R over C bends upwards (poly2's quadratic coefficient is positive)", "curvature",
        _above(lambda fit: fit.shape.curvature, 0.0),
    ),
    Conclusion(
        "c-explains-most", "C alone explains R at least as well as M or H alone (R\u00b2)",
        "R\u00b2 of C less the better of the others", _c_explains_most,
    ),
)  # fmt: skip


def judged_conclusions(fit: Fitted) -> list[dict]:
    """A row per conclusion: ``conclusion, number, holds``."""
    found = ((conclusion.name, *conclusion.judge(fit)) for conclusion in CONCLUSIONS)
    return [dict(zip(("conclusion", "number", "holds"), row, strict=True)) for row in found]


def conclusion_named(name: str) -> Conclusion:
    """The conclusion of that name."""
    return next(conclusion for conclusion in CONCLUSIONS if conclusion.name == name)


# The table of the sweep.
#
# The baseline and every point of :mod:`tessera.lab.studies.variations` are simulated under the same layouts
# with the same samples, every model is fitted to each, and all of :data:`CONCLUSIONS` are judged again. A
# conclusion survives a point if it is true at both, or false at both, the point and the baseline. Points
# that the simulator rejects are rows with the reason; they do not count.


@study(SWEEP, failed={"key": BASELINE})
def sweep(
    run: Run,
    trace: Recording,
    manifest: Path,
    platform: Platform,
    cache: CellCache,
    layouts: Names = (),
    sampling: Plan = CHEAP_PLAN,
    keys: Names = (),
    jobs: Jobs = 1,
) -> pd.DataFrame:
    """Vary each assumed value of a platform; report which conclusions still hold.

    Halves and doubles numbers, flips switches, exchanges policies. If the simulator rejects a point, its row
    has the reason.

    Example, after ./run smoke:
      ./run tessera lab run sweep platform=sandybridge-sim keys=memory --out /tmp/study \\
        trace=results/smoke/studies/windows/gups-1500000/info.json \\
        manifest=results/smoke/layouts/gups/sandybridge-sim/manifest.csv

    Args:
        trace: trace (.tst), or info.json of a recording or window.
        manifest: manifest.csv of its layouts.
        platform: name or YAML file.
        layouts: those to simulate; default: all but 1gb.
        sampling: plan (tessera simulate --help).
        keys: vary only keys that begin so; default: all assumed keys.
        jobs: points at the same time.
        cache: folder of finished simulations; default: .cache beside the table.
    """
    inputs = inputs_under_layouts(run, trace, manifest, platform, cache, layouts, sampling, jobs)
    return simulated_variations(inputs, *points(platform, all_keys(), keys))


def simulated_variations(inputs: Inputs, points: list[Variation], reasons: dict[str, str]) -> pd.DataFrame:
    """The table :data:`SWEEP`: rows of the baseline first, then of each point, then what is ``skipped``.

    Raises:
        TesseraError: the baseline can't be simulated or fitted.
    """
    inputs.say(f"baseline and {len(points)} points under {len(inputs.files)} layouts")
    cells_of = _simulated(inputs, points)
    cells = _good(cells_of[BASELINE])
    cost = {"window_accesses": cells[0].get("accesses"), "layouts": len(cells)}
    cost |= {"timed_instructions": cells[0].get("timed_instructions")}
    truth = judged_conclusions(fitted(pd.DataFrame(cells)))
    base = {row["conclusion"]: row for row in truth}
    cost["message"] = note_of_all(cell["message"] for cell in cells)
    rows = [_row(inputs, BASELINE, "", {}) | cost | row | _against(row, base) for row in truth]
    done = 0

    def one(point: Variation) -> list[dict]:
        nonlocal done
        head = _row(inputs, point.key, point.alternative, point.changes)
        try:
            head |= {"message": cost["message"]}
            found = [
                head | row | _against(row, base) for row in judged_conclusions(_fit(cells_of[point.name]))
            ]
        except TesseraError as error:
            found = [head | {"status": "refused", "message": error.problem}]
        done += 1
        inputs.say(f"{done} of {len(points)}: {point.name}")
        return found

    for found in _each(one, points, inputs.jobs):
        rows += found
    rows += [
        _row(inputs, key, "", {}) | {"status": "skipped", "message": why} for key, why in reasons.items()
    ]
    return frame_of(SWEEP, rows)


def _each(
    work: Callable[[Variation], list[dict]], points: list[Variation], jobs: int
) -> Iterator[list[dict]]:
    """``work`` of each point, in order, ``jobs`` at a time; if one raises, the rest is cancelled."""
    if jobs == 1:  # in the main thread, where an interrupt stops the simulator at once
        yield from map(work, points)
        return
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            yield from pool.map(work, points)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def survival(table: pd.DataFrame) -> pd.DataFrame:
    """Per workload, platform and conclusion: baseline, share of points that agree, extreme numbers."""
    points = ok_rows(table[table["key"] != BASELINE])
    rows = []
    order = {conclusion.name: i for i, conclusion in enumerate(CONCLUSIONS)}
    for (workload, platform, name), part in points.groupby(["workload", "platform", "conclusion"]):
        judged_ones = part[part["survives"].notna()]
        agree = judged_ones["survives"].astype(bool)
        rows.append(
            {
                "workload": workload, "platform": platform, "conclusion": name,
                "baseline_number": part["baseline_number"].iloc[0],
                "baseline_holds": part["baseline_holds"].iloc[0],
                "points": len(judged_ones), "survives": int(agree.sum()),
                "least": part["number"].min(), "greatest": part["number"].max(),
                "overturned_by": ", ".join(
                    f"{row.key} {row.alternative}" for row in judged_ones[~agree].itertuples()
                ),
                "provenance": "simulated",
            }
        )  # fmt: skip
    return pd.DataFrame(rows).sort_values(
        ["workload", "platform", "conclusion"], key=lambda c: c.map(order) if c.name == "conclusion" else c
    )


def _simulated(inputs: Inputs, points: list[Variation]) -> dict[str, list[dict] | TesseraError]:
    """Cells of each point, by its name, and of the baseline, in one run; or why a point has none."""
    found: dict[str, list[dict] | TesseraError] = {}
    platforms = {BASELINE: inputs.platform}
    for point in points:
        try:
            platforms[point.name] = varied(inputs.platform, point.changes, "assumed: varied by the sweep")
        except TesseraError as error:
            found[point.name] = error
    tables = simulate_each(inputs.trace, list(platforms.values()), list(inputs.files), **inputs.options)
    return found | dict(zip(platforms, tables, strict=True))


def _fit(cells: list[dict] | TesseraError) -> Fitted:
    return fitted(pd.DataFrame(_good(cells)))


def _good(cells: list[dict] | TesseraError) -> list[dict]:
    if isinstance(cells, TesseraError):
        raise cells
    bad = [row for row in cells if not is_ok(row)]
    if bad and len({row["message"] for row in cells}) == 1:  # the platform is refused
        raise TesseraError(f"all {len(cells)} layouts", bad[0]["message"], "leave the point out")
    if bad:
        raise TesseraError(f"layout {bad[0]['layout']}", bad[0]["message"], "correct the layout")
    return cells


def _row(inputs: Inputs, key: str, alternative: str, changes: dict) -> dict:
    value = inputs.platform.values.get(key)
    return inputs.pair | {
        "key": key, "alternative": alternative,
        "baseline_value": "" if value is None else value.value,
        "values": " ".join(f"{name}={new}" for name, new in changes.items()),
        "status": "ok", "message": "", "provenance": "simulated",
    }  # fmt: skip


def _against(row: dict, base: dict[str, dict]) -> dict:
    was = base[row["conclusion"]]
    known = row["holds"] is not None and was["holds"] is not None
    return {
        "baseline_number": was["number"],
        "baseline_holds": was["holds"],
        "survives": row["holds"] == was["holds"] if known else None,
    }
