"""Leave-one-out rows of cv.csv, rows of several seeds, and a model that is fitted beside the others."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tessera.core.results.cell_tables import K_FOLD, LEAVE_ONE_OUT, SEEDS
from tessera.fit.evaluation.cross_validation import held_out_errors
from tessera.fit.fitting import SPREAD_FOLDS, fit_all
from tessera.fit.models.registry import EVERY, MODELS, READINGS, create, other_readings

from .builders import LAYOUTS, make_frame, make_samples, noisy

AUTHORS = "mosmodel-authors"


def left_out(samples, **options):
    frame = make_frame(samples)
    if len(frame) < 9:  # the 2MB run is among these few, too
        frame["layout"] = ["growing-0", "growing-8", *LAYOUTS[1:7]][: len(frame)]
    table = fit_all(frame, folds=[], leave_one_out=True, **options).cv
    assert set(table["protocol"]) == {LEAVE_ONE_OUT} and table["seed"].isna().all()
    return table.set_index("model")


def test_three_points_by_hand():
    """C = 0, 1, 2 and R = 2, 2, 4: the line through two of them misses the third by 2, 1 and 2."""
    samples = make_samples([2, 2, 4], [0, 0, 0], [1, 2, 3], [0, 1, 2])
    row = left_out(samples, models=["poly1"]).loc["poly1"]
    assert row["max_error"] == pytest.approx(1, rel=1e-12)  # 2 of 2; the others 1/2 of it
    assert row["geomean_error"] == pytest.approx((1 * 0.5 * 0.5) ** (1 / 3), rel=1e-12)
    assert (row["folds"], row["samples"]) == (3, 3)


def test_a_copy_leaves_with_its_sample():
    """C = 0, 1, 2, 2 and R = 2, 2, 4, 4. If a copy stayed, C = 2 would be predicted by itself."""
    samples = make_samples([2, 2, 4, 4], [0] * 4, [1, 2, 3, 3], [0, 1, 2, 2])
    row = left_out(samples, models=["poly1"]).loc["poly1"]
    assert (row["folds"], row["samples"], row["effective_n"]) == (3, 4, 3)
    # without C = 0 the line is 2 C, without C = 1 it is 2 + C, without C = 2 it is 2
    errors = [Fraction(2, 2), Fraction(1, 2), Fraction(2, 4), Fraction(2, 4)]
    assert row["max_error"] == pytest.approx(float(max(errors)))
    assert row["geomean_error"] == pytest.approx(float(np.prod([float(e) for e in errors])) ** 0.25)
    alone = left_out(samples, models=["poly1"], duplicates="apart").loc["poly1"]
    assert alone["folds"] == 4 and alone["geomean_error"] < row["geomean_error"]


@pytest.mark.parametrize(("model", "degree"), [("poly1", 1), ("poly2", 2), ("poly3", 3)])
def test_least_squares_have_a_closed_form(model, degree):
    """Residuals of a group g that was left out: (I - P_gg)^-1 e_g, P the hat matrix of all rows."""
    base = noisy()
    rows = [*range(30), *range(8), 3, 3]  # eight samples twice, one of them four times
    samples = make_samples(
        base.R[rows] * (1 + np.arange(40) % 3 / 100), *(a[rows] for a in (base.H, base.M, base.C))
    )
    x = np.vander(samples.C / samples.C.max(), degree + 1)
    hat = x @ np.linalg.pinv(x)
    residual = samples.R - hat @ samples.R
    expected = np.empty(40)
    for value in set(samples.C):
        g = np.flatnonzero(samples.C == value)
        expected[g] = np.linalg.solve(np.eye(len(g)) - hat[np.ix_(g, g)], residual[g])
    row = left_out(samples, models=[model]).loc[model]
    assert row["folds"] == 30
    assert row["max_error"] == pytest.approx(np.abs(expected / samples.R).max(), rel=1e-7)


def test_the_seed_of_the_run_plays_no_part():
    found = [fit_all(make_frame(noisy()), [], seed, ["poly3"], leave_one_out=True).cv for seed in (0, 7)]
    assert found[0]["max_error"][0] == pytest.approx(found[1]["max_error"][0], rel=1e-12)


def test_each_seed_is_the_cross_validation_of_that_seed():
    table = fit_all(make_frame(noisy()), folds=[6], seed=1, models=["poly2", "yaniv"], seeds=range(3)).cv
    assert table["protocol"].tolist() == [K_FOLD, SEEDS, SEEDS, SEEDS]  # Yaniv learns from no fold
    assert table["seed"].tolist() == [1, 0, 1, 2] and set(table["folds"]) == {SPREAD_FOLDS}
    assert table["max_error"][0] == table["max_error"][2]
    samples = noisy().in_order()
    for seed in range(3):
        errors = held_out_errors(create("poly2"), samples, SPREAD_FOLDS, seed)
        assert table["max_error"][1 + seed] == errors.max()


def test_a_model_beside_the_others_is_only_left_one_out():
    names = ["poly1", "mosmodel"]
    result = fit_all(
        make_frame(noisy()),
        [3],
        models=names,
        leave_one_out=True,
        seeds=[0],
        beside=[AUTHORS],
        intervals=True,
    )
    for table in (result.errors, result.predictions, result.coefficients):
        assert set(table["model"]) == {*names, AUTHORS}
    assert result.cv.groupby("model")["protocol"].apply(list).to_dict() == {
        "poly1": [K_FOLD, LEAVE_ONE_OUT, SEEDS], "mosmodel": [K_FOLD, LEAVE_ONE_OUT, SEEDS],
        AUTHORS: [LEAVE_ONE_OUT],
    }  # fmt: skip
    assert set(result.calibrations) == set(names)
    errors = held_out_errors(create(AUTHORS), noisy().in_order(), 54)
    row = result.cv[result.cv["model"] == AUTHORS].iloc[0]
    assert row["max_error"] == errors.max() and row["folds"] == 54


def test_a_model_beside_that_cannot_be_fitted_leaves_a_message():
    """Four samples are too few for the authors' five folds."""
    result = fit_all(make_frame(noisy().subset([0, 8, 20, 30])), [], models=["poly1"], leave_one_out=True,
                     beside=[AUTHORS])  # fmt: skip
    message = result.errors.set_index("model").loc[AUTHORS, "message"]
    assert "5" in message and "4" in message
    row = result.cv.set_index("model").loc[AUTHORS]
    assert np.isnan(row["max_error"]) and row["message"]


def test_a_named_model_is_not_beside_itself():
    assert other_readings(MODELS) == [AUTHORS] == list(READINGS.values())
    assert (
        other_readings(["mosmodel", AUTHORS])
        == other_readings(["yaniv", "poly1"])
        == other_readings(EVERY)
        == []
    )
    both = fit_all(make_frame(noisy().subset(range(20))), [3], models=["mosmodel", AUTHORS], beside=[AUTHORS])
    assert both.cv["model"].tolist() == ["mosmodel", AUTHORS]
