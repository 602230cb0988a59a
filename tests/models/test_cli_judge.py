"""`tessera models`: every model stored and read back, the one-in-ten rule, protocols, adaptive, collect."""

import json
import re

import pytest

from tessera.core.errors import TesseraError
from tessera.fit.models.registry import EVERY, MODELS

from .command import point, read, run


def test_every_model_is_fitted_stored_and_read_back(folder, table, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    asked = ["fit", "--samples", samples, "--out", tmp_path, "--model", "every", "--folds", 3]
    result = run(*asked, "--measured-walk-cycles-4kb", 1e9)
    predictions = read(tmp_path / "predictions.csv").set_index(["model", "layout"])
    assert list(dict.fromkeys(predictions.index.get_level_values(0))) == list(EVERY)
    row = table.set_index("layout").loc["random-4"]
    for model in EVERY:
        asked = ["predict", "--fit", tmp_path, "--formula", model, "--point", point(row), "--json"]
        printed = json.loads(run(*asked).stdout)
        value = printed["predicted_runtime_cycles"]
        stored = predictions.loc[(model, "random-4"), "predicted_runtime_cycles"]
        # the vectorised exponential of numpy may differ from the scalar one in the last digit
        assert value == pytest.approx(float(stored), rel=1e-12 if model == "gp" else 0)
    assert "gp: Gaussian process" in run("show", "--fit", tmp_path, "--model", "gp").output
    assert "alam-scaled" not in result.stderr
    unscaled = run("fit", "--samples", samples, "--out", tmp_path / "b", "--model", "every", "--folds", 3)
    assert re.search("alam-scaled .*C_4K", unscaled.stderr)


def test_the_one_in_ten_rule_flags_or_refuses(table, tmp_path):
    table.iloc[:20].to_csv(tmp_path / "few.csv", index=False)
    asked = ["fit", "--samples", tmp_path / "few.csv", "--folds", 3, "--out", tmp_path / "out"]
    flagged = run(*asked)
    assert re.search("mosmodel .*one-in-ten .*: 5 .* 20 ", flagged.stderr)
    assert "mosmodel " in flagged.stdout
    refused = run(*asked, "--one-in-ten", "refuse")
    assert re.search("mosmodel .*one-in-ten .*: 5 .* 20 ", refused.stderr)
    assert set(read(tmp_path / "out" / "coefficients.csv")["model"]) == set(MODELS) - {"mosmodel", "poly3"}


def test_protocols_and_adaptive_write_their_tables(folder, table, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    pair = tmp_path / "gups" / "haswell-sim"
    run("fit", "--samples", samples, "--out", pair, "--folds", 3)
    printed = run("protocols", "--samples", samples, "--out", pair, "--draws", 2).output
    judged, cv = read(pair / "protocols.csv"), read(folder / "cv.csv")
    six = judged[(judged["protocol"] == "kfold") & (judged["setting"] == "6")].set_index("model")["max_error"]
    expected = cv[cv["folds"] == 6].set_index("model")["max_error"]
    assert dict(six.astype(float)) == dict(expected)
    assert re.search(f"mosmodel .* {float(six['mosmodel']):.3%} ", printed)
    run("adaptive", "--samples", samples, "--out", pair, "--seeds", 1, "--model", "poly2")
    assert set(read(pair / "learning_curve.csv")["draws"].astype(int)) == {1, 2}
    assert list(read(pair / "adaptive.csv")["order"]) == ["adaptive"] * 3 + ["random"] * 3
    run("collect", "--out", tmp_path / "all", pair)
    for name in ("protocols", "learning_curve", "adaptive", "adaptive_curve"):
        assert set(read(tmp_path / "all" / f"{name}.csv")["workload"]) == {"gups"}, name


def test_adaptive_names_what_to_run_next(folder, table, tmp_path):
    table.iloc[:12].to_csv(tmp_path / "run.csv", index=False)
    table.drop(columns="runtime_cycles").to_csv(tmp_path / "pool.csv", index=False)
    asked = [
        "adaptive",
        "--samples",
        tmp_path / "run.csv",
        "--candidates",
        tmp_path / "pool.csv",
        "--most",
        3,
    ]
    result = run(*asked)
    named = [line.split()[0] for line in result.stdout.splitlines() if not line.startswith("layout ")]
    assert len(named) == 3 and not set(named) & set(table["layout"][:12]) and "1gb" not in named
    assert " 1gb: " in result.stderr


def test_a_pair_without_its_tables_is_named(folder, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    for workload in ("gups", "pr", "empty"):
        run("fit", "--samples", samples, "--out", tmp_path / workload / "p", "--folds", 3, "--model", "poly1")
    folders = [tmp_path / workload / "p" for workload in ("gups", "pr", "empty")]
    (folders[2] / "not_fitted.txt").write_text("no samples\n")
    run("protocols", "--samples", samples, "--out", folders[0], "--draws", 0, "--model", "poly1")
    with pytest.raises(TesseraError, match="pr/p: .*protocols.csv"):
        run("collect", "--out", tmp_path / "all", *folders)
    run("protocols", "--samples", samples, "--out", folders[1], "--draws", 0, "--model", "poly1")
    run("collect", "--out", tmp_path / "all", *folders)
    assert set(read(tmp_path / "all" / "protocols.csv")["workload"]) == {"gups", "pr"}
