"""Evaluators that read protocols.csv, learning_curve.csv and one_gb.csv, and their neighbours, by hand."""

from __future__ import annotations

import pytest

from tessera.core.results.cell_tables import MODELS_OF_RUN
from tessera.core.results.table_io import frame_of, write_table
from tessera.report.claims.claim import Claim, Missing, Scope, Tolerance
from tessera.report.claims.evidence import Evidence
from tessera.report.claims.registry import find_evaluator

ONE = Scope(("gups-8gb",), ("sandybridge",))
PAIR = {"workload": "gups-8gb", "platform": "sandybridge-sim"}


@pytest.fixture
def value(tree):
    """``value(evaluator, table rows by name, **parameters)`` for gups-8gb on SandyBridge."""

    def run(name, tables=None, scope=ONE, **parameters):
        tree.write()
        for table, rows in (tables or {}).items():
            frame = frame_of(MODELS_OF_RUN[table], [row if "workload" in row else PAIR | row for row in rows])
            write_table(MODELS_OF_RUN[table], frame, tree.path / "models" / f"{table}.csv")
        claim = Claim("x", "micro20", "I", "s", "finding", 0.0, "t", "1", Tolerance("exact", 0, "test"), name,
                      parameters, scope, "intel-pmu")  # fmt: skip
        return find_evaluator(name, parameters)(claim, Evidence(tree.path), **parameters).value

    return run


def setting(name, error, trained=9, model="mosmodel", protocol="heuristics", message=""):
    return {
        "model": model, "protocol": protocol, "setting": name, "train_samples": trained,
        "max_error": error, "message": message,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("random", "sliding", "share"),
    [(0.2, 0.1, 100), (0.1, 0.2, 0), (0.1, 0.1, 0), (None, 0.1, 100), (0.1, None, 0), (None, None, 0)],
)
def test_a_setting_that_errs_more_or_determines_nothing_is_worse(value, random, sliding, share):
    rows = [setting("random->growing", random), setting("sliding->growing", sliding)]
    found = value(
        "setting_worse_pairs", {"protocols": rows}, model="mosmodel", protocol="heuristics",
        setting="random->growing", base="sliding->growing",
    )  # fmt: skip
    assert found == share


def test_a_setting_without_layouts_decides_nothing(value):
    rows = [setting("a", None, None, message="reason-7"), setting("b", 0.1)]
    asked = {"model": "mosmodel", "protocol": "heuristics", "setting": "a", "base": "b"}
    with pytest.raises(Missing, match="a: reason-7"):
        value("setting_worse_pairs", {"protocols": rows}, **asked)
    with pytest.raises(Missing, match=r"mosmodel .*heuristics c"):
        value("setting_worse_pairs", {"protocols": rows}, **asked | {"base": "c"})


def test_a_model_that_its_training_samples_change_is_noticed(value):
    """The tree's errors.csv has 1.92 for Basu and 0.25 for Yaniv, fitted to all layouts."""
    rows = [setting("", 1.92, 2, "basu", "all"), setting("", 0.25, 2, "yaniv", "all")]
    models = ["basu", "yaniv"]
    assert value("error_changed_by_training", {"protocols": rows}, models=models) == 0
    rows[1]["max_error"] = 0.35
    assert value("error_changed_by_training", {"protocols": rows}, models=models) == pytest.approx(0.1)
    rows = [setting("", 1.92, 54, "basu", "all")]
    with pytest.raises(Missing, match="basu, yaniv"):
        value("error_changed_by_training", {"protocols": rows}, models=models)


def test_the_learning_curve_starts_where_the_model_is_determined(value):
    rows = [
        {"model": "poly3", "train_samples": n, "max_error": error}
        for n, error in ((54, 0.1), (6, None), (8, 0.4), (20, 0.9))
    ]
    curve = {"learning_curve": rows}
    assert value("learning_ratio", curve, model="poly3", how="median") == pytest.approx(4)
    with pytest.raises(Missing, match="learning"):
        value("learning_ratio", {"learning_curve": rows[:2]}, model="poly3", how="median")


def test_k_may_be_chosen_but_is_one_for_all_pairs(value, tree):
    """For each K one of two pairs is bad, so every K is."""
    cv = tree.cv
    mine = cv["model"] == "mosmodel"
    cv.loc[mine & (cv["workload"] == "gups-8gb") & (cv["folds"] != 6), "max_error"] = 0.5
    both = Scope(("gups-8gb", "graph500-2gb"), ("sandybridge",))
    asked = {"model": "mosmodel", "folds": [3, 6, 9]}
    models = ["poly1", "poly2", "poly3", "mosmodel"]
    assert value("cv_best_k", scope=both, **asked) == pytest.approx(4.3)
    assert value("cv_best_rank", scope=both, models=models, **asked) == 1
    cv.loc[mine & (cv["workload"] == "graph500-2gb") & (cv["folds"] == 6), "max_error"] = 0.3
    assert value("cv_best_k", scope=both, **asked) == pytest.approx(30)
    assert value("cv_best_rank", scope=both, models=models, **asked) == 3


def test_the_worst_of_several_models_at_1gb(value):
    assert value("largest_error_1gb", models=["yaniv", "alam"], how="median") == pytest.approx(111)


def test_one_prediction_of_the_1gb_run(value):
    """Runtime 1400 with 1GB pages; the tree's poly3 predicts 1% more."""
    rows = [{"model": "poly3", "predicted_runtime_cycles": 1414.0}]
    assert value("predictions_1gb_differ", {"one_gb": rows}) == pytest.approx(0)
    rows[0]["predicted_runtime_cycles"] = 1428.14
    assert value("predictions_1gb_differ", {"one_gb": rows}) == pytest.approx(0.01)


def test_large_errors_and_the_sign_of_their_predictions(value, tree):
    """Basu predicts half of every runtime here, an error of 50%."""
    asked = {"model": "basu", "above_percent": 100}
    with pytest.raises(Missing, match=r"basu .*\d%"):
        value("negative_share", **asked)
    of = (tree.predictions["model"] == "basu") & (tree.predictions["workload"] == "gups-8gb")
    for layout, predicted in (("random-0", -1.0), ("random-1", 1e9), ("1gb", -1.0)):
        rows = of & (tree.predictions["layout"] == layout)
        tree.predictions.loc[rows, "predicted_runtime_cycles"] = predicted
    assert value("negative_share", **asked) == 50


def test_errors_outside_the_anchors_do_not_count_between_them(value, tree):
    models = ["basu", "yaniv"]
    assert value("largest_error_between", models=models) == pytest.approx(50)
    rows = (tree.predictions["model"] == "yaniv") & (tree.predictions["layout"] == "random-0")
    tree.predictions.loc[rows, "predicted_runtime_cycles"] *= 1.9 / 1.1
    assert value("largest_error_between", models=models) == pytest.approx(90)
    tree.cells.loc[tree.cells["layout"] == "random-0", "walk_cycles"] = 20201  # all-4KB has 20200
    assert value("largest_error_between", models=models) == pytest.approx(50)


def test_inputs_whose_coefficients_are_zero_are_not_used(value, tree):
    both = Scope(("gups-8gb", "graph500-2gb"), ("sandybridge",))
    assert value("most_common_inputs", scope=both, model="mosmodel") == 100
    rows = (tree.coefficients["workload"] == "gups-8gb") & (tree.coefficients["term"] == "M")
    tree.coefficients.loc[rows, "coefficient"] = 1.0
    assert value("most_common_inputs", scope=both, model="mosmodel") == 50
