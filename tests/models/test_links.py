"""The models' links of the pipeline: every pair gets every table, and what cannot be done says why."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.main import cli
from tessera.cli.pipeline.fit import adaptive, fit, one_gb
from tessera.core.files import repo_root
from tessera.core.results.cell_tables import MANIFEST, MODELS_OF_RUN
from tessera.core.results.table_io import frame_of, write_table
from tessera.core.results.tree import FIT_TABLES, MODEL_TABLES
from tessera.fit.collected_fits import collect_fits
from tessera.fit.fit_folder import TABLES
from tessera.fit.fitting import fit_all
from tessera.fit.models.registry import MODELS
from tessera.fit.models.samples import read_samples
from tessera.lab.study import Run

from .builders import make_frame, noisy

GOOD, FAILED, SMALL = ("gups", "a-sim"), ("xml", "a-sim"), ("road", "a-sim")


def one_gb_row() -> dict:
    row = {"layout": "1gb", "runtime_cycles": 5.1e9, "stlb_hits": 3, "stlb_misses": 2, "walk_cycles": 70}
    return row | {"status": "ok", "message": ""}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Cells of a good pair (one duplicate by manifest), a failed one, and one of four layouts, none 1gb."""
    root = tmp_path_factory.mktemp("results")
    frame = make_frame(noisy()).assign(status="ok", message="")
    good = pd.concat([frame, pd.DataFrame([one_gb_row()])], ignore_index=True)
    small = frame[frame["layout"].isin(["growing-0", "growing-8", "growing-3", "random-1"])]
    failed = good.assign(status="failed", message="no memory", runtime_cycles="")
    for (workload, platform), table in zip((GOOD, FAILED, SMALL), (good, failed, small), strict=True):
        path = root / "cells" / workload / f"{platform}.csv"
        path.parent.mkdir(parents=True)
        table.assign(workload=workload, platform=platform).to_csv(path, index=False)
        manifest = root / "layouts" / workload / platform / "manifest.csv"
        same = [{"layout": "growing-1"}, {"layout": "growing-2", "duplicate_of": "growing-1"}]
        write_table(MANIFEST, frame_of(MANIFEST, same), manifest)
    return root


@pytest.fixture(scope="module")
def done(results):
    cells, out = sorted((results / "cells").glob("*/*.csv")), results / "models"
    return out, {
        "fit": fit.function(Run(out), cells, 1, results / "layouts"),
        "adaptive": adaptive.function(Run(out), cells, 2),
        "one-gb": one_gb.function(Run(out), cells),
    }


def folder(done, pair):
    return done[0] / pair[0] / pair[1]


def test_tables_of_the_workflow_are_those_of_the_package():
    """models.smk names no table: it imports the names, which cost every job of a cluster nothing."""
    assert set(FIT_TABLES) == {*TABLES, "protocols", "anchored", "learning_curve"}
    text = (repo_root() / "workflow" / "rules" / "models.smk").read_text()
    assert "from tessera.core.results.tree import ADAPTIVE_TABLES, FIT_TABLES, ONE_GB_TABLES" in text
    assert not [name for name in MODEL_TABLES if f'"{name}"' in text]


def test_every_pair_has_every_table_and_they_can_be_joined(done):
    joined = collect_fits([folder(done, pair) for pair in (GOOD, FAILED, SMALL)])
    assert set(joined) == set(MODEL_TABLES)
    assert set(joined["errors"]["workload"]) == {"gups", "road"}
    assert set(joined["one_gb"]["workload"]) == {"gups"}


def test_the_good_pair_has_what_the_parts_say(done, results):
    """The same numbers as the models by themselves; the manifest's duplicate shares a fold."""
    table = read_samples(results / "cells" / "gups" / "a-sim.csv")
    alone = fit_all(table, seed=1, beside=["mosmodel-authors"]).errors
    mine = pd.read_csv(folder(done, GOOD) / "errors.csv", keep_default_na=False, na_values=[""])
    assert mine["max_error"].tolist() == alone["max_error"].tolist()
    assert set(mine["model"]) == {*MODELS, "mosmodel-authors"}
    cv = pd.read_csv(folder(done, GOOD) / "cv.csv", keep_default_na=False, na_values=[""])
    trained = [name for name, model in MODELS.items() if model.cross_validated]
    left_out, seeds = cv[cv["protocol"] == "leave-one-out"], cv[cv["protocol"] == "seeds"]
    assert left_out["model"].tolist() == [*trained, "mosmodel-authors"] and left_out["seed"].isna().all()
    assert seeds.groupby("model")["seed"].apply(set).to_dict() == {name: set(range(10)) for name in trained}
    judged = pd.read_csv(folder(done, GOOD) / "protocols.csv", keep_default_na=False)
    of_54 = judged[(judged["protocol"] == "kfold") & (judged["setting"] == "54")]
    assert of_54["message"].str.contains("53 distinct layouts").all() and len(of_54) == len(trained)
    assert set(json.loads((folder(done, GOOD) / "intervals.json").read_text())["models"]) >= {"mosmodel"}
    orders = pd.read_csv(folder(done, GOOD) / "adaptive_curve.csv")
    assert set(orders["seed"].dropna()) == {0, 1}
    assert pd.read_csv(folder(done, GOOD) / "one_gb.csv")["design"].tolist() == ["1gb"]
    parts = pd.read_csv(folder(done, GOOD) / "budget.csv")["part"].tolist()
    assert parts == ["model", "simulator", "sampling", "noise", "total"]


