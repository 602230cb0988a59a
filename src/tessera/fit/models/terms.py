"""The monomials of the runtime models and how a sum of them is evaluated.

Every model but the Gaussian process is a polynomial in the walk cycles C, the STLB misses M and the
STLB hits H: ``R = sum(coefficient * term)``, coefficients in raw units (cycles per count).
So a fitted model is a mapping ``{term name: coefficient}``, and one function evaluates all models.

Encoding: a term is the triple of its powers of (C, M, H). Its name lists the inputs in that order:
``1``, ``C``, ``C^2``, ``C M``, ``C H^2``. The order of the terms is that of equation (3) of the
MICRO'20 paper: by degree, then C before M before H.

Powers are repeated products and the sum runs in that fixed order, so that a scalar and an array
evaluation agree to the last bit on every machine with IEEE arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from tessera.core.errors import TesseraError

INPUTS = ("C", "M", "H")  #: the order of equation (3)
INPUT_COLUMNS = {"C": "walk_cycles", "M": "stlb_misses", "H": "stlb_hits"}


@dataclass(frozen=True)
class Monomial:
    """A monomial ``C^c M^m H^h``; ``powers`` is (c, m, h)."""

    powers: tuple[int, ...]

    @property
    def degree(self) -> int:
        return sum(self.powers)

    @property
    def name(self) -> str:
        factors = [
            symbol if power == 1 else f"{symbol}^{power}"
            for symbol, power in zip(INPUTS, self.powers, strict=True)
            if power
        ]
        return " ".join(factors) or "1"

    def values(self, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
        """The monomial at ``inputs`` {"C": (n,), "M": (n,), "H": (n,)}, shape (n,)."""
        product = None
        for symbol, power in zip(INPUTS, self.powers, strict=True):
            for _ in range(power):
                product = inputs[symbol] if product is None else product * inputs[symbol]
        return np.ones_like(inputs["C"], dtype=float) if product is None else np.array(product, dtype=float)

    def derivative(self, symbol: str) -> tuple[float, Monomial] | None:
        """(factor, term) of the derivative by an input, e.g. C^2 -> (2, C); None if it is zero."""
        position = INPUTS.index(symbol)
        power = self.powers[position]
        if not power:
            return None
        lower = tuple(p - (i == position) for i, p in enumerate(self.powers))
        return float(power), Monomial(lower)


def monomials(degree: int, inputs: tuple[str, ...] = INPUTS) -> list[Monomial]:
    """All terms of degree 1..``degree`` in the named inputs (19 for degree 3 in C, M and H)."""
    picked = [INPUTS.index(symbol) for symbol in inputs]
    return [
        Monomial(tuple(choice.count(i) for i in range(len(INPUTS))))
        for d in range(1, degree + 1)
        for choice in combinations_with_replacement(picked, d)
    ]


CONSTANT = Monomial((0, 0, 0))
TERMS = {term.name: term for term in [CONSTANT, *monomials(3)]}  #: name -> term, in summing order


def predict_runtime(coefficients: Mapping[str, float], H, M, C) -> np.ndarray:
    """Predicted runtime in cycles, shape of the broadcast inputs.

    Args:
        coefficients: term name -> raw-unit coefficient.
        H, M, C: STLB hits (count), STLB misses (count), walk cycles; scalars or arrays.

    Raises:
        TesseraError: an input is negative or not a number, or the result overflows.
    """
    inputs = checked_inputs(H, M, C)
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.zeros_like(inputs["C"])
        for name, term in TERMS.items():
            if name in coefficients:
                total = total + coefficients[name] * term.values(inputs)
    if not np.all(np.isfinite(total)):
        raise TesseraError(
            "predict a runtime",
            f"the polynomial overflows at inputs up to {max(a.max() for a in inputs.values()):.3g}",
            "check the units of the inputs: plain counts and cycles of one run",
        )
    return total


def gradient(coefficients: Mapping[str, float], H, M, C) -> dict[str, np.ndarray]:
    """{"H": dR/dH, "M": dR/dM, "C": dR/dC} in cycles per hit, miss and walk cycle, exact derivatives."""
    result = {}
    for symbol in INPUTS:
        derivative: dict[str, float] = {}
        for name, coefficient in coefficients.items():
            found = TERMS[name].derivative(symbol)
            if found:
                derivative[found[1].name] = derivative.get(found[1].name, 0.0) + coefficient * found[0]
        result[symbol] = predict_runtime(derivative, H, M, C)
    return result


def checked_inputs(H, M, C) -> dict[str, np.ndarray]:
    """{"C": ..., "M": ..., "H": ...} as floats of one shape.

    Raises:
        TesseraError: an input is negative or not a number.
    """
    inputs = {s: np.asarray(array, dtype=float) for s, array in (("C", C), ("M", M), ("H", H))}
    if not inputs["C"].shape == inputs["M"].shape == inputs["H"].shape:
        inputs = dict(zip(inputs, np.broadcast_arrays(*inputs.values()), strict=True))
    for symbol, array in inputs.items():
        good = np.isfinite(array) & (array >= 0)
        if not good.all():
            bad = array[~good]
            raise TesseraError(
                f"predict at {INPUT_COLUMNS[symbol]} = {bad.flat[0]!r}",
                "inputs are counts: they must be finite and not negative",
                f"pass {symbol} as a number >= 0",
            )
    return inputs
