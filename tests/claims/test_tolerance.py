"""Each rule just inside and just outside its bound."""

from __future__ import annotations

import pytest

from tessera.core.errors import TesseraError
from tessera.report.claims.claim import Tolerance, holds, value_text


@pytest.mark.parametrize(
    ("rule", "slack", "published", "inside", "outside"),
    [
        ("exact", 0, 19, 19, 20),
        ("absolute", 2, 42, 44, 44.01),
        ("absolute", 2, 42, 40, 39.99),
        ("relative", 0.5, 192, 288, 288.1),
        ("relative", 0.5, 192, 96, 95.9),
        ("at-most", 0, 3, 3, 3.01),
        ("at-most", 0.7, 4.3, 5.0, 5.01),
        ("at-least", 0, 25, 25, 24.99),
        ("at-least", 1, 25, 24, 23.9),
    ],
)
def test_bounds(rule, slack, published, inside, outside):
    tolerance = Tolerance(rule, slack, "test")
    assert holds(inside, published, tolerance)
    assert not holds(outside, published, tolerance)


def test_named_values_must_all_hold():
    tolerance = Tolerance("absolute", 0.1, "test")
    published = {"C": 0.99, "M": 0.98, "H": 0.5}
    assert holds({"C": 0.95, "M": 0.98, "H": 0.45}, published, tolerance)
    assert not holds({"C": 0.95, "M": 0.98, "H": 0.3}, published, tolerance)


@pytest.mark.parametrize(
    ("obtained", "good"),
    [
        ({"basu": 3, "pham": 2, "yaniv": 1}, True),
        ({"basu": 2, "pham": 3, "yaniv": 1}, False),
        ({"basu": 1.9, "pham": 2.0, "yaniv": 1}, True),
        ({"basu": 3, "pham": 2, "yaniv": 2.3}, False),
    ],
    ids=["same order", "swapped", "swapped within slack", "a last one first"],
)
def test_ordering(obtained, good):
    published = {"basu": 192, "pham": 179, "yaniv": 25}
    assert holds(obtained, published, Tolerance("ordering", 0.1, "test")) is good


def test_names_must_agree():
    with pytest.raises(ValueError, match="'M': 1.0"):
        holds({"C": 1.0}, {"C": 1.0, "M": 1.0}, Tolerance("exact", 0, "test"))
    with pytest.raises(ValueError, match="'C': 1.0"):
        holds({"C": 1.0}, 1.0, Tolerance("exact", 0, "test"))


def test_unknown_rule_lists_the_valid_ones():
    with pytest.raises(TesseraError, match="at-least"):
        holds(1, 1, Tolerance("roughly", 0, "test"))


def test_text():
    assert value_text(None) == ""
    assert value_text(25.0) == "25"
    assert value_text({"C": 0.99, "M": 0.5}) == "C=0.99 M=0.5"
