"""`tessera models` end to end, on generated files."""

import hashlib
import json

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.errors import TesseraError
from tessera.models import MODELS, TABLES
from tessera.models.cli import models
from tessera.models.registry import EVERY

from .builders import make_frame, noisy


def run(*arguments, check=True):
    """Run the command; a TesseraError comes through as in a terminal."""
    result = CliRunner().invoke(models, [str(a) for a in arguments])
    if isinstance(result.exception, TesseraError):
        raise result.exception
    assert not check or result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    frame = make_frame(noisy())
    frame["layout"] = frame["layout"].replace({"growing-0": "4kb", "growing-8": "2mb"})
    extra = {"layout": "1gb", "runtime_cycles": 5.1e9, "stlb_hits": 3, "stlb_misses": 2}
    frame = pd.concat([frame, pd.DataFrame([extra | {"walk_cycles": 70}])], ignore_index=True)
    return frame.assign(workload="gups", comment='with, comma and "quotes"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    root = tmp_path_factory.mktemp("fit")
    table.to_csv(root / "samples.csv", index=False)
    run("fit", "--samples", root / "samples.csv", "--out", root / "gups" / "haswell-sim")
    return root / "gups" / "haswell-sim"


def read(path):
    return pd.read_csv(path, keep_default_na=False, dtype={"term": str})


@pytest.mark.parametrize("name", TABLES)
def test_fit_writes_the_tables(folder, name):
    assert tuple(read(folder / f"{name}.csv").columns) == TABLES[name]


@pytest.mark.parametrize("model", MODELS)
def test_predict_repeats_predictions_to_the_last_digit(folder, table, model):
    predictions = read(folder / "predictions.csv").query("model == @model").set_index("layout")
    for layout, name in [("1gb", "1gb"), ("4kb", "growing-0"), ("random-4", "random-4")]:
        row = table.set_index("layout").loc[layout]
        printed = run(
            "predict",
            "--fit",
            folder,
            "--model",
            model,
            "--stlb-hits",
            row["stlb_hits"],
            "--stlb-misses",
            row["stlb_misses"],
            "--walk-cycles",
            row["walk_cycles"],
        ).output
        assert float(printed) == float(predictions.loc[name, "predicted_runtime_cycles"])


def test_coefficients_alone_predict(folder):
    """coefficients.csv holds the coefficients of fit.json, digit for digit."""
    document = json.loads((folder / "fit.json").read_text())
    for model, group in read(folder / "coefficients.csv").groupby("model"):
        learned = dict(zip(group["term"], group["coefficient"], strict=True))
        assert learned == document["models"][model]["coefficients"]


def test_json_says_what_is_extrapolated(folder, table):
    first = table.iloc[1]
    asked = ["predict", "--json", "--fit", folder, "--model", "poly1", "--stlb-hits", first["stlb_hits"]]
    asked += ["--stlb-misses", first["stlb_misses"], "--walk-cycles"]
    assert json.loads(run(*asked, first["walk_cycles"]).output)["inside_fitted_range"] is True
    outside = json.loads(run(*asked, 1e12).output)
    assert outside["inside_fitted_range"] is False
    assert outside["outside"][0].startswith("walk_cycles = 1e+12 is outside")


def test_fit_json_knows_where_it_comes_from(folder):
    document = json.loads((folder / "fit.json").read_text())
    samples = folder.parents[1] / "samples.csv"
    assert document["inputs"] == {"samples.csv": hashlib.sha256(samples.read_bytes()).hexdigest()}
    errors = hashlib.sha256((folder / "errors.csv").read_bytes()).hexdigest()
    assert document["outputs"]["errors.csv"] == errors
    assert {"tessera", "python", "numpy", "scikit-learn"} <= set(document["versions"])


def test_fitting_again_writes_the_same_bytes(folder, tmp_path):
    run("fit", "--samples", folder.parents[1] / "samples.csv", "--out", tmp_path)
    for path in folder.iterdir():
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_chosen_models_folds_and_seed(folder, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    run(
        "fit",
        "--samples",
        samples,
        "--out",
        tmp_path,
        "--model",
        "poly1",
        "--model",
        "yaniv",
        "--folds",
        "3,6",
        "--seed",
        9,
    )
    assert set(read(tmp_path / "errors.csv")["model"]) == {"yaniv", "poly1"}
    cv = read(tmp_path / "cv.csv")
    assert list(cv["folds"]) == [3, 6] and set(cv["seed"]) == {9}


def test_failed_cells_are_announced_and_left_out(table, tmp_path):
    cells = table.assign(status="ok", message="")
    cells.loc[5, ["status", "message"]] = ["failed", "killed"]
    cells.loc[5, "runtime_cycles"] = None
    cells.to_csv(tmp_path / "cells.csv", index=False)
    result = run("fit", "--samples", tmp_path / "cells.csv", "--out", tmp_path / "out", "--folds", 3)
    assert "left out growing-5: status failed (killed)" in result.stderr
    assert set(read(tmp_path / "out" / "errors.csv").query("protocol == 'all'")["samples"]) == {53}


def test_list_and_explain(folder):
    listed = run("list").output
    assert [line.split()[0] for line in listed.splitlines()] == list(EVERY)
    assert [line.split()[0] for line in listed.splitlines() if "by name only" not in line] == list(MODELS)
    assert run("explain", "--fit", folder, "--model", "pham").output.startswith("pham: R = ")


def test_explain_at_a_point(folder):
    """The slope of poly1 is what a walk cycle costs."""
    asked = ["--stlb-hits", 1e7, "--stlb-misses", 2e7, "--walk-cycles", 1e9]
    text = run("explain", "--fit", folder, "--model", "poly1", *asked).output
    costs = json.loads(run("explain", "--fit", folder, "--model", "poly1", *asked, "--json").output)
    slope = json.loads((folder / "fit.json").read_text())["models"]["poly1"]["coefficients"]["C"]
    assert costs["cycles_per_walk_cycle"] == slope and costs["cycles_per_stlb_hit"] == 0
    assert costs["cycles_per_miss_with_walk"] == 50 * slope
    assert f"one more walk cycle costs {slope:+.4g} cycles" in text


def test_every_model_is_fitted_stored_and_read_back(folder, table, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    asked = ["fit", "--samples", samples, "--out", tmp_path, "--model", "every", "--folds", 3]
    result = run(*asked, "--measured-walk-cycles-4kb", 1e9)
    predictions = read(tmp_path / "predictions.csv").set_index(["model", "layout"])
    assert list(dict.fromkeys(predictions.index.get_level_values(0))) == list(EVERY)
    row = table.set_index("layout").loc["random-4"]
    point = ["--stlb-hits", row["stlb_hits"], "--stlb-misses", row["stlb_misses"]]
    for model in EVERY:
        printed = run(
            "predict", "--fit", tmp_path, "--model", model, *point, "--walk-cycles", row["walk_cycles"]
        )
        stored = predictions.loc[(model, "random-4"), "predicted_runtime_cycles"]
        # the vectorised exponential of numpy may differ from the scalar one in the last digit
        assert float(printed.output) == pytest.approx(float(stored), rel=1e-12 if model == "gp" else 0)
    assert "gp: Gaussian process" in run("explain", "--fit", tmp_path, "--model", "gp").output
    assert "alam-scaled not fitted" not in result.stderr
    unscaled = run("fit", "--samples", samples, "--out", tmp_path / "b", "--model", "every", "--folds", 3)
    assert "alam-scaled not fitted: the scale factor needs" in unscaled.stderr


def test_the_one_in_ten_rule_flags_or_refuses(table, tmp_path):
    table.iloc[:20].to_csv(tmp_path / "few.csv", index=False)
    asked = ["fit", "--samples", tmp_path / "few.csv", "--folds", 3, "--out", tmp_path / "out"]
    flagged = run(*asked)
    assert "mosmodel breaks the one-in-ten rule: 5 coefficients from 20 samples" in flagged.stderr
    assert "mosmodel " in flagged.stdout
    refused = run(*asked, "--one-in-ten", "refuse")
    assert "mosmodel not fitted: breaks the one-in-ten rule" in refused.stderr
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
    assert f"mosmodel     6 folds: max {float(six['mosmodel']):8.3%}" in printed
    run("adaptive", "--samples", samples, "--out", pair, "--seeds", 1, "--model", "poly2")
    assert set(read(pair / "learning_curve.csv")["draws"].astype(int)) == {1, 2}
    assert list(read(pair / "adaptive.csv")["order"]) == ["adaptive"] * 3 + ["random"] * 3
    run("collect", "--out", tmp_path / "all", pair)
    for name in ("protocols", "learning_curve", "adaptive", "adaptive_curve"):
        assert set(read(tmp_path / "all" / f"{name}.csv")["workload"]) == {"gups"}, name


def test_adaptive_names_what_to_run_next(folder, table, tmp_path):
    table.iloc[:12].to_csv(tmp_path / "run.csv", index=False)
    table.drop(columns="runtime_cycles").to_csv(tmp_path / "pool.csv", index=False)
    asked = ["adaptive", "--samples", tmp_path / "run.csv", "--pool", tmp_path / "pool.csv", "--count", 3]
    result = run(*asked)
    named = [line.split()[0] for line in result.stdout.splitlines()]
    assert len(named) == 3 and not set(named) & set(table["layout"][:12]) and "1gb" not in named
    assert "left out 1gb: a test point" in result.stderr


def test_a_pair_without_its_tables_is_named(folder, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    for workload in ("gups", "pr", "empty"):
        run("fit", "--samples", samples, "--out", tmp_path / workload / "p", "--folds", 3, "--model", "poly1")
    folders = [tmp_path / workload / "p" for workload in ("gups", "pr", "empty")]
    (folders[2] / "not_fitted.txt").write_text("no samples\n")
    run("protocols", "--samples", samples, "--out", folders[0], "--draws", 0, "--model", "poly1")
    with pytest.raises(TesseraError, match="pr/p: no protocols.csv there"):
        run("collect", "--out", tmp_path / "all", *folders)
    run("protocols", "--samples", samples, "--out", folders[1], "--draws", 0, "--model", "poly1")
    run("collect", "--out", tmp_path / "all", *folders)
    assert set(read(tmp_path / "all" / "protocols.csv")["workload"]) == {"gups", "pr"}


def test_collect_puts_workload_and_platform_in_front(folder, tmp_path):
    run("collect", "--out", tmp_path, folder)
    for name, columns in TABLES.items():
        joined = read(tmp_path / f"{name}.csv")
        assert tuple(joined.columns) == ("workload", "platform", *columns)
        assert set(joined["workload"]) == {"gups"} and set(joined["platform"]) == {"haswell-sim"}
        pd.testing.assert_frame_equal(
            joined.drop(columns=["workload", "platform"]), read(folder / f"{name}.csv")
        )


# name: (arguments with {fit} and {tmp}, what the message must say)
REFUSED = {
    "unknown model": ("predict --fit {fit} --model moss", "use one of: alam, alam-scaled, basu"),
    "no fit": ("predict --fit {tmp} --model basu", "no fit.json there"),
    "negative": ("predict --fit {fit} --model basu --stlb-hits -1", "finite and not negative"),
    "unknown model to fit": ("fit --samples {samples} --out {tmp} --model moss", "use one of: alam"),
    "a folder": ("fit --samples {fit} --out {tmp}", "no such file"),
    "no samples": ("fit --samples {tmp}/none.csv --out {tmp}", "no such file"),
    "folds": ("fit --samples {samples} --out {tmp} --folds 3,x", "not a list of whole numbers"),
    "one fold": ("fit --samples {samples} --out {tmp} --folds 1", "whole numbers >= 2"),
    "no tables": ("collect --out {tmp} {tmp}", "no coefficients.csv there"),
    "half a point": ("explain --fit {fit} --walk-cycles 1", "not all three inputs"),
    "json without a point": ("explain --fit {fit} --json", "not all three inputs"),
    "replay without a folder": ("adaptive --samples {samples}", "no --out"),
    "unknown protocol": ("protocols --samples {samples} --out {tmp} --protocol loo", "no such protocol"),
    "pair twice": ("collect --out {tmp} {fit} {fit}", "same workload and platform"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, folder, tmp_path):
    template, message = REFUSED[name]
    paths = {"fit": folder, "tmp": tmp_path, "samples": folder.parents[1] / "samples.csv"}
    arguments = template.format(**paths).split()
    if arguments[0] == "predict":  # the three inputs where the case is not about them
        for option in ("--stlb-hits", "--stlb-misses", "--walk-cycles"):
            arguments += [] if option in arguments else [option, "1"]
    with pytest.raises(TesseraError, match=message):
        run(*arguments)


@pytest.mark.parametrize(
    "content, message",
    [("{", "damaged"), ("[]", "damaged"), ('{"format": 99}', "format 99"), ('{"format": 1}', "damaged")],
)
def test_damaged_fits(tmp_path, content, message):
    (tmp_path / "fit.json").write_text(content)
    with pytest.raises(TesseraError, match=message):
        run(
            "predict",
            "--fit",
            tmp_path,
            "--model",
            "basu",
            "--stlb-hits",
            1,
            "--stlb-misses",
            1,
            "--walk-cycles",
            1,
        )


def test_a_model_outside_the_fit_is_explained(folder, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    run("fit", "--samples", samples, "--out", tmp_path, "--model", "poly1", "--folds", 3)
    with pytest.raises(TesseraError, match="this fit has only poly1"):
        run("explain", "--fit", tmp_path, "--model", "basu")
