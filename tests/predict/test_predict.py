"""Formulas from Python: numbers by hand, warnings, refusals."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.fit.predict import ExtrapolationWarning, predict_designs

from .builders import design, samples


def test_a_line_by_hand():
    found = predict_designs(samples(noise=0.0), design(), "poly1").iloc[0]
    assert found["predicted_runtime_cycles"] == pytest.approx(5.5e9, rel=1e-9)
    assert found["inside_hull"] and found["outside_by"] == 0 and found["message"] == ""
    assert found["runtime_provenance"] == "simulated"


def test_the_interval_has_the_size_of_the_noise():
    """Noise of 1e7 cycles on a line: a 95% interval is about +- 2e7."""
    found = predict_designs(samples(60), design(), "poly1").iloc[0]
    assert found["interval_method"] == "jackknife+"
    assert 1e7 < found["high_cycles"] - 5.5e9 < 5e7 and 1e7 < 5.5e9 - found["low_cycles"] < 5e7


@pytest.mark.parametrize("model", ["mosmodel", "yaniv", "minimax", "monotone", "gp"])
def test_every_kind_of_model_predicts_the_line(model):
    found = predict_designs(samples(noise=0.0), design(), model).iloc[0]
    assert found["predicted_runtime_cycles"] == pytest.approx(5.5e9, rel=1e-3)
    assert found["low_cycles"] <= found["predicted_runtime_cycles"] * (1 + 1e-9)


def test_outside_the_hull_it_warns_and_says_by_how_much():
    far = design(walk_cycles=[6e9], stlb_misses=[1.5e8], stlb_hits=[0.0])
    with pytest.warns(ExtrapolationWarning, match="mine: extrapolation: .* 50% "):
        found = predict_designs(samples(), far, "poly1").iloc[0]
    assert found["outside_by"] == pytest.approx(0.5) and not found["inside_hull"]
    with pytest.warns(ExtrapolationWarning, match="mine: extrapolation: .*%"):
        predict_designs(samples(), design(stlb_hits=[1.1e7]), "poly1")  # few hits go with many misses


def test_inside_there_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict_designs(samples(), design(), "poly1")


def test_few_samples_are_said():
    found = predict_designs(samples(12), design(), "mosmodel").iloc[0]
    assert " 0.923" in found["message"] and np.isnan(found["low_cycles"])
    assert re.search("one-in-ten .* 12 samples", found["message"])


def test_rows_without_names_get_numbers():
    two = pd.concat([design(), design()]).drop(columns="design")
    assert list(predict_designs(samples(), two, "poly1")["design"]) == ["row 1", "row 2"]


def test_cells_are_designs_too():
    cells = samples().assign(status="ok")
    cells.loc[3, "status"] = "failed"
    cells.loc[3, "walk_cycles"] = np.nan
    found = predict_designs(samples(), cells, "poly1")
    assert len(found) == 39 and "growing-3" not in set(found["design"])
    assert list(predict_designs(samples(), cells, "poly1", only="growing-8")["design"]) == ["growing-8"]


# name: (design, what the message must say)
REFUSED = {
    "not a number": (design(walk_cycles=[np.nan]), "walk_cycles of mine: empty; it must"),
    "negative": (design(stlb_hits=[-1]), "stlb_hits of mine: '-1'"),
    "infinite": (design(stlb_misses=[np.inf]), "stlb_misses of mine: 'inf'"),
    "text": (design(stlb_misses=["many"]), "'many'"),
    "missing column": (design().drop(columns="walk_cycles"), "columns walk_cycles: .*design"),
    "no rows": (design().iloc[:0], "points: "),
    "all failed": (design(status=["failed"]), "points: .*mine.*status"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals(case):
    asked, message = REFUSED[case]
    with pytest.raises(TesseraError, match=message):
        predict_designs(samples(), asked, "poly1")


def test_other_refusals(tmp_path):
    with pytest.raises(TesseraError, match="model 'moss'"):
        predict_designs(samples(), design(), "moss")
    with pytest.raises(TesseraError, match="none.csv"):
        predict_designs(samples(), tmp_path / "none.csv")
    with pytest.raises(TesseraError, match="'yours': .*mine"):
        predict_designs(samples(), design(), only="yours")
    with pytest.raises(TesseraError, match="level 95: "):
        predict_designs(samples(), design(), "poly1", level=95)
