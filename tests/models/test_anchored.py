"""Cross validation with anchors in training, and the leverage and range of tested rows, by hand."""

import numpy as np
import pandas as pd
import pytest

from tessera.core.layouts.layout import ALL_2MB, ALL_4KB
from tessera.fit.evaluation.anchored import (
    FOLDS,
    PARTS,
    SEEDS,
    anchored,
    distinct_rows,
    leverage_features,
    leverages,
    outside,
)
from tessera.fit.models.registry import create
from tessera.fit.models.samples import check_samples

from .builders import make_frame, make_samples, noisy


def table(samples=None, gb=(5.2e9, 3, 2, 70)):
    frame = make_frame(noisy() if samples is None else samples)
    if gb:
        frame.loc[len(frame)] = ["1gb", *gb]
    return check_samples(frame)


def with_copies():
    """The noisy samples; random-0 is a copy of all-4KB, sliding-20-0 and -1 are copies of each other."""
    s = noisy()
    columns = {name: getattr(s, name).copy() for name in "RHMC"}
    number = s.layouts.index
    for copy, of in (("random-0", ALL_4KB), ("sliding-20-1", "sliding-20-0")):
        for values in columns.values():
            values[number(copy)] = values[number(of)]
    return make_samples(*(columns[name] for name in "RHMC"))


def part(found, **where):
    for column, value in where.items():
        found = found[found[column] == value]
    (row,) = found.to_dict("records")
    return row


def test_the_protocol_is_pinned():
    assert FOLDS == 6 and tuple(range(1, 21)) == SEEDS
    assert list(PARTS) == ["all", "low-leverage", "interpolation", "extrapolation"]


def test_anchors_and_one_row_of_each_duplicate():
    s = check_samples(make_frame(with_copies())).fitted
    anchors, others = distinct_rows(s)
    assert {s.layouts[i] for i in anchors} == {ALL_4KB, ALL_2MB}
    names = {s.layouts[i] for i in others}
    assert (
        len(others) == 50 and "random-0" not in names and len({"sliding-20-0", "sliding-20-1"} & names) == 1
    )
    assert len(distinct_rows(s, {"random-3": "random-2"})[1]) == 49


def test_anchors_always_train_and_no_copy_of_a_tested_row_does(monkeypatch):
    samples, seen = table(with_copies()).fitted, []

    class Recorder:
        samples = None

        def of(self, model):
            def fit(rows):
                seen.append(rows)
                return create(model.name).fit(samples.subset(rows))

            return fit

    recorder = Recorder()
    asked = table(with_copies(), gb=None)
    recorder.samples = asked.fitted
    anchored(asked, ["poly1"], seeds=[1, 2], fits=recorder)
    assert len(seen) == 2 * FOLDS
    for rows in seen:
        names = {samples.layouts[i] for i in rows}
        assert {ALL_4KB, ALL_2MB} <= names and "random-0" not in names
        assert samples.subset(rows).effective_n == len(rows)


def test_all_rows_by_hand():
    asked = table()
    s = asked.fitted
    anchors, others = distinct_rows(s)
    largest = []
    for seed in SEEDS:
        errors = []
        for fold in np.array_split(np.random.RandomState(seed).permutation(others), 6):
            train = np.setdiff1d(np.arange(len(s)), fold)
            slope, beta = np.polyfit(s.C[train], s.R[train], 1)
            errors.append(np.abs((beta + slope * s.C[fold]) / s.R[fold] - 1).max())
        largest.append(max(errors))
    row = part(anchored(asked, ["poly1"]), protocol="anchored", part="all")
    assert row["max_error"] == pytest.approx(np.median(largest), rel=1e-9)
    assert row["max_error_low"] == pytest.approx(min(largest), rel=1e-9)
    assert row["max_error_high"] == pytest.approx(max(largest), rel=1e-9)
    assert (row["seeds"], row["failed_seeds"], row["tested_rows"]) == (20, 0, 20 * len(others))
    assert row["effective_n"] == 54


