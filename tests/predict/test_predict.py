"""Predictions of designs: numbers by hand, warnings, refusals, and the command."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.core.errors import TesseraError
from tessera.fit.predict import ExtrapolationWarning, predict
from tessera.results.schema.models import OF_PAIR

from .builders import design, samples


def test_a_line_by_hand():
    found = predict(samples(noise=0.0), design(), "poly1").iloc[0]
    assert found["predicted_runtime_cycles"] == pytest.approx(5.5e9, rel=1e-9)
    assert found["inside_hull"] and found["outside_by"] == 0 and found["message"] == ""
    assert found["runtime_provenance"] == "simulated"


def test_the_interval_has_the_size_of_the_noise():
    """Noise of 1e7 cycles on a line: a 95% interval is about +- 2e7."""
    found = predict(samples(60), design(), "poly1").iloc[0]
    assert found["interval_method"] == "jackknife+"
    assert 1e7 < found["high_cycles"] - 5.5e9 < 5e7 and 1e7 < 5.5e9 - found["low_cycles"] < 5e7


@pytest.mark.parametrize("model", ["mosmodel", "yaniv", "minimax", "monotone", "gp"])
def test_every_kind_of_model_predicts_the_line(model):
    found = predict(samples(noise=0.0), design(), model).iloc[0]
    assert found["predicted_runtime_cycles"] == pytest.approx(5.5e9, rel=1e-3)
    assert found["low_cycles"] <= found["predicted_runtime_cycles"] * (1 + 1e-9)


def test_outside_the_hull_it_warns_and_says_by_how_much():
    far = design(walk_cycles=[6e9], stlb_misses=[1.5e8], stlb_hits=[0.0])
    with pytest.warns(ExtrapolationWarning, match="mine: extrapolation: .* 50% "):
        found = predict(samples(), far, "poly1").iloc[0]
    assert found["outside_by"] == pytest.approx(0.5) and not found["inside_hull"]
    with pytest.warns(ExtrapolationWarning, match="mine: extrapolation: .*%"):
        predict(samples(), design(stlb_hits=[1.1e7]), "poly1")  # few hits go with many misses


def test_inside_there_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predict(samples(), design(), "poly1")


def test_few_samples_are_said():
    found = predict(samples(12), design(), "mosmodel").iloc[0]
    assert " 0.923" in found["message"] and np.isnan(found["low_cycles"])
    assert re.search("one-in-ten .* 12 samples", found["message"])


def test_rows_without_names_get_numbers():
    two = pd.concat([design(), design()]).drop(columns="design")
    assert list(predict(samples(), two, "poly1")["design"]) == ["row 1", "row 2"]


def test_cells_are_designs_too():
    cells = samples().assign(status="ok")
    cells.loc[3, "status"] = "failed"
    cells.loc[3, "walk_cycles"] = np.nan
    found = predict(samples(), cells, "poly1")
    assert len(found) == 39 and "growing-3" not in set(found["design"])
    assert list(predict(samples(), cells, "poly1", only="growing-8")["design"]) == ["growing-8"]


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
        predict(samples(), asked, "poly1")


def test_other_refusals(tmp_path):
    with pytest.raises(TesseraError, match="model 'moss'"):
        predict(samples(), design(), "moss")
    with pytest.raises(TesseraError, match="none.csv"):
        predict(samples(), tmp_path / "none.csv")
    with pytest.raises(TesseraError, match="'yours': .*mine"):
        predict(samples(), design(), only="yours")
    with pytest.raises(TesseraError, match="level 95: "):
        predict(samples(), design(), "poly1", level=95)


def test_the_command_writes_what_python_returns(tmp_path):
    samples().to_csv(tmp_path / "cells.csv", index=False)
    design().to_csv(tmp_path / "design.csv", index=False)
    asked = [
        "--samples",
        tmp_path / "cells.csv",
        "--design",
        tmp_path / "design.csv",
        "--out",
        tmp_path / "out.csv",
    ]
    done = CliRunner().invoke(cli, ["predict", *map(str, asked)])
    assert done.exit_code == 0, done.output
    assert "EXTRAPOLATED" not in done.stdout
    assert "mine: 5.49963e+09 cycles" in done.stdout and "95% interval" in done.stdout
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert tuple(written.columns) == OF_PAIR["one_gb"].names
    expected = predict(samples(), design()).iloc[0]["predicted_runtime_cycles"]
    assert written.loc[0, "predicted_runtime_cycles"] == pytest.approx(expected, rel=1e-12)


def test_the_command_warns_on_standard_error(tmp_path):
    samples().to_csv(tmp_path / "cells.csv", index=False)
    design(walk_cycles=[9e9]).to_csv(tmp_path / "design.csv", index=False)
    asked = ["--samples", tmp_path / "cells.csv", "--design", tmp_path / "design.csv", "--model", "poly1"]
    done = CliRunner().invoke(cli, ["predict", *map(str, asked)])
    assert "extrapolation" in done.stderr and "extrapolation" not in done.stdout
    assert done.stdout.strip().endswith("EXTRAPOLATED"), "a number outside the hull is marked where it stands"


def test_a_written_fit_gives_the_same_interval(tmp_path):
    """`models predict --json` from intervals.json equals `predict` from the samples."""
    samples().to_csv(tmp_path / "cells.csv", index=False)
    for arguments in (
        ["fit", "--samples", tmp_path / "cells.csv", "--out", tmp_path / "fit", "--folds", "3"],
    ):
        assert CliRunner().invoke(cli, ["models", *map(str, arguments)]).exit_code == 0
    asked = ["--stlb-hits", "4e7", "--stlb-misses", "2.5e7", "--walk-cycles", "1e9", "--json"]
    for model in ("mosmodel", "yaniv"):
        printed = CliRunner().invoke(
            cli, ["models", "predict", "--fit", str(tmp_path / "fit"), "--model", model, *asked]
        )
        answer, expected = (
            json.loads(printed.stdout),
            predict(tmp_path / "cells.csv", design(), model).iloc[0],
        )
        for key in ("predicted_runtime_cycles", "low_cycles", "high_cycles", "level"):
            assert answer[key] == expected[key], key
        assert answer["interval_method"] == expected["interval_method"]
    (tmp_path / "fit" / "intervals.json").unlink()
    printed = CliRunner().invoke(
        cli, ["models", "predict", "--fit", str(tmp_path / "fit"), "--model", "poly1", *asked]
    )
    answer = json.loads(printed.stdout)
    assert answer["low_cycles"] is None and "no intervals.json" in answer["interval_message"]
