"""The conclusions that a sweep tests: sentences that are true or false for the fitted models of a platform.

A new conclusion is one line in :data:`CONCLUSIONS`. It gets a :class:`Fitted` and returns a number and
whether the sentence holds; NaN and None if the layouts do not determine its models.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tessera.fit.models.fitting import fit_all
from tessera.fit.models.samples import Samples, check_table
from tessera.judge.studies.shape import Shape, shape
from tessera.layouts.names import ALL_2MB, ALL_4KB

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
    table = check_table(cells)
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


def judged(fit: Fitted) -> list[dict]:
    """A row per conclusion: ``conclusion, number, holds``."""
    found = ((conclusion.name, *conclusion.judge(fit)) for conclusion in CONCLUSIONS)
    return [dict(zip(("conclusion", "number", "holds"), row, strict=True)) for row in found]


def get(name: str) -> Conclusion:
    """The conclusion of that name."""
    return next(conclusion for conclusion in CONCLUSIONS if conclusion.name == name)
