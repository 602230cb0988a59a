"""Formulas of claims: values, names with keys, and what is no formula."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.formula import formula_value
from tessera.report.claims.registry import find_evaluator

NUMBERS = {("a",): 6.0, ("zero",): 0.0, ("m", "x"): 4.0, ("m", "x", "y"): 5.0}


def value(name, *keys):
    return NUMBERS[(name, *keys)]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("100 * (1 - m['x'] / m['x', 'y'])", 100 * (1 - 4 / 5)),
        ("comb(3 + 3, 3) - 1", 19),
        ("ceil(a / 4)", 2),
        ("log10(100) + abs(-a)", 8),
        ("max(a, m['x']) - min(a, m['x'])", 2),
        ("a / zero if zero else 0", 0),
        ("a >= 6 and not zero", True),
    ],
)
def test_value(formula, expected):
    assert formula_value(formula, value) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("a +", "invalid syntax"),
        ("a.real", "Attribute"),
        ("[a for b in c]", "ListComp"),
        ("(lambda: a)()", "Lambda"),
        ("max(a, key=a)", "keyword"),
    ],
)
def test_what_is_no_formula(formula, message):
    with pytest.raises(TesseraError, match=f"formula .*{message}"):
        formula_value(formula, value)


def test_a_function_that_is_not_listed_is_a_name():
    with pytest.raises(KeyError):
        formula_value("open(a)", value)


def test_printed_numbers_have_a_table_or_a_name(tmp_path):
    evidence = Evidence(tmp_path)
    pages = {
        "formula": 'ceil(printed_values["xalancbmk_footprint"] * MB / size)',
        "numbers": {"size": 2097152},
    }
    assert find_evaluator("printed", pages)(None, evidence, **pages).value == 238
    with pytest.raises(TesseraError, match="number 'size'"):
        find_evaluator("printed", pages)(None, evidence, formula="size * MB")
    two = {"formula": {"one": "1 + 0", "two": "2"}}
    assert find_evaluator("printed", two)(None, evidence, **two).value == {"one": 1, "two": 2}
