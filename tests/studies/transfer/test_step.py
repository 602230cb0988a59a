"""The studies by name: failures become rows, P can be changed, workloads are judged together."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from tessera.cli.lab.study import run_command
from tessera.cli.pipeline.failures import failures
from tessera.core.errors import TesseraError
from tessera.core.results import transfer_tables as schema
from tessera.core.results.tree import ResultsTree
from tessera.lab.transfer import runs, study
from tessera.lab.transfer.runs import Units
from tessera.simulate.sampling import Intervals
from tests.studies.transfer import world


def info(folder: Path, status: str = "ok") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "info.json"
    path.write_text(json.dumps({"workload": folder.name, "status": status, "message": "disk full"}))
    return path


@pytest.fixture
def made_up(monkeypatch):
    """Everything below the tables of a workload, without a trace."""
    monkeypatch.setattr(runs, "simulate_platform", world.fake_simulate)
    monkeypatch.setattr(
        study, "random_layouts", lambda *of: (world.files(world.NEW), world.files(world.MOSAICS))
    )
    monkeypatch.setattr(
        study, "units_of", lambda *of: Units(Intervals.of([]), world.UNIT_COUNT, 999, 99, 1, 1000)
    )
    monkeypatch.setattr(study.placements, "chosen_layouts", lambda *of: world.files(world.LAYOUTS))
    made = study.placements.Made({"medium": Path("medium.csv")}, [{"touched_pages": 50}])
    monkeypatch.setattr(study.placements, "make_mappings", lambda *of: made)


def ran(name: str, *words, out: Path):
    return CliRunner().invoke(run_command, [name, *map(str, words), "--out", str(out)])


def test_a_failed_recording_is_a_row_that_the_next_run_tries_again(tmp_path):
    tree = ResultsTree(tmp_path)
    out = tree.transfer_of("gups", "haswell-sim", "points").parent
    (tmp_path / "manifest.csv").touch()
    words = (f"trace={info(tmp_path / 'gups', 'failed')}", f"manifest={tmp_path / 'manifest.csv'}")
    done = ran("transfer", *words, "platform=haswell-sim", "classes=control", out=out)
    assert done.exit_code == 0 and "disk full" in done.stderr, done.output
    points = pd.read_csv(out / "points.csv")
    assert points["status"].tolist() == ["failed"] and "disk full" in points["message"][0]
    head = points.loc[0, ["workload", "platform", "provenance"]]
    assert head.tolist() == ["gups", "haswell-sim", "simulated"]
    assert all((out / table.file).is_file() for table in schema.PARTS)
    (found,) = failures(tmp_path, reserve=False)
    assert found.path == out / "points.csv" and len(found.beside) == len(schema.PARTS) - 1
    assert ran("transfer-verdicts", f"parts={out}", out=tmp_path / "all").exit_code == 0
    judged = pd.read_csv(tmp_path / "all" / "verdicts.csv")
    assert (judged["judged"].fillna(0) == 0).all()


def test_two_workloads_are_judged_together(made_up, tmp_path):
    (tmp_path / "m.csv").touch()
    out, parts = tmp_path / "out", [tmp_path / "one" / "p", tmp_path / "two" / "p"]
    for part in parts:
        done = ran(
            "transfer", f"trace={info(part.parent)}", f"manifest={tmp_path / 'm.csv'}",
            "platform=haswell-sim core.mshrs=5", "variants=noop,stlb-x2,walkers-x2", "ladders=no",
            "mappings=medium", "models=yaniv,poly1", out=part,
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        assert "answered:" not in done.stderr and "refused:" not in done.stderr, "no failures"
    done = ran("transfer-verdicts", *(f"parts={part}" for part in parts), out=out)
    assert done.exit_code == 0 and "survives" in done.stdout, done.output
    verdicts = pd.read_csv(out / "verdicts.csv").set_index(["inputs", "group", "model"])
    row = verdicts.loc[("counted", "reach", "poly1")]
    assert (row["verdict"], row["workloads"], row["coverage"]) == ("survives", 2, 1)
    assert set(verdicts["platform"]) == {"haswell-sim core.mshrs=5"}
    widths = pd.read_csv(out / "widths.csv")
    assert set(widths["workload"]) == {"one", "two"} and widths["half_width"].notna().all()


def test_wrong_requests_are_refused(tmp_path):
    good = {
        "trace": info(tmp_path / "gups"), "manifest": tmp_path / "m.csv", "platform": "haswell-sim",
    }  # fmt: skip
    good["manifest"].touch()
    for wrong in (
        {"trace": None},
        {"manifest": None},
        {"platform": None},
        {"variants": "stlb-x3"},
        {"classes": "coverage"},
        {"mappings": "highest"},
        {"models": "poly9"},
        {"units": 1},
        {"platform": "haswell-sim core.mshr=5"},
        {"platform": "haswell-sim core.mshrs=none"},
    ):
        words = [f"{key}={value}" for key, value in (good | wrong).items() if value is not None]
        done = ran("transfer", *words, out=tmp_path / "out")
        assert isinstance(done.exception, TesseraError) and done.exception.exit_code == 2, wrong
    for words in ((), (f"parts={tmp_path}",)):
        assert isinstance(ran("transfer-verdicts", *words, out=tmp_path / "out").exception, TesseraError)
    assert not (tmp_path / "out").exists()