def test_interpolations_and_extrapolations_are_all_rows():
    found = anchored(table(), ["poly1", "mosmodel"], seeds=[1, 2, 3])
    for model in ("poly1", "mosmodel"):
        rows = {name: part(found, model=model, protocol="anchored", part=name) for name in PARTS}
        counts = {name: row["tested_rows"] for name, row in rows.items()}
        assert counts["interpolation"] + counts["extrapolation"] == counts["all"]
        both = max(rows[name]["max_error_high"] for name in ("interpolation", "extrapolation"))
        assert rows["all"]["max_error_high"] == both
        assert rows["low-leverage"]["max_error_high"] <= rows["all"]["max_error_high"]


def test_a_row_that_alone_determines_the_slope_has_high_leverage():
    s = noisy()
    columns = {name: getattr(s, name).copy() for name in "RHMC"}
    far = s.layouts.index("random-4")
    columns["C"][far], columns["R"][far] = 4e12, 9e9  # a thousand times beyond the others, and off their line
    spoiled = make_samples(*(columns[name] for name in "RHMC"))
    found = anchored(table(spoiled), ["poly1"], seeds=[1, 2])
    rows = {name: part(found, protocol="anchored", part=name) for name in PARTS}
    assert rows["all"]["max_error"] > 10 and rows["extrapolation"]["max_error"] == rows["all"]["max_error"]
    assert rows["low-leverage"]["max_error"] < 1
    assert rows["low-leverage"]["tested_rows"] == rows["all"]["tested_rows"] - 2


def test_leverage_is_the_diagonal_of_the_hat_matrix():
    s = noisy()
    model = create("poly2").fit(s)
    columns = leverage_features(model, s)
    assert columns.shape == (54, 2)
    scaled = np.column_stack([np.ones(54), s.C / 4e9, (s.C / 4e9) ** 2])
    hat = scaled @ np.linalg.inv(scaled.T @ scaled) @ scaled.T
    np.testing.assert_allclose(leverages(columns), np.diag(hat), rtol=1e-8)
    assert leverages(columns).sum() == pytest.approx(3)  # the number of coefficients


def test_outside_is_judged_feature_by_feature():
    train = np.array([[0.0, 5.0], [10.0, 9.0]])
    assert list(outside(train, np.array([[0, 9], [11, 6], [5, 4.9], [5, 5]]))) == [False, True, True, False]


def test_the_1gb_run_is_one_row_for_every_model():
    found = anchored(table(), ["yaniv", "poly1"], seeds=[1])
    for model in ("yaniv", "poly1"):
        rows = {name: part(found, model=model, protocol="1gb", part=name) for name in PARTS}
        s = table().fitted
        predicted = create(model).fit(s).predict(H=3, M=2, C=70)
        assert rows["all"]["max_error"] == pytest.approx(abs(1 - predicted / 5.2e9), rel=1e-9)
        assert rows["extrapolation"]["max_error"] == rows["all"]["max_error"]
        assert np.isnan(rows["interpolation"]["max_error"]) and rows["interpolation"]["tested_rows"] == 0
    assert not (found[found["model"] == "yaniv"]["protocol"] == "anchored").any()
    assert not (anchored(table(gb=None), ["yaniv", "poly1"], seeds=[1])["protocol"] == "1gb").any()


def test_reasons_are_given():
    few = check_samples(make_frame(noisy().subset(range(12))).iloc[[0, 1, 2, 3, 8]])
    row = part(anchored(few, ["poly1"]), part="all")
    assert row["failed_seeds"] == 20 and np.isnan(row["max_error"])
    assert row["message"] == "6 folds are not possible with 3 distinct rows"
    found = anchored(table(), ["gp"], seeds=[1])
    assert np.isfinite(part(found, protocol="anchored", part="all")["max_error"])
    row = part(found, protocol="anchored", part="low-leverage")
    assert np.isnan(row["max_error"]) and row["message"] and pd.isna(row["tested_rows"])