def test_what_cannot_be_done_says_why(done):
    """Failed cells leave no anchors; four layouts are too few for Mosmodel; a table may lack 1gb."""
    reasons = done[1]
    assert set(reasons["fit"]) == {folder(done, FAILED)}
    for step in ("adaptive", "one-gb"):
        assert set(reasons[step]) == {folder(done, FAILED), folder(done, SMALL)}, step
    assert "4 samples" in (folder(done, SMALL) / "not_replayed.txt").read_text()
    assert "1gb" in (folder(done, SMALL) / "not_predicted.txt").read_text()
    for note in ("not_fitted.txt", "not_replayed.txt", "not_predicted.txt"):
        assert (folder(done, FAILED) / note).read_text().strip()
        assert not (folder(done, GOOD) / note).exists()
    for name in MODEL_TABLES:
        lines = (folder(done, FAILED) / f"{name}.csv").read_text().splitlines()
        assert len(lines) == 1 and "," in lines[0], name
    assert json.loads((folder(done, FAILED) / "intervals.json").read_text())["models"] == {}


def test_the_note_goes_when_the_pair_is_mended(done, results, tmp_path):
    path = tmp_path / "xml" / "a-sim.csv"
    path.parent.mkdir()
    path.write_bytes((results / "cells" / "xml" / "a-sim.csv").read_bytes())
    run = Run(tmp_path / "out")
    assert fit.function(run, [path], 1) != {}
    path.write_bytes((results / "cells" / "gups" / "a-sim.csv").read_bytes())
    assert fit.function(run, [path], 1) == {}
    assert not (tmp_path / "out" / "xml" / "a-sim" / "not_fitted.txt").exists()


def test_the_commands_exit_0_and_name_what_failed(results, tmp_path):
    failed = results / "cells" / "xml" / "a-sim.csv"
    for step, words in {"fit": ["seed=1"], "adaptive": ["seeds=1"], "one-gb": []}.items():
        words += [f"cells={failed}", "--out", str(tmp_path)]
        result = CliRunner().invoke(cli, ["dev", "step", step, *words])
        assert result.exit_code == 0, result.output
        assert "xml" in result.stderr and "not " in result.stderr, result.stderr


def test_if_every_pair_failed_all_tables_of_the_run_exist_without_rows(results, tmp_path):
    """Snakemake ends a run whose outputs do not exist; the report has the reasons."""
    failed = (results / "cells" / "xml" / "a-sim.csv").read_bytes()
    cells = [tmp_path / "cells" / workload / "a-sim.csv" for workload in ("gups", "xml")]
    for path in cells:
        path.parent.mkdir(parents=True)
        path.write_bytes(failed)
    out = tmp_path / "models"
    for step, words in ((fit, {"seed": 1}), (adaptive, {"seeds": 1}), (one_gb, {})):
        assert len(step.function(Run(out), cells, **words)) == 2
    folders = [str(out / path.parent.name / path.stem) for path in cells]
    result = CliRunner().invoke(cli, ["models", "collect", "--out", str(out), *folders])
    assert result.exit_code == 0, result.output
    for name in MODEL_TABLES:
        assert (out / f"{name}.csv").read_text() == ",".join(MODELS_OF_RUN[name].names) + "\n", name


def test_named_models_are_fitted_and_no_others(tmp_path):
    """No model of these learns from samples, so the learning curve has its header only."""
    path = tmp_path / "cells" / "good" / "p-sim.csv"
    path.parent.mkdir(parents=True)
    make_frame(noisy()).to_csv(path, index=False)
    assert fit.function(Run(tmp_path / "out"), [path], 1, models=("gandhi-opera", "yaniv")) == {}
    folder = tmp_path / "out" / "good" / "p-sim"
    for name in ("errors", "predictions", "protocols"):
        assert set(pd.read_csv(folder / f"{name}.csv")["model"]) == {"yaniv", "gandhi-opera"}, name
    for name in ("cv", "learning_curve"):
        assert pd.read_csv(folder / f"{name}.csv").empty, name
