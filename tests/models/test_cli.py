"""`tessera models` end to end, on generated files."""

import hashlib
import json

import pandas as pd
import pytest

from tessera.core.errors import TesseraError
from tessera.core.results.cell_tables import MODELS_OF_PAIR
from tessera.fit.fit_folder import TABLES
from tessera.fit.models.registry import EVERY, MODELS

from .command import point, read, run


@pytest.mark.parametrize("name", TABLES)
def test_fit_writes_the_tables(folder, name):
    assert tuple(read(folder / f"{name}.csv").columns) == MODELS_OF_PAIR[name].names


@pytest.mark.parametrize("model", MODELS)
def test_predict_repeats_predictions_to_the_last_digit(folder, table, model):
    predictions = read(folder / "predictions.csv").query("model == @model").set_index("layout")
    for layout, name in [("1gb", "1gb"), ("4kb", "growing-0"), ("random-4", "random-4")]:
        row = table.set_index("layout").loc[layout]
        printed = run(
            "predict",
            "--fit",
            folder,
            "--json",
            "--formula",
            model,
            "--point",
            point(row),
        ).output
        found = json.loads(printed)["predicted_runtime_cycles"]
        assert found == float(predictions.loc[name, "predicted_runtime_cycles"])


def test_coefficients_alone_predict(folder):
    """coefficients.csv holds the coefficients of fit.json, digit for digit."""
    document = json.loads((folder / "fit.json").read_text())
    for model, group in read(folder / "coefficients.csv").groupby("model"):
        learned = dict(zip(group["term"], group["coefficient"], strict=True))
        assert learned == document["models"][model]["coefficients"]


def test_json_says_what_is_extrapolated(folder, table):
    first = dict(table.iloc[1])
    asked = ["predict", "--json", "--fit", folder, "--formula", "poly1", "--point"]
    assert json.loads(run(*asked, point(first)).output)["inside_hull"] is True
    outside = json.loads(run(*asked, point(first | {"walk_cycles": 1e12})).output)
    assert outside["inside_hull"] is False and outside["outside_by"] > 100
    assert "walk_cycles" in outside["message"]


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


def test_show_lists_models_or_fitted_ones(folder):
    listed = run("show").output
    assert [line.split()[0] for line in listed.splitlines()] == list(EVERY)
    assert [line.split()[0] for line in listed.splitlines() if "by name only" not in line] == list(MODELS)
    assert run("show", "--fit", folder, "--model", "pham").output.startswith("pham: R = ")


def test_explain_at_a_point(folder):
    """The slope of poly1 is what a walk cycle costs."""
    asked = ["--point", "1e7,2e7,1e9"]
    text = run("show", "--fit", folder, "--model", "poly1", *asked).output
    costs = json.loads(run("show", "--fit", folder, "--model", "poly1", *asked, "--json").output)
    slope = json.loads((folder / "fit.json").read_text())["models"]["poly1"]["coefficients"]["C"]
    assert costs["cycles_per_walk_cycle"] == slope and costs["cycles_per_stlb_hit"] == 0
    assert costs["cycles_per_miss_with_walk"] == 50 * slope
    assert f" {slope:+.4g} cycles" in text


def test_collect_puts_workload_and_platform_in_front(folder, tmp_path):
    run("collect", "--out", tmp_path, folder)
    for name in TABLES:
        joined = read(tmp_path / f"{name}.csv")
        assert tuple(joined.columns) == ("workload", "platform", *MODELS_OF_PAIR[name].names)
        assert set(joined["workload"]) == {"gups"} and set(joined["platform"]) == {"haswell-sim"}
        pd.testing.assert_frame_equal(
            joined.drop(columns=["workload", "platform"]), read(folder / f"{name}.csv")
        )


# name: (arguments with {fit} and {tmp}, what the message must say)
REFUSED = {
    "unknown model": ("predict --fit {fit} --formula moss", "use one of: alam, alam-scaled, basu"),
    "no fit": ("predict --fit {tmp} --formula basu", "fit.json .*\n.* tessera models fit --out"),
    "negative": ("predict --fit {fit} --formula basu --point=-1,1,1", "stlb_hits .*-1"),
    "unknown model to fit": ("fit --samples {samples} --out {tmp} --model moss", "use one of: alam"),
    "a folder": ("fit --samples {fit} --out {tmp}", "haswell-sim: .*\n.*layout,runtime_cycles"),
    "no samples": ("fit --samples {tmp}/none.csv --out {tmp}", "none.csv: "),
    "folds": ("fit --samples {samples} --out {tmp} --folds 3,x", "--folds 3,x: .*\n.*--folds 3,6,9"),
    "one fold": ("fit --samples {samples} --out {tmp} --folds 1", "--folds 1: "),
    "no tables": ("collect --out {tmp} {tmp}", "coefficients.csv"),
    "half a point": ("show --fit {fit} --point 1", "--point 1: .*three numbers"),
    "no number": ("show --fit {fit} --point 1,2,x", "--point 1,2,x: .*three numbers"),
    "a point without a fit": ("show --point 1,2,3", "--fit FOLDER"),
    "json without a point": ("show --fit {fit} --json", "--point H,M,C"),
    "unknown model to show": ("show --model moss", "use one of: alam"),
    "replay without a folder": ("adaptive --samples {samples}", "--out FOLDER"),
    "unknown protocol": ("protocols --samples {samples} --out {tmp} --protocol loo", "no such protocol"),
    "pair twice": ("collect --out {tmp} {fit} {fit}", r"fit (\S+): \1 "),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, folder, tmp_path):
    template, message = REFUSED[name]
    paths = {"fit": folder, "tmp": tmp_path, "samples": folder.parents[1] / "samples.csv"}
    arguments = template.format(**paths).split()
    if arguments[0] == "predict" and "--point" not in template:
        arguments += ["--point", "1,1,1"]
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
            "--formula",
            "basu",
            "--point",
            "1,1,1",
        )


def test_a_model_outside_the_fit_is_explained(folder, tmp_path):
    samples = folder.parents[1] / "samples.csv"
    run("fit", "--samples", samples, "--out", tmp_path, "--model", "poly1", "--folds", 3)
    with pytest.raises(TesseraError, match="'basu' .* poly1\n"):
        run("show", "--fit", tmp_path, "--model", "basu")
