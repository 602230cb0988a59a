"""fit_all: the tables of the contract, the test point, and models that cannot be fitted."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.fit.evaluation.cross_validation import held_out_errors
from tessera.fit.fit_folder import TABLES
from tessera.fit.fitting import fit_all
from tessera.fit.models.registry import create

from .builders import make_frame, make_samples, noisy

CROSS_VALIDATED = ["poly1", "poly2", "poly3", "mosmodel"]
PAPER = ["basu", "gandhi", "pham", "alam", "yaniv", *CROSS_VALIDATED]


def with_1gb(runtime: float) -> pd.DataFrame:
    extra = {"layout": "1gb", "runtime_cycles": runtime, "stlb_hits": 0, "stlb_misses": 0}
    return pd.concat([make_frame(noisy()), pd.DataFrame([extra | {"walk_cycles": 0}])])


@pytest.fixture(scope="module")
def result():
    return fit_all(with_1gb(5e9), models=PAPER)


@pytest.mark.parametrize("name", TABLES)
def test_columns(result, name):
    assert tuple(getattr(result, name).columns) == MODELS_OF_PAIR[name].names


def test_rows(result):
    assert len(result.predictions) == 55 * 9
    assert len(result.errors) == 2 * 9
    assert list(zip(result.cv["model"], result.cv["folds"], strict=True)) == [
        (model, folds) for model in CROSS_VALIDATED for folds in (3, 6, 9, 27, 54)
    ]
    assert list(result.rsquared["input"]) == ["C", "M", "H"]
    assert not result.errors["message"].any() and not result.cv["message"].any()


def test_errors_follow_from_predictions(result):
    measured = with_1gb(5e9).set_index("layout")["runtime_cycles"]
    joined = result.predictions.assign(R=result.predictions["layout"].map(measured))
    joined["error"] = (joined["R"] - joined["predicted_runtime_cycles"]).abs() / joined["R"]
    fitted = joined[joined["layout"] != "1gb"].groupby("model")["error"].max()
    test = joined[joined["layout"] == "1gb"].set_index("model")["error"]
    for row in result.errors.itertuples():
        expected = (fitted if row.protocol == "all" else test)[row.model]
        assert row.max_error == expected
        assert row.samples == (54 if row.protocol == "all" else 1)


def test_anchors_that_are_hit_are_counted_as_zeros(result):
    zeros = result.errors.query("protocol == 'all'").set_index("model")["zero_errors"]
    assert zeros["yaniv"] == 2
    assert zeros["basu"] == zeros["pham"] == zeros["alam"] == 1


def test_the_test_point_is_never_fitted(result):
    other = fit_all(with_1gb(5e12), models=PAPER)
    pd.testing.assert_frame_equal(result.coefficients, other.coefficients, check_exact=True)
    pd.testing.assert_frame_equal(result.predictions, other.predictions, check_exact=True)
    pd.testing.assert_frame_equal(result.cv, other.cv, check_exact=True)


def test_without_test_point():
    assert set(fit_all(make_frame(noisy()), folds=[3]).errors["protocol"]) == {"all"}


def test_order_of_the_rows_does_not_matter(result):
    shuffled = fit_all(with_1gb(5e9).sample(frac=1, random_state=1), models=PAPER)
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(result, name), getattr(shuffled, name), check_exact=True)


def test_cross_validation_uses_the_seed():
    row = fit_all(make_frame(noisy()), folds=[6], seed=5, models=["poly2"]).cv.iloc[0]
    order = np.argsort(noisy().layouts)
    errors = held_out_errors(create("poly2"), noisy().subset(order), 6, seed=5)
    assert row["seed"] == 5 and row["max_error"] == errors.max()


def test_too_many_folds_are_reported_not_fatal():
    samples = make_frame(noisy().subset(range(40)))
    cv = fit_all(samples, folds=[6, 54], models=["poly1"]).cv.set_index("folds")
    assert cv.loc[54, "message"] == "54 folds are not possible with 40 samples"
    assert np.isnan(cv.loc[54, "max_error"]) and cv.loc[6, "max_error"] > 0


def test_a_workload_without_misses_keeps_the_models_that_exist():
    s = noisy()
    nothing = fit_all(make_frame(make_samples(s.R, s.H, 0 * s.M, 0 * s.C)), models=PAPER)
    assert set(nothing.failures) == {"basu", "gandhi", "yaniv", "poly1", "poly2", "poly3"}
    errors = nothing.errors.set_index("model")
    assert "M_4K is undefined" in errors.loc["basu", "message"]
    assert "both have C = 0 walk cycles" in errors.loc["yaniv", "message"]
    assert errors.loc["basu", ["max_error", "geomean_error", "zero_errors"]].isna().all()
    assert set(nothing.coefficients["model"]) == set(PAPER) - set(nothing.failures)
    assert list(nothing.rsquared["r_squared"][:2]) == [0, 0]


def test_no_model_at_all_is_an_error():
    s = noisy()
    with pytest.raises(TesseraError, match="both have C = 0"):
        fit_all(make_frame(make_samples(s.R, s.H, s.M, 0 * s.C)), models=["yaniv"])
