"""The existing models' formulas: exact residuals, and the fitting code against them as its oracle."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.registry import create
from tessera.fit.models.samples import Samples
from tessera.report.evaluators.definitions import ANCHORS, coefficients, residual

EXISTING = ("basu", "gandhi", "pham", "alam", "yaniv")


@pytest.mark.parametrize(
    ("model", "point", "zero"),
    [
        ("basu", "no-misses", True),
        ("basu", "4kb", True),
        ("basu", "2mb", False),
        ("gandhi", "4kb", False),
        ("gandhi", "2mb", False),
        ("pham", "4kb", True),
        ("pham", "2mb", False),
        ("alam", "4kb", False),
        ("alam", "2mb", True),
        ("yaniv", "4kb", True),
        ("yaniv", "2mb", True),
    ],
)
def test_which_points_a_model_passes_through(model, point, zero):
    assert (residual(model, point) == 0) is zero


@pytest.mark.parametrize("model", EXISTING)
def test_the_fitting_code_gives_the_same_predictions(model):
    names = ("growing-0", "growing-8")
    runs = np.array([[float(x) for x in ANCHORS[name]] for name in ("4kb", "2mb")])
    fitted = create(model).fit(Samples(names, *runs.T))
    inputs = np.array([[5.0, 1.5, 40.0], [0.0, 0.0, 0.0], [11.0, 2.0, 76.0]])
    terms = [float(c) for c in coefficients(model, ANCHORS["4kb"], ANCHORS["2mb"])]
    ours = inputs @ np.array(terms[:3]) + terms[3]
    theirs = fitted.predict(*inputs.T)
    assert np.allclose(ours, theirs, rtol=1e-12)


def test_the_ideal_runtime_of_basu_changes_sign_where_walks_exceed_runtime():
    for walk_cycles, sign in ((99, 1), (100, 0), (101, -1)):
        run = (F(0), F(1), F(walk_cycles), F(100))
        assert np.sign(float(coefficients("basu", run, run)[3])) == sign


def test_unknown_names():
    with pytest.raises(TesseraError, match="yaniv"):
        residual("mosmodel", "4kb")
    with pytest.raises(TesseraError, match="no-misses"):
        residual("basu", "1gb")
