"""Design matrices: standardised monomials, least squares on them, and the way back to raw units.

Inputs of 1e13 cycles make cubes of 1e39, so each input is first divided by the power of two just
above its largest value. That is exact in floating point and changes no standardised column. The
columns are then centred and divided by their standard deviation (ddof = 0). The inputs are *not*
centred before the powers are formed: that would be another basis, in which a sparse model has many
raw-unit coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tessera.fit.models.base import CannotFit
from tessera.fit.models.samples import Samples
from tessera.fit.models.terms import INPUTS, Monomial, predict_runtime

CONSTANT_TOLERANCE = 1e-12  #: a column whose std is below this share of its largest value is constant
AGREEMENT = 1e-6  #: raw-unit and standardised predictions must agree to this share of the mean runtime


@dataclass(frozen=True)
class StandardisedTerms:
    """``columns`` (n, p) standardised; ``terms`` (p); ``scales``, ``means``, ``deviations`` (p,).

    Column j is ``(term_j / scales[j] - means[j]) / deviations[j]``. Constant terms are absent
    (``constant`` names them): they carry no information beside the intercept.
    """

    columns: np.ndarray
    terms: list[Monomial]
    scales: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    constant: list[str]


def power_of_two_above(values: np.ndarray) -> float:
    """The smallest power of two above the largest of ``values`` (1 if they are all 0)."""
    largest = float(np.max(values))
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if largest > 0 else 1.0


def standardised_terms(samples: Samples, terms: list[Monomial]) -> StandardisedTerms:
    """Standardise ``terms`` over ``samples``."""
    scale = {symbol: power_of_two_above(getattr(samples, symbol)) for symbol in INPUTS}
    scaled = {symbol: getattr(samples, symbol) / scale[symbol] for symbol in INPUTS}
    raw = np.column_stack([term.values(scaled) for term in terms])
    means, deviations = raw.mean(axis=0), raw.std(axis=0, ddof=0)
    varying = deviations > CONSTANT_TOLERANCE * np.abs(raw).max(axis=0)
    kept = [term for term, keep in zip(terms, varying, strict=True) if keep]
    factors = [math.prod(scale[s] ** p for s, p in zip(INPUTS, t.powers, strict=True)) for t in kept]
    return StandardisedTerms(
        columns=(raw[:, varying] - means[varying]) / deviations[varying],
        terms=kept,
        scales=np.array(factors),
        means=means[varying],
        deviations=deviations[varying],
        constant=[t.name for t, keep in zip(terms, varying, strict=True) if not keep],
    )


def least_squares(
    model: str, design: StandardisedTerms, samples: Samples, picked: list[int]
) -> dict[str, float]:
    """Ordinary least squares with an intercept on the ``picked`` columns; raw-unit coefficients.

    Raises:
        CannotFit: the columns are linearly dependent over these samples, or so nearly that raw-unit
            coefficients lose the prediction (see :data:`AGREEMENT`).
    """
    columns, mean_runtime = design.columns[:, picked], samples.R.mean()
    # rcond: columns have norm sqrt(n); below this share they are dependent to working precision
    weights, _, rank, _ = np.linalg.lstsq(columns, samples.R - mean_runtime, rcond=1e-12)
    if rank < len(picked):
        raise CannotFit(
            model,
            f"{len(picked)} terms but only {rank} independent columns over {len(samples)} samples",
            "add layouts whose H, M, C differ, or use a model with fewer terms",
        )
    return raw_units(model, design, samples, picked, weights)


def raw_units(
    model: str, design: StandardisedTerms, samples: Samples, picked: list[int], weights: np.ndarray
) -> dict[str, float]:
    """Coefficients in raw units of ``weights`` on the ``picked`` standardised columns.

    The intercept makes the mean prediction the mean runtime, as least squares does.

    Raises:
        CannotFit: the way back loses the prediction (see :data:`AGREEMENT`).
    """
    columns, mean_runtime = design.columns[:, picked], samples.R.mean()
    slopes = weights / design.deviations[picked]
    coefficients = {"1": float(mean_runtime - slopes @ design.means[picked])}
    for slope, j in zip(slopes, picked, strict=True):
        coefficients[design.terms[j].name] = float(slope / design.scales[j])
    predicted = predict_runtime(coefficients, samples.H, samples.M, samples.C)
    lost = np.max(np.abs(predicted - (mean_runtime + columns @ weights))) / mean_runtime
    if lost > AGREEMENT:
        raise CannotFit(
            model,
            f"rounding of the coefficients changes predictions by {lost:.1e} of the mean runtime",
            "the inputs vary too little for this degree; add layouts that differ more",
            code="ill-conditioned",
        )
    return coefficients
