"""What one more hit, miss or walk cycle costs: exact derivatives by hand and against differences."""

import re

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.registry import create
from tessera.fit.models.terms import TERMS, gradient, predict_runtime

from .builders import noisy
from .test_preexisting import anchors


def test_pham_by_hand():
    found = create("pham").fit(anchors()).explain(H=5, M=50, C=1000)
    assert found.as_dict() == {
        "model": "pham", "stlb_hits": 5, "stlb_misses": 50, "walk_cycles": 1000,
        "predicted_runtime_cycles": 7965, "cycles_per_stlb_hit": 7, "cycles_per_stlb_miss": 0,
        "cycles_per_walk_cycle": 1, "cycles_per_miss_with_walk": 20,
    }  # fmt: skip
    text = str(found)
    assert re.search(r"STLB hit .*\+7 cycles", text)
    assert re.search(r"walk cycle .*\+1 cycles", text)
    assert re.search(r" 20 cycles .*\+20 cycles", text)


def test_a_cubic_by_hand():
    """R = 2 C^2 H + 3 M: dR/dC = 4 C H, dR/dM = 3, dR/dH = 2 C^2."""
    slope = gradient({"C^2 H": 2.0, "M": 3.0}, H=5.0, M=7.0, C=11.0)
    assert slope == {"C": 220.0, "M": 3.0, "H": 242.0}


@pytest.mark.parametrize("term", [t for t in TERMS if t != "1"])
def test_every_term_against_differences(term):
    point, step = {"H": 1.3, "M": 0.7, "C": 2.1}, 1e-6
    slope = gradient({term: 1.0}, **point)
    for symbol, value in point.items():
        up, down = (predict_runtime({term: 1.0}, **(point | {symbol: value + s})) for s in (step, -step))
        assert slope[symbol] == pytest.approx((up - down) / (2 * step), abs=1e-6)


def test_no_misses_no_mean_walk():
    found = create("poly1").fit(noisy()).explain(0, 0, 0)
    assert found.cycles_per_miss_with_walk is None and "mean walk" not in str(found)


def test_one_point_at_a_time():
    with pytest.raises(TesseraError, match="3 points"):
        create("poly1").fit(noisy()).explain(np.zeros(3), 0, 0)
