"""The monomials of equation (3) and their evaluator."""

import itertools
import math
import random

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.terms import TERMS, monomials, predict_runtime


def test_nineteen_features_in_the_order_of_the_equation():
    names = [term.name for term in monomials(3)]
    assert len(names) == len(set(names)) == 19
    assert names[:6] == ["C", "M", "H", "C^2", "C M", "C H"]
    assert names[6:9] == ["M^2", "M H", "H^2"]
    assert list(TERMS) == ["1", *names]


def test_every_triple_of_powers_is_there():
    triples = {p for p in itertools.product(range(4), repeat=3) if sum(p) <= 3}
    assert {term.powers for term in TERMS.values()} == triples


@pytest.mark.parametrize("name", TERMS)
def test_a_term_multiplies_what_its_name_says(name):
    H, M, C = 2.0, 3.0, 5.0
    expected = 1.0
    for factor in name.split():
        symbol, _, power = factor.partition("^")
        expected *= 1.0 if symbol == "1" else {"H": H, "M": M, "C": C}[symbol] ** int(power or 1)
    assert predict_runtime({name: 1.0}, H, M, C) == expected


def test_arrays_and_scalars_agree_to_the_last_bit():
    generator = random.Random(1)
    coefficients = {name: generator.uniform(-1, 1) for name in TERMS}
    H, M, C = (np.array([generator.uniform(0, 1e9) for _ in range(33)]) for _ in range(3))
    together = predict_runtime(coefficients, H, M, C)
    assert [float(predict_runtime(coefficients, *point)) for point in zip(H, M, C, strict=True)] == list(
        together
    )


def test_order_of_the_mapping_does_not_matter():
    coefficients = {name: 0.1 * i for i, name in enumerate(TERMS)}
    backwards = dict(reversed(coefficients.items()))
    assert predict_runtime(coefficients, 0.3, 0.7, 1.1) == predict_runtime(backwards, 0.3, 0.7, 1.1)


@pytest.mark.parametrize("value", [-1, -0.5, math.nan, math.inf])
@pytest.mark.parametrize("position, column", [(0, "stlb_hits"), (1, "stlb_misses"), (2, "walk_cycles")])
def test_inputs_that_are_no_counts_are_refused(value, position, column):
    point = [1.0, 1.0, 1.0]
    point[position] = value
    with pytest.raises(TesseraError, match=f"predict at {column}"):
        predict_runtime({"1": 1.0}, *point)


def test_overflow_is_an_error_not_infinity():
    with pytest.raises(TesseraError, match="1e\\+200"):
        predict_runtime({"C^3": 1.0}, 0, 0, 1e200)
