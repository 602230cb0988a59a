"""liblinear's data set and the check of its model, against models made by hand or by a plain solver."""

from __future__ import annotations

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.record.debian_programs.liblinear import (
    DATA,
    FIELDS,
    MODEL,
    Clicks,
    gradient_norm,
    prepare,
    read_model,
)
from tessera.record.workloads import Finished, load_workload
from tessera.record.workloads.definition import Size

CLICKS = Clicks(rows=300, features=110, seed=3)


def test_rows_have_one_feature_of_each_field_and_both_labels():
    features, labels = CLICKS.part(0, 300)
    assert features.shape == (300, FIELDS)
    assert (features // 10 == np.arange(FIELDS)).all()  # ten values a field, fields in order
    assert 60 < (labels == 1).sum() < 240
    assert set(labels) == {-1, 1}


def test_parts_agree_with_the_whole_and_the_seed_matters():
    whole, labels = CLICKS.part(0, 300)
    part, part_labels = CLICKS.part(120, 180)
    assert (whole[120:180] == part).all()
    assert (labels[120:180] == part_labels).all()
    assert (Clicks(300, 110, 4).part(0, 300)[0] != whole).any()


def test_few_values_are_frequent_and_most_are_rare():
    features, _ = Clicks(20000, 11000, 1).part(0, 20000)
    counts = np.sort(np.bincount(features[:, 0], minlength=1000))[::-1]
    # P(value < v) = (v / size)^(1/3): the most frequent of 1000 has a tenth, the upper half a fifth,
    # a little less when the halves are told apart by what was drawn
    assert counts[0] / 20000 == pytest.approx(0.1, abs=0.01)
    assert counts[500:].sum() / 20000 == pytest.approx(1 - 0.5 ** (1 / 3), abs=0.02)


def test_the_file_is_libsvms_text(tmp_path):
    CLICKS.write(tmp_path / "data")
    lines = (tmp_path / "data").read_text().splitlines()
    features, labels = CLICKS.part(0, 300)
    assert len(lines) == 300
    for line, row, label in zip(lines, features, labels, strict=True):
        first, *rest = line.split()
        assert int(first) == label
        assert rest == [f"{f + 1}:1" for f in row]


def test_gradient_is_that_of_the_objective():
    features, labels = CLICKS.part(0, 300)
    weights = np.sin(np.arange(110.0))

    def objective(w):
        margins = [y * sum(w[f] for f in row) for row, y in zip(features, labels, strict=True)]
        return w @ w / 2 + sum(max(0.0, 1 - m) ** 2 for m in margins)

    steps = 1e-6 * np.eye(110)
    slopes = [(objective(weights + step) - objective(weights - step)) / 2e-6 for step in steps]
    assert gradient_norm(weights, features, labels) == pytest.approx(np.linalg.norm(slopes), rel=1e-6)


def trained(features, labels, steps=2000):
    """Weights by plain gradient descent on dense rows."""
    dense = np.zeros((len(labels), 110))
    np.put_along_axis(dense, features, 1.0, axis=1)
    weights = np.zeros(110)
    for _ in range(steps):
        margin = labels * (dense @ weights)
        weights -= 1e-3 * (weights - 2 * dense.T @ (labels * np.maximum(0, 1 - margin)))
    return weights


def model_text(weights, label="1 -1"):
    head = f"solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel {label}\nnr_feature {len(weights)}\nbias -1\nw\n"
    return head + "".join(f"{w:.17g} \n" for w in weights)


def test_read_model_turns_weights_of_the_other_label(tmp_path):
    path = tmp_path / MODEL
    path.write_text(model_text([1.0, -2.5]))
    assert read_model(path).tolist() == [1, -2.5]
    path.write_text(model_text([1.0, -2.5], label="-1 1"))
    assert read_model(path).tolist() == [-1, 2.5]
    for broken in (
        model_text([1.0], label="1 2"),
        model_text([1.0, 2.0]).replace("nr_feature 2", "nr_feature 3"),
    ):
        path.write_text(broken)
        with pytest.raises(TesseraError, match="result of liblinear-train"):
            read_model(path)


def run_of(folder, *args):
    size = Size("s", ("--rows", "300", "--features", "110", "--seed", "3", *args), 1, 2 << 20, 2 << 20)
    return prepare(load_workload("mitosis-liblinear"), size, folder)


def test_the_verifier_takes_a_trained_model_and_no_other(tmp_path):
    run = run_of(tmp_path, "--tolerance-percent", "5", "--skip", "70")
    assert (tmp_path / DATA).exists()
    assert run.roi == "skip:70"
    assert run.argv[run.argv.index("-e") + 1] == "0.05"
    done = Finished(0, "", "", tmp_path)
    with pytest.raises(TesseraError, match=f"^result of liblinear-train: .*{MODEL}"):
        run.verify(done)
    weights = trained(*CLICKS.part(0, 300))
    (tmp_path / MODEL).write_text(model_text(weights))
    result = run.verify(done)
    assert result["verified"] is True
    assert result["relative_gradient"] < 0.025
    assert result["training_accuracy"] > 0.6
    for wrong in (weights * 0.9, np.zeros(110), np.roll(weights, 1)):
        (tmp_path / MODEL).write_text(model_text(wrong))
        with pytest.raises(TesseraError, match="gradient"):
            run.verify(done)
    (tmp_path / MODEL).write_text(model_text(weights[:100]))
    with pytest.raises(TesseraError, match="100 features"):
        run.verify(done)


def test_a_wrong_size_is_refused(tmp_path):
    for args in (("--rows", "0"), ("--features", "10"), ("--tolerance-percent", "0")):
        size = Size("s", args, 1, 2 << 20, 2 << 20)
        with pytest.raises(TesseraError, match=f"{args[0]}"):
            prepare(load_workload("mitosis-liblinear"), size, tmp_path)
